"""Initializers by name: the first whose pattern fits, or the array that was loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, final

from operad import NDArray, nd
from operad_optimizer.initializer.base import Initializer
from operad_sdk import ParamError, ShapeError
from operad_sdk.arguments import Suggesting

_log: Final = logging.getLogger("operad.initializer")


@final
class Mixed(metaclass=Suggesting):
    """The initializer of the first pattern that is found in an array's name.

    Args:
        patterns: Regular expressions, found from the name's beginning.
        initializers: One for each.
    """

    def __init__(self, patterns: Sequence[str], initializers: Sequence[Any]) -> None:
        if len(patterns) != len(initializers):
            raise ParamError(f"Mixed: got {len(patterns)} patterns and {len(initializers)} initializers")
        self.map = [(re.compile(p), init) for p, init in zip(patterns, initializers, strict=True)]

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill `arr`.

        Raises:
            ParamError: No pattern is found; `.*` as the last one always is.
        """
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ParamError(f"Mixed: no pattern matches {str(name)!r}; add '.*' as the last one")


@final
class Load(metaclass=Suggesting):
    """Arrays that were saved, and an initializer for the others.

    Args:
        param: Arrays by name, or the file that has them; `arg:` and `aux:` before names are left out.
        default_init: For arrays that are not among them; None: there may be none.
        verbose: Log where each array comes from.

    Raises:
        ParamError: The file has no names.
    """

    def __init__(
        self,
        param: str | Mapping[str, NDArray],
        default_init: Initializer | None = None,
        verbose: bool = False,
    ) -> None:
        loaded = nd.load(param) if isinstance(param, str) else param
        if not isinstance(loaded, Mapping):
            raise ParamError(f"Load: {param!r} has arrays without names; save a dict of them")
        self.param = {name.removeprefix("arg:").removeprefix("aux:"): array for name, array in loaded.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fill `arr`.

        Raises:
            ShapeError: The saved array has another shape.
            ParamError: There is none, and no initializer for the others.
        """
        saved = self.param.get(name)
        if saved is not None:
            if saved.shape != arr.shape:
                raise ShapeError(
                    f"Load: {str(name)!r} was saved with shape {saved.shape}, expected {arr.shape}"
                )
            arr[:] = saved
        elif self.default_init is not None:
            self.default_init(name, arr)
        else:
            raise ParamError(
                f"Load: no array {str(name)!r} was saved; give default_init for those that are not"
            )
        if self.verbose:
            source = "default_init" if saved is None else "what was saved"
            _log.info("initialized %s from %s", name, source)
