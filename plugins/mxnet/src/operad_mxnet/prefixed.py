"""The parts of a face that MXNet has by the prefix of its operators: `nd.linalg.potrf` is `_linalg_potrf`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, final

from operad import nd, sym


@final
class Prefixed(ModuleType):
    """The operators of a face whose names begin with one of some prefixes, which is left out."""

    def __init__(self, face: ModuleType, name: str, *prefixes: str) -> None:
        super().__init__(
            f"{face.__name__}.{name}", f"Operators called {' or '.join(prefixes) or 'anything'}."
        )
        self._face = face
        self._prefixes = prefixes

    def __getattr__(self, name: str) -> Any:
        """The function of an operator."""
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
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
        return sorted({name.removeprefix(p) for p in self._prefixes for name in every if name.startswith(p)})


nd_linalg, sym_linalg = (Prefixed(face, "linalg", "_linalg_", "linalg_") for face in (nd, sym))
nd_contrib, sym_contrib = (Prefixed(face, "contrib", "_contrib_") for face in (nd, sym))
nd_image, sym_image = (Prefixed(face, "image", "_image_") for face in (nd, sym))
nd_internal, sym_internal = (Prefixed(face, "_internal", "") for face in (nd, sym))
nd_op, sym_op = (Prefixed(face, "op", "") for face in (nd, sym))
