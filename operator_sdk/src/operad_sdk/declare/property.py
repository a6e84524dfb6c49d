"""What a declaration becomes: an `OperatorProperty` that is read off a shape line and functions.

::

    @operator("FullyConnected")
    class FullyConnected(OperatorProperty):
        num_hidden = param(int, ge=1)
        no_bias = param(bool, False)
        spec = (
            "data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias"
            " -> output:(N, num_hidden)"
        )

        def forward(data, weight, bias):
            return data @ weight.T + (0 if bias is None else bias)

        def data_grad(output_grad, weight):
            return output_grad @ weight

        def weight_grad(output_grad, data):
            return output_grad.T @ data

        def bias_grad(output_grad):
            return output_grad.sum(0)

`@unary` and `@binary` make the same thing of one function. What the functions can name stands in
`operad_sdk.declare.names`, what is done with what they fill or return in `operad_sdk.declare.step`.
Everything of the contract that is not written follows from these; everything can be written out
instead, and then counts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, final, overload

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.errors import ParamError
from operad.operator import (
    BackwardEntry,
    InferredShapes,
    InferredTypes,
    Kernel,
    Operator,
    Param,
    PartialShape,
    Shape,
)
from operad.operator import OperatorProperty as CoreProperty
from operad.resource import ResourceRequest
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound, Declared, split_pairs
from operad_sdk.declare.names import IN_DATA, OUT_DATA, OUT_GRAD, RESERVED, Names, Tensors
from operad_sdk.declare.targets import wrapped
from operad_sdk.element_types import Accepts, check_accepted
from operad_sdk.errors import DeclarationError
from operad_sdk.shapes import BoundSpec, Spec, bind, parse

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "_operad_gradient"
_KINDS = (OUT_GRAD, IN_DATA, OUT_DATA)


@final
class GradientMark(NamedTuple):
    """What `@gradient` says of a function; see there."""

    targets: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    when: Callable[[Any], bool] | None = None
    accumulate: bool = False


@overload
def gradient(of: F, /) -> F: ...


@overload
def gradient(
    *of: str,
    inplace: str | Sequence[str] = (),
    when: Callable[[Any], bool] | None = None,
    accumulate: bool = False,
) -> Callable[[F], F]: ...


def gradient(
    *of: Any,
    inplace: str | Sequence[str] = (),
    when: Callable[[Any], bool] | None = None,
    accumulate: bool = False,
) -> Any:
    """Mark a function of a class as a gradient.

    Needed only to say something beside it: a function called `backward` or `<argument>_grad` is one.

    Args:
        of: The arguments whose gradients it computes, where neither its name nor what it names says so.
        inplace: What it reads and may overwrite with what: `"output_grad -> data_grad"`; with one target
            the first name is enough. Several are separated by commas.
        when: Called with the property; the function counts only where it is true. So a gradient that
            reads less for some parameters can say so.
        accumulate: The function adds to its targets itself; they begin as zeros, or as what is there.
    """
    if len(of) == 1 and callable(of[0]):
        return gradient()(of[0])
    mark = GradientMark(tuple(f"{name}_grad" for name in of), split_pairs(inplace), when, accumulate)

    def declare(function: F) -> F:
        setattr(function, _MARK, mark)
        return function

    return declare


class _Binding(NamedTuple):
    """The functions of a class for one set of tensors."""

    names: Names
    forward: Bound
    gradients: list[Bound]


class OperatorProperty(CoreProperty):
    """The core's `OperatorProperty`, with the contract read off the class.

    Attributes:
        spec: A line of the shape language, or a method that returns one.
        functions: Functions of whole shapes that `spec` calls, by name.
        device: Where `forward` and the gradients run: `"any"` for code that uses only functions
            which dispatch on their arrays, else `"cpu"` or `"gpu"`.
        accepts: Element types that arguments may have: any, number, integer, floating, or a tuple of
            names; for every argument of the common type, or by argument.
        compute_dtype: The type in which half precision is computed: arrays of float16 reach the
            functions as this, and what is computed is cast back. None: in half precision.
        integers_as: The type in which integers and bool are computed, as `compute_dtype`; results are rounded
            towards zero. None: in their own. (Gradients of integers are always computed in float64.)
        is_flat_for_integers: Whether gradients are zero where the arguments are integers.
        scalar_beyond: What becomes of a `scalar` that the integer type of the arrays cannot hold: it is
            refused, wrapped around as C does, or kept as it is for a function that can use it.
        inplace: What `forward` may overwrite with what: `"data -> output"`, several after commas.
        element_cost: Rough number of scalar operations for an element.
        contract: Declarations for the contract checks.
    """

    spec: Any = None
    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    device: ClassVar[str] = "any"
    accepts: ClassVar[Accepts | Mapping[str, Accepts]] = "any"
    compute_dtype: ClassVar[str | None] = None
    integers_as: ClassVar[str | None] = None
    is_flat_for_integers: ClassVar[bool] = False
    scalar_beyond: ClassVar[Literal["refuse", "wrap", "keep"]] = "refuse"
    inplace: ClassVar[str | Sequence[str]] = ()
    element_cost: ClassVar[float] = 1.0
    resource: ClassVar[ResourceRequest | Sequence[ResourceRequest]] = ()
    contract: ClassVar[Contract] = NO_DECLARATIONS
    aliases: ClassVar[Mapping[str, str]] = {}

    _forward_function: ClassVar[Declared | None] = None
    _gradient_functions: ClassVar[dict[str, Declared]] = {}
    _bindings: ClassVar[dict[Any, _Binding]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        lists_kernels = "kernels" in vars(cls)
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__:
            if isinstance(vars(base).get("kernel"), Param):
                # MXNet's convolutions have a parameter `kernel`; on the class the name is the decorator's.
                delattr(base, "kernel")
        cls._bindings = {}
        cls._read_functions()
        if isinstance(cls.spec, str):
            spec = parse(cls.spec)
            _check_names(cls, spec)
            if any(item.condition is not None for item in spec.inputs):
                cls.optional_inputs = tuple(dict.fromkeys(item.name for item in spec.inputs))
        if cls._forward_function is not None and not lists_kernels:
            cls.kernels.append(Kernel(f"{cls.name}.forward", _own_operator, cls.device))

    @classmethod
    def rename(cls, name: str) -> None:
        """Call the operator `name`, which is not the class's own."""
        old, cls.name = cls.name, name
        cls.kernels = [own._replace(name=f"{name}.{own.name.partition('.')[2]}") for own in cls.kernels]
        renamed = {key: _renamed(declared, old, name) for key, declared in cls._gradient_functions.items()}
        cls._gradient_functions = renamed
        if cls._forward_function is not None:
            cls._forward_function = _renamed(cls._forward_function, old, name)

    @classmethod
    def _read_functions(cls) -> None:
        """Find `forward` and the gradients among the class's attributes, inherited ones first."""
        aliases = tuple(cls.aliases.items())
        for base in reversed(cls.__mro__):
            for name, value in list(vars(base).items()):
                function = value.__func__ if isinstance(value, staticmethod) else value
                if issubclass(base, CoreProperty) and not issubclass(base, OperatorProperty):
                    continue
                if name == "forward" and callable(function):
                    pairs = split_pairs(cls.inplace)
                    what = f"{cls.name}.forward"
                    names = _names(cls, function)
                    cls._forward_function = Declared(function, what, (), pairs, aliases=aliases, names=names)
                elif _is_gradient(name, function):
                    mark: GradientMark = getattr(function, _MARK, GradientMark())
                    targets = mark.targets or ((name,) if name != "backward" and name.endswith("_grad") else ())
                    declared = Declared(function, f"{cls.name}.{name}", targets, *mark[1:], aliases)
                    cls._gradient_functions = {**cls._gradient_functions, name: declared}
        if cls._forward_function is not None and "has_gradient" not in vars(cls):
            cls.has_gradient = bool(cls._gradient_functions)

    @classmethod
    def gradient(
        cls,
        *of: Any,
        inplace: str | Sequence[str] = (),
        when: Callable[[Any], bool] | None = None,
        accumulate: bool = False,
    ) -> Any:
        """Declare a gradient beside the operator; arguments as for `operad_sdk.gradient`.

        Raises:
            DeclarationError: It names what is not there, or computes what another one does.
        """
        if len(of) == 1 and callable(of[0]):
            return cls.gradient()(of[0])
        public = dict(cls.aliases)

        def declare(function: F) -> F:
            own = getattr(function, "__name__", "_")
            targets = tuple(f"{public.get(name, name)}_grad" for name in of)
            if not targets and own.endswith("_grad"):
                targets = (own,)
            what = f"{cls.name}.{own if own.isidentifier() and own != '_' else 'gradient'}"
            pairs = split_pairs(inplace)
            declared = Declared(
                function, what, targets, pairs, when, accumulate, tuple(cls.aliases.items()), _names(cls, function)
            )
            cls._gradient_functions = {**cls._gradient_functions, f"{own}{len(cls._gradient_functions)}": declared}
            cls._bindings = {}
            cls.has_gradient = True
            if isinstance(cls.spec, str):
                _check_function(cls, declared, parse(cls.spec))
            return function

        return declare

    @classmethod
    def kernel(
        cls,
        device: str = "any",
        *,
        priority: int = 0,
        when: Any = None,
        name: str | None = None,
    ) -> Callable[[F], F]:
        """Add another way to compute this operator. See `operad_sdk.kernel`."""
        from operad_sdk.declare.kernels import kernel  # noqa: PLC0415 - `kernels` needs this module's names

        return kernel(cls, device, priority=priority, when=when, name=name)

    def list_arguments(self) -> list[str]:
        """The arguments of `spec`."""
        return [tensor.name for tensor in self._bound.arguments] if self._has_spec else super().list_arguments()

    def list_outputs(self) -> list[str]:
        """The outputs of `spec`."""
        return [tensor.name for tensor in self._bound.outputs] if self._has_spec else super().list_outputs()

    def list_auxiliary_states(self) -> list[str]:
        """The auxiliary states of `spec`."""
        return [tensor.name for tensor in self._bound.auxiliary] if self._has_spec else []

    def list_inputs(self) -> list[str]:
        """Arguments and states as `spec` has them."""
        return [tensor.name for tensor in self._bound.inputs] if self._has_spec else super().list_inputs()

    @property
    def num_visible_outputs(self) -> int:
        """The outputs of `spec` that are not hidden."""
        return self._bound.num_visible_outputs if self._has_spec else super().num_visible_outputs

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`."""
        return self._bound.infer_shape(in_shapes)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """What follows from `spec` when the outputs are known as well."""
        if not self._has_spec:
            return super().infer_shape_backward(in_shapes, out_shapes)
        return self._bound.infer_shape_backward(in_shapes, out_shapes)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """What follows from the types in `spec`, where `accepts` admits the arguments'."""
        inferred = self._bound.infer_type(in_types) if self._has_spec else super().infer_type(in_types)
        for place, (name, dtype) in enumerate(zip(self.list_arguments(), inferred[0], strict=True)):
            if dtype is not None and (accepted := self._accepted(place, name)) is not None:
                check_accepted(self.name, name, dtype, accepted)
        return inferred

    def _accepted(self, place: int, name: str) -> Accepts | None:
        if isinstance(self.accepts, Mapping):
            return self.accepts.get(name) or self.accepts.get(name.rstrip("0123456789"))
        return None if place in self.typed_arguments else self.accepts

    @property
    def typed_arguments(self) -> frozenset[int]:
        """Places of the arguments that have a type of their own, such as indices."""
        if not self._has_spec:
            return frozenset()
        return frozenset(i for i, tensor in enumerate(self._bound.arguments) if tensor.type != "")

    @property
    def broadcast_arguments(self) -> frozenset[int]:
        """Places of the arguments that may be repeated along axes, so that gradients are summed back."""
        return frozenset(range(len(self.list_arguments()))) if self._broadcasts else frozenset()

    @cached_property
    def _broadcasts(self) -> bool:
        return self._has_spec and any("broadcast(" in tensor.shape_text for tensor in self._bound.outputs)

    @property
    def is_elementwise(self) -> bool:
        """Whether all tensors have one shape, whatever it is."""
        tensors = (*self._bound.inputs, *self._bound.outputs) if self._has_spec else ()
        return bool(tensors) and {tensor.shape_text for tensor in tensors} == {"(...)"}

    @property
    def inplace_names(self) -> list[tuple[str, ...]]:
        """The names in every `inplace`, for checks."""
        functions = [self._forward_function, *self._gradient_functions.values()]
        pairs = [pair for declared in functions if declared is not None for pair in declared.inplace]
        return [tuple(name.strip() for name in pair.split("->")) for pair in pairs]

    @property
    def mapper(self) -> Any:
        """The mapper that forward is, or None."""
        return getattr(getattr(self._forward_function, "function", None), "mapper", None)

    def param_values(self) -> tuple[Any, ...]:
        """The parameters in declared order."""
        return tuple(getattr(self, name) for name in type(self).params)

    def function_params(self, in_types: Sequence[DType]) -> tuple[Any, ...]:
        """The parameters as functions get them: one called `scalar` has the first argument's type.

        Raises:
            ParamError: The type cannot hold the scalar.
        """
        if "scalar" not in type(self).params or not in_types:
            return self.param_values()
        return tuple(
            self._typed(value, in_types[0]) if name == "scalar" and value is not None else value
            for name, value in zip(type(self).params, self.param_values(), strict=True)
        )

    def _typed(self, value: Any, dtype: DType) -> Any:
        try:
            if dtype.kind in "iu" and self.scalar_beyond != "refuse":
                return int(value) if self.scalar_beyond == "keep" else wrapped(value, dtype)
            return dtype.type(value).item()
        except (OverflowError, ValueError) as error:
            raise ParamError(
                f"{self.name}: scalar is {value!r}, which {dtype} cannot hold; cast the array with astype"
            ) from error

    def differentiable_inputs(self) -> list[bool]:
        """The arguments whose gradients are computed."""
        if self.has_gradient and not self._gradient_functions:
            return super().differentiable_inputs()
        computed = {place for bound in self.binding.gradients for place in bound.targets}
        return [place in computed for place in range(len(self.list_arguments()))]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """What the gradients together read."""
        if self.has_gradient and not self._gradient_functions:
            return super().declare_backward_dependency(out_grad, in_data, out_data)
        reads = frozenset[BackwardEntry]().union(*(bound.reads for bound in self.binding.gradients))
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        return [groups[kind][index] for kind, index in _in_order(reads)]

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """What the gradients of which something is wanted read."""
        if self.has_gradient and not self._gradient_functions:
            return super().backward_dependency(wanted)
        used = [bound for bound in self.binding.gradients if any(wanted[i] for i in bound.targets)]
        return _in_order(frozenset[BackwardEntry]().union(*(bound.reads for bound in used)))

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The pairs of `inplace` that are there."""
        if self._forward_function is None:
            return []
        return [(in_data[entry.index], out_data[target]) for entry, target in self.binding.forward.inplace]

    def backward_inplace_option(
        self,
        out_grad: Sequence[Any],
        in_data: Sequence[Any],
        out_data: Sequence[Any],
        in_grad: Sequence[Any],
    ) -> list[tuple[Any, Any]]:
        """The pairs that the gradients declare, where no later gradient reads the array."""
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        pairs = []
        read_later: set[BackwardEntry] = set()
        # invariant: gradients run in this order, so only a later one can find its input overwritten
        for bound in reversed(self.binding.gradients):
            pairs += [
                (groups[entry.kind][entry.index], in_grad[target])
                for entry, target in bound.inplace
                if entry not in read_later
            ]
            read_later |= bound.reads
        return pairs

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """The class's `resource`."""
        return list(self.resource) if isinstance(self.resource, Sequence) else [self.resource]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Arrays' sizes, weighted with the cost of an element."""
        return super().cost(in_shapes, out_shapes) * self.element_cost

    @cached_property
    def binding(self) -> _Binding:
        """The functions that count for these parameters, with their names found."""
        counted = tuple(
            name
            for name, declared in self._gradient_functions.items()
            if declared.when is None or declared.when(self)
        )
        tensors = self._tensors
        key = (tensors._replace(groups=tuple(tensors.groups.items())), counted)  # type: ignore[arg-type]
        found = self._bindings.get(key)
        if found is None:
            found = self._bindings[key] = self._bind(tensors, counted)
        return found

    def _bind(self, tensors: Tensors, counted: Sequence[str]) -> _Binding:
        names = Names(tensors)
        if self._forward_function is None:
            raise DeclarationError(f"{self.name} computes nothing; give it a function forward(...)")
        forward = Bound(self._forward_function, names.forward, names.forward_targets, True)
        gradients: list[Bound] = []
        for name in counted:
            bound = Bound(self._gradient_functions[name], names.backward, names.backward_targets, False)
            for other in gradients:
                if set(other.targets) & set(bound.targets):
                    raise DeclarationError(
                        f"{bound.what} and {other.what} compute the same gradient; expected one of them"
                    )
            gradients.append(bound)
        return _Binding(names, forward, gradients)

    @cached_property
    def _tensors(self) -> Tensors:
        arguments, states = tuple(self.list_arguments()), tuple(self.list_auxiliary_states())
        outputs, params = tuple(self.list_outputs()), tuple(type(self).params)
        if not self._has_spec:
            groups = {**_numbered(arguments), **_numbered(outputs)}
            shown = (_with_stems(names, groups) for names in (arguments, states, outputs))
            return Tensors(arguments, states, outputs, self.num_visible_outputs, groups, *shown, params)
        spec = self._parsed
        declared = [
            tuple(dict.fromkeys(item.name for item in items))
            for items in (spec.arguments, spec.auxiliary, spec.outputs)
        ]
        return Tensors(
            arguments, states, outputs, self.num_visible_outputs, self._bound.groups, *declared, params
        )

    @property
    def _has_spec(self) -> bool:
        return self.spec is not None

    @cached_property
    def _parsed(self) -> Spec:
        if self.spec is None:
            raise DeclarationError(f"{self.name}: there is no spec and no method in its place; give a spec")
        return parse(self.spec() if callable(self.spec) else self.spec)

    @cached_property
    def _bound(self) -> BoundSpec:
        spec = self._parsed
        values = {name: getattr(self, name) for name in spec.names if self._is_own_value(name)}
        return bind(spec, self.name, values | dict(self.functions))

    def _is_own_value(self, name: str) -> bool:
        if name in type(self).params:
            return True
        added = hasattr(type(self), name) and not hasattr(OperatorProperty, name)
        return added and not callable(getattr(type(self), name))


def _own_operator(
    prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Operator:
    binding = prop.binding
    return BoundOperator(
        prop, ctx, in_shapes, in_types, forward=binding.forward, gradients=binding.gradients
    )


def _is_gradient(name: str, value: Any) -> bool:
    if isinstance(getattr(value, _MARK, None), GradientMark):
        return True
    return inspect.isfunction(value) and (name == "backward" or name.endswith("_grad"))


def _renamed(declared: Declared, old: str, new: str) -> Declared:
    return declared._replace(what=f"{new}{declared.what.removeprefix(old)}")


def _names(cls: type[OperatorProperty], function: Any) -> tuple[str, ...]:
    """The names that a callable without a signature takes: a ufunc its arrays, the scalar, the output."""
    if not isinstance(function, np.ufunc):
        names: tuple[str, ...] = getattr(function, "names", ())
        return names
    spec = parse(cls.spec)
    taken = [item.name for item in spec.arguments] + [name for name in cls.params if name == "scalar"]
    return (*taken, *(item.name for item in spec.outputs))


def _in_order(entries: frozenset[BackwardEntry]) -> list[BackwardEntry]:
    """Gradients of outputs, then arguments, then output values, as `declare_backward_dependency` has them."""
    return sorted(entries, key=lambda entry: (_KINDS.index(entry.kind), entry.index))


def _numbered(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups among names: arg0, arg1, ... are the group `arg`."""
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = name.rstrip("0123456789")
        if stem != name and name == f"{stem}{len(stems.get(stem, []))}":
            stems.setdefault(stem, []).append(name)
    return {stem: tuple(members) for stem, members in stems.items()}


def _with_stems(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    stem_of = {member: stem for stem, members in groups.items() for member in members}
    return tuple(dict.fromkeys(stem_of.get(name, name) for name in names))


def _check_names(cls: type[OperatorProperty], spec: Spec) -> None:
    """Refuse names that mean two things; and functions that name what no parameters would give."""
    tensors = [item.name for item in spec.inputs]
    # MXNet's files say `ctx` for operators without arguments; calls say it to the front end, not to them.
    params = [name for name, own in cls.params.items() if name != "ctx" or not own.ignored]
    for name in (*tensors, *(item.name for item in spec.outputs), *params):
        if name in RESERVED:
            raise DeclarationError(f"operator {cls.name!r}: {name!r} is a word of its own; use another name")
    for name in cls.params:
        if name in tensors or any(name == f"{tensor}_grad" for tensor in tensors):
            raise DeclarationError(
                f"operator {cls.name!r}: {name!r} is a parameter, and a tensor or its gradient too; "
                "use another name"
            )
    for declared in (cls._forward_function, *cls._gradient_functions.values()):
        if declared is not None:
            _check_function(cls, declared, spec)


def _check_function(cls: type[OperatorProperty], declared: Declared, spec: Spec) -> None:
    shown = [tuple(dict.fromkeys(item.name for item in items)) for items in (spec.arguments, spec.auxiliary)]
    outputs = tuple(dict.fromkeys(item.name for item in spec.outputs))
    visible = len({item.name for item in spec.outputs if not item.is_hidden})
    names = Names(Tensors(*shown, outputs, visible, {}, *shown, outputs, tuple(cls.params)))
    is_counted = any(item.repeat for item in spec.items)  # then the names of numbered ones are known later
    if declared is cls._forward_function:
        Bound(declared._replace(inplace=()) if is_counted else declared, names.forward, names.forward_targets, True)
    elif not is_counted:
        Bound(declared, names.backward, names.backward_targets, False)
