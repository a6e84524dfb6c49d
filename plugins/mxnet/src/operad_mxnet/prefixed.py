"""The parts of a face that MXNet has by the prefix of its operators: `nd.linalg.potrf` is `_linalg_potrf`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final, final

import operad
from operad import nd, sym
from operad_mxnet import nd_contrib as nd_contrib_functions
from operad_mxnet import updates, zipfian

_SHORT: Final = {"operad.ndarray": "nd", "operad.symbol": "sym"}
"""Names of the faces in the group `operad.attributes`."""


@final
class Prefixed(ModuleType):
    """The operators of a face whose names begin with one of some prefixes, which is left out.

    Plugins add more: `sym.contrib.foreach` in the group `operad.attributes`.

    Args:
        face: The face.
        name: What the part is called in it.
        prefixes: What its operators' names begin with.
        own: Functions that the part has beside operators, by name.
    """

    def __init__(
        self, face: ModuleType, name: str, *prefixes: str, own: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        super().__init__(
            f"{face.__name__}.{name}", f"Operators called {' or '.join(prefixes) or 'anything'}."
        )
        self._face = face
        self._owner = f"{_SHORT[face.__name__]}.{name}"
        self._prefixes = prefixes
        vars(self).update(own or {})

    def __getattr__(self, name: str) -> Any:
        """The function of an operator."""
        if name == "__all__":
            return operad.registry.star_names(self)
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        added = operad.registry.find_attribute(self._owner, name)
        if added is not None:
            setattr(self, name, added)
            return added
        missing: AttributeError | None = None
        for prefix in self._prefixes:
            try:
                found = getattr(self._face, f"{prefix}{name}")
            except AttributeError as error:
                missing = missing or error
            else:
                setattr(self, name, found)
                return found
        assert missing is not None
        raise missing

    def __dir__(self) -> list[str]:
        every = dir(self._face)
        operators = {name.removeprefix(p) for p in self._prefixes for name in every if name.startswith(p)}
        own = {name for name in vars(self) if not name.startswith("_")}
        return sorted({*operators, *own, *operad.registry.attribute_names(self._owner)})


nd_linalg, sym_linalg = (Prefixed(face, "linalg", "_linalg_", "linalg_") for face in (nd, sym))
nd_contrib = Prefixed(
    nd, "contrib", "_contrib_",
    own={
        function.__name__: function
        for function in (
            nd_contrib_functions.foreach, nd_contrib_functions.while_loop, nd_contrib_functions.cond,
            nd_contrib_functions.isnan, nd_contrib_functions.isinf, nd_contrib_functions.isfinite,
            zipfian.rand_zipfian, updates.adamw_update, updates.mp_adamw_update,
            updates.multi_adamw_update, updates.multi_mp_adamw_update, updates.multi_lamb_update,
            updates.multi_mp_lamb_update,
        )
    },
)  # fmt: skip
sym_contrib = Prefixed(
    sym, "contrib", "_contrib_",
    own={
        "adamw_update": updates.sym_adamw_update, "mp_adamw_update": updates.sym_mp_adamw_update,
        "rand_zipfian": zipfian.sym_rand_zipfian,
    },
)  # fmt: skip
nd_image, sym_image = (Prefixed(face, "image", "_image_") for face in (nd, sym))
nd_internal, sym_internal = (Prefixed(face, "_internal", "") for face in (nd, sym))
nd_op, sym_op = (Prefixed(face, "op", "") for face in (nd, sym))
