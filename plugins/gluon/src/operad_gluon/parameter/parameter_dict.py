"""Parameters of a block by name.

Source: ParameterDict, python/mxnet/gluon/parameter.py.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Final, final

import numpy as np

import operad as od
from operad import Context, NDArray
from operad_gluon.errors import BlockValueError, ConstantNotFoundError, ParameterError
from operad_gluon.parameter.constant import Constant
from operad_gluon.parameter.parameter import Parameter
from operad_gluon.parameter.shapes import contexts

_MOST_NAMED: Final = 7


def brief(names: Any) -> str:
    """Names as a text, the middle of a long list left out."""
    found = [f"'{name}'" for name in names]
    if len(found) > _MOST_NAMED:
        half = _MOST_NAMED // 2
        found = [*found[:half], "...", *found[-half:]]
    return ", ".join(found)


def take_values(
    params: Mapping[str, Parameter], given: Mapping[str, Any], origin: str, owner: str, ctx: Any,
    ignore_extra: bool, cast_dtype: bool, dtype_source: str,
) -> None:  # fmt: skip
    """Give parameters the values of their names.

    Raises:
        ParameterError: A value has another shape or type.
        BlockValueError: A value has no parameter, and `ignore_extra` is off.
    """
    for name, values in given.items():
        if name in params:
            params[name]._load_init(values, ctx and contexts(ctx), cast_dtype, dtype_source)
        elif not ignore_extra:
            raise BlockValueError(
                f"Parameter '{name}' loaded from {origin} is not present in {owner}, which contains "
                f"parameters {brief(params)}; is it a file of this network? Set ignore_extra=True to "
                "leave it out"
            )


@final
class ParameterDict:
    """Parameters whose names begin with `prefix`, in the order in which they were made.

    >>> import operad as od
    >>> params = od.gluon.ParameterDict("dense_")
    >>> params.get("weight", shape=(2, 3))
    Parameter dense_weight (shape=(2, 3), dtype=<class 'numpy.float32'>)

    Args:
        prefix: Begins every name that `get` makes.
        shared: Dictionary whose parameters are taken where it has the name.
    """

    def __init__(self, prefix: str = "", shared: ParameterDict | None = None) -> None:
        self._prefix, self._shared = prefix, shared
        self._params: dict[str, Parameter] = {}

    def __repr__(self) -> str:
        lines = "\n".join(f"  {param!r}" for param in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines}\n)"

    def __getitem__(self, key: str) -> Parameter:
        return self._params[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)

    def __contains__(self, key: object) -> bool:
        return key in self._params

    def items(self) -> ItemsView[str, Parameter]:
        """Pairs of name and parameter."""
        return self._params.items()

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._params.keys()

    def values(self) -> ValuesView[Parameter]:
        """The parameters."""
        return self._params.values()

    @property
    def prefix(self) -> str:
        """Beginning of the names."""
        return self._prefix

    def _known(self, name: str) -> Parameter | None:
        """The parameter of that name, its own or the shared one."""
        if name not in self._params and self._shared is not None and name in self._shared:
            self._params[name] = self._shared[name]
        return self._params.get(name)

    def get(self, name: str, **kwargs: Any) -> Parameter:
        """The parameter `prefix + name`; made of `kwargs` where there is none.

        Raises:
            ParameterError: There is one, and an attribute of it is another.
        """
        name = self._prefix + name
        param = self._known(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for key, wanted in kwargs.items():
            own = getattr(param, key, None)
            if own is None:
                setattr(param, key, wanted)
            elif key == "shape" and wanted is not None and len(wanted) == len(own):
                param._shape = _merged(param, wanted)
            elif wanted is not None and not _is_equal(key, wanted, own):
                raise _differs(param, key, wanted)
        return param

    def get_constant(self, name: str, value: Any = None) -> Constant:
        """The constant `prefix + name`; made of `value` where there is none.

        Raises:
            ConstantNotFoundError: There is none, and no value.
            ParameterError: There is one that is no constant, or has another value.
        """
        name = self._prefix + name
        param = self._known(name)
        if param is None:
            if value is None:
                raise ConstantNotFoundError(
                    f"No constant named '{name}'. Please specify value if you want to create a new constant."
                )
            made = self._params[name] = Constant(name, value)
            return made
        if not isinstance(param, Constant):
            raise ParameterError(f"Parameter '{name}' already exists but it is not a constant.")
        given = value.asnumpy() if isinstance(value, NDArray) else value
        if given is not None and not np.array_equal(param.value.asnumpy(), given):
            raise ParameterError(f"Constant '{name}' already exists but its value doesn't match new value")
        return param

    def update(self, other: ParameterDict) -> None:
        """Take all parameters of another dictionary.

        Raises:
            ParameterError: There is another parameter of the same name.
        """
        for name, param in other.items():
            if self._params.setdefault(name, param) is not param:
                raise ParameterError(
                    "Cannot update self with other because they have different Parameters with the same "
                    f"name '{name}'"
                )

    def initialize(
        self,
        init: Any = od.init.Uniform(),
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize each parameter: by its own initializer, else by `init`."""
        if verbose:
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self) -> None:
        """Set all gradients to 0."""
        for param in self.values():
            param.zero_grad()

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other contexts."""
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self) -> list[Context]:
        """The contexts of the parameters."""
        found = dict.fromkeys(ctx for param in self.values() for ctx in param.list_ctx())
        return sorted(found, key=str)

    def setattr(self, name: str, value: Any) -> None:
        """Set an attribute of each parameter, such as `grad_req` or `lr_mult`."""
        for param in self.values():
            setattr(param, name, value)

    def save(self, filename: str, strip_prefix: str = "") -> None:
        """Write the values to a file, under names less a prefix.

        Raises:
            ValueError: A name does not begin with the prefix.
        """
        found = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(
                    f"Prefix '{strip_prefix}' is to be stripped before saving, but Parameter's name "
                    f"'{param.name}' "
                    "does not start with it"
                )
            found[param.name[len(strip_prefix) :]] = param._mean()
        od.nd.save(filename, found)

    def load(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read values from a file; see `load_dict`."""
        self.load_dict(
            od.nd.load(filename),
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            filename,
            cast_dtype,
            dtype_source,
        )

    def load_dict(
        self,
        param_dict: Mapping[str, NDArray],
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        filename: str | None = None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Take values by name.

        Args:
            param_dict: The values; `arg:` and `aux:` before a name are passed over.
            ctx: Context or contexts of parameters that have none.
            allow_missing: Whether parameters may lack values.
            ignore_extra: Whether values may lack a parameter.
            restore_prefix: Put before each name.
            filename: Named in errors.
            cast_dtype: Whether values of another type are converted,
            dtype_source: and to whose type: the "current" one of the parameter, or that of what was "saved".
        Raises:
            ParameterError: A parameter has no value, or one of another shape or type.
            BlockValueError: A value has no parameter.
        """
        origin = f"file '{filename}'" if filename else "param_dict"
        given = {
            restore_prefix + name.removeprefix("arg:").removeprefix("aux:"): x
            for name, x in param_dict.items()
        }
        if not allow_missing:
            for name in self.keys() - given.keys():
                raise ParameterError(
                    f"Parameter '{name}' is missing in {origin}, which contains {brief(given)}; is it a "
                    "file of this "
                    "network? Set allow_missing=True to leave it as it is"
                )
        take_values(self._params, given, origin, "ParameterDict", ctx, ignore_extra, cast_dtype, dtype_source)


def _is_equal(key: str, wanted: Any, own: Any) -> bool:
    return bool(np.dtype(wanted) == np.dtype(own) if key == "dtype" else wanted == own)


def _differs(param: Parameter, key: str, wanted: Any) -> ParameterError:
    return ParameterError(
        f"Cannot retrieve Parameter '{param.name}' because desired attribute does not match with stored "
        "for attribute "
        f"'{key}': desired '{wanted}' vs stored '{getattr(param, key)}'."
    )


def _merged(param: Parameter, wanted: Any) -> tuple[int, ...]:
    """The lengths that are known of two shapes."""
    pairs = list(zip(wanted, param.shape or (), strict=True))
    if any(a != b and a * b > 0 for a, b in pairs):
        raise _differs(param, "shape", wanted)
    return tuple(a or b for a, b in pairs)
