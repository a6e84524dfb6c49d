"""Answers about an operator that earlier processes found: its forms, and which kernels are worth it.

They follow from what an operator is declared with, from this toolkit and from NumPy, so a process need not
find them again: a file for each operator, whose name is the digest of all that they depend on. Files of the
toolkit and of the operator's package count by size and time, as Python has it for bytecode; the operator's
functions and what they call elsewhere by their code, and what all these read by its value. What reads
anything else is kept nowhere.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

import numpy as np

from operad.config import settings
from operad.files import cache as files
from operad_sdk import cached_code

if TYPE_CHECKING:
    from pathlib import Path

    from operad_sdk.declare.property import OperatorProperty

T = TypeVar("T")

_MOST: Final = 512
"""Answers about an operator that are kept; a check of the contract asks for more."""
_TOOLKIT: Final = ("operad", "operad_sdk")
_LIBRARIES: Final = frozenset((*_TOOLKIT, "numpy", *sys.stdlib_module_names))
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), slice, type(...), np.generic, np.dtype)
_HELD: Final = (types.FunctionType, staticmethod, classmethod, *_PLAIN)
"""Attributes of classes that count beside the text of their package."""
_changed: Final[dict[Path, _Answers]] = {}


@final
class _UnknownError(Exception):
    """Something that an operator reads cannot be told from something else by a text."""


@final
class _Answers:
    """Answers about one operator, by question.

    Args:
        path: Their file; None: they are not kept.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.found = path, dict[str, Any]()
        content = None if path is None else files.load(path)
        if content is not None:
            try:
                self.found = pickle.loads(content)  # noqa: S301 - of a private folder, and its digest is right
            except Exception:  # noqa: BLE001 - a class that it names has moved: it is found again
                self.found = {}


def kept_answer(prop: OperatorProperty, question: tuple[Any, ...], ask: Callable[[], T]) -> T:
    """The answer to a question about an operator: that of an earlier process, or what `ask()` returns.

    Args:
        question: With the answer's kind and all that it depends on beside the operator's declaration.
    """
    known: _Answers | None = prop._forms.get("kept")
    if known is None:
        known = prop._forms["kept"] = _Answers(_path(type(prop)))
    if known.path is None:
        return ask()
    try:
        key = _text(question)
    except _UnknownError:
        return ask()
    if key not in known.found:
        answer = ask()
        # What a function raises for no reason of its own, such as a lack of memory, may not come again.
        if len(known.found) >= _MOST or "cannot be traced" in str(answer):
            return answer
        known.found[key] = answer
        if not _changed:
            atexit.register(save_answers)
        _changed[known.path] = known
    found: T = known.found[key]
    return found


def save_answers() -> None:
    """Write what was found since the last time, as the end of a process does."""
    while _changed:
        path, known = _changed.popitem()
        cached_code.save(path, pickle.dumps(dict(known.found)))


def _path(cls: type[OperatorProperty]) -> Path | None:
    if "<locals>" in cls.__qualname__ or cls.__module__ == "__main__":
        return None
    try:
        digest = hashlib.sha256(_toolkit())
        for part in _declared(cls):
            digest.update(repr(part).encode())
    except _UnknownError:
        return None
    return settings().cache_dir / "answers" / f"{digest.hexdigest()}.pickle"


@cache
def _toolkit() -> bytes:
    features = [name for name, has in sorted(np._core._multiarray_umath.__cpu_features__.items()) if has]  # type: ignore[attr-defined]
    return repr((sys.version, np.__version__, features, *map(_sources, _TOOLKIT))).encode()


@cache
def _sources(package: str) -> list[tuple[str, int, int]]:
    """Files of a package: name, bytes and time of each."""
    spec = find_spec(package)
    folders = [*((spec and spec.submodule_search_locations) or ())]
    if not folders:
        raise _UnknownError
    found = []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return sorted(found)


def _declared(cls: type[OperatorProperty]) -> Iterator[Any]:
    """All that an operator is declared with, and code and values that its functions read."""
    functions = [cls._forward_function, *cls._gradient_functions.values()]
    left: list[Any] = [cls, *((one.function, one.traced) for one in functions if one is not None)]
    yield cls.name
    seen = dict[int, Any]()  # with what has these identities
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        owner = one.__name__ if isinstance(one, types.ModuleType) else getattr(one, "__module__", None)
        package = _package(owner or "builtins")
        if isinstance(one, _PLAIN):
            yield one
        elif isinstance(one, partial):
            left += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, (types.MethodType, staticmethod, classmethod)):
            left += [one.__func__, getattr(one, "__self__", None)]
        elif isinstance(one, (tuple, list)):
            left += one
        elif isinstance(one, Mapping):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, type) and package not in _LIBRARIES:
            yield one.__module__, one.__qualname__, _sources(package)
            left += one.__bases__
            left += [held for name, held in vars(one).items() if isinstance(held, _HELD) and name[:2] != "__"]
        elif hasattr(one, "__wrapped__"):
            left.append(one.__wrapped__)
        elif isinstance(one, np.ndarray):
            yield one.dtype, one.shape, one.tobytes()
        elif package in _LIBRARIES and hasattr(one, "__name__"):
            yield package, one.__name__
        elif isinstance(one, types.FunctionType):
            yield one.__module__, one.__qualname__, cached_code.described(one.__code__)
            left += _read(one)
        else:
            raise _UnknownError


def _package(module: str) -> str:
    return module.partition(".")[0]


def _read(function: types.FunctionType) -> Iterator[Any]:
    """Values that a function reads from outside, and those of modules that it names."""
    names = [*_names(function.__code__)]
    scope = function.__globals__
    for name in names:
        if name in scope:
            value = scope[name]
            is_other = isinstance(value, types.ModuleType) and _package(value.__name__) not in _LIBRARIES
            yield from [getattr(value, each, None) for each in names] if is_other else [value]
    yield from [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]
    yield from [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


def _names(code: types.CodeType) -> dict[str, None]:
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _text(value: Any) -> str:
    """A text that is another one for another value."""
    if isinstance(value, (tuple, list)):
        return f"({','.join(map(_text, value))})"
    if value.__class__ in _PLAIN or isinstance(value, (np.generic, np.dtype)):
        return repr(value)
    raise _UnknownError
