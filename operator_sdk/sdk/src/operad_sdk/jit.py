"""numba's compiler, with files of operad's in the place of numba's.

numba believes its files: one that is empty ends every later process that asks for it, one of which a bit has
flipped is run. Here compiled code is a file of `operad.files.cache`, one for each function and signature; its
name is the digest of all that the code depends on. Importing this module imports numba.

Source: FunctionCache, numba/core/caching.py (0.60 to 0.68), of which this has the key, the serialized form
and the functions that are not kept. Differs: no index; no path in the key, so a moved file finds its code.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, final

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from operad.config import settings
from operad.files import cache
from operad_sdk import cached_code

_dumps: Final[Callable[[Any], bytes]] = dumps
_rebuild: Final[Callable[..., Any]] = CompileResult._rebuild


def jit(function: Callable[..., Any], source: bytes | None, **options: Any) -> Any:
    """`numba.njit`, with what it compiles kept in the folder of `OPERAD_CACHE_DIR`.

    Args:
        source: Text of all that is compiled with the function: of its module. None: nothing is kept.
        options: Of `numba.njit`.
    """
    _keep_numba_quiet()
    compiled = numba.njit(**options)(function)
    if source is not None and compiled is not function:  # as it is under NUMBA_DISABLE_JIT
        compiled._cache = _Files(function, source, options)
    return compiled


def _keep_numba_quiet() -> None:
    """Keep numba's debug messages out of a log that shows its own, unless the log asks for them.

    A program asks for them by giving the logger `numba` a level.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)


@final
class _Files(NullCache):
    """The cache of a function, as numba's dispatcher asks for one, under the lock of its compiler."""

    def __init__(self, function: Callable[..., Any], source: bytes, options: dict[str, Any]) -> None:
        self._function: Final = function
        words = {name: sorted(word) if isinstance(word, set) else word for name, word in options.items()}
        self._key: Final = (
            numba.__version__, sys.implementation.cache_tag, function.__module__, function.__qualname__,
            sorted(words.items()), source, cached_code.described(function.__code__),
        )  # fmt: skip

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Compiled code of a signature; None, if there is none of use."""
        target.refresh()
        path = self._path(signature, target.codegen())
        content = None if path is None else cache.load(path)
        if content is None:
            return None
        try:
            found, *parts = pickle.loads(content)  # noqa: S301 - of a private folder, and its digest is right
            # Two types may have one text: named tuples of one name.
            return _rebuild(target, *parts) if found == signature else None
        except Exception:  # noqa: BLE001 - a class that it names has moved: it is compiled again
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code, unless it holds addresses of this process."""
        if result.library.has_dynamic_globals or not all(one.can_cache for one in result.lifted):
            return
        try:
            content = _dumps((signature, *result._reduce()))
        except Exception:  # noqa: BLE001 - a type that cannot be pickled
            return
        if (path := self._path(signature, result.codegen)) is not None:
            cached_code.save(path, content)

    def _path(self, signature: Any, generator: Any) -> Path | None:
        """File of a signature; None where the function holds what cannot be distinguished by a text."""
        try:  # when it is compiled: a variable around it may be assigned behind the function
            held = _held(self._function, set())
        except Exception:  # noqa: BLE001 - an empty cell, or what cannot be pickled
            return None
        key = repr((self._key, held, str(signature), generator.magic_tuple()))
        return settings().cache_dir / "functions" / f"{hashlib.sha256(key.encode()).hexdigest()}.nbc"


def _held(function: Any, seen: set[Any]) -> list[Any]:
    """Values from around a function that are compiled in: of closures, and of its module by name."""
    seen.add(function)
    around = {
        name: function.__globals__[name] for name in _names(function.__code__) & {*function.__globals__}
    }
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    around |= {name: cell.cell_contents for name, cell in cells}
    return [(name, _value(around[name], seen)) for name in sorted(around)]


def _names(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return {*code.co_names}.union(*map(_names, inner))


def _value(value: Any, seen: set[Any]) -> Any:
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        is_known = value in seen  # a function that calls itself
        return is_known or (value.__qualname__, cached_code.described(value.__code__), _held(value, seen))
    if isinstance(value, ModuleType) or callable(value):
        return getattr(value, "__name__", repr(type(value)))  # what numba knows, or inlines by name
    return _dumps(value)
