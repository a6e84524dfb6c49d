"""Surroundings of an author's function: all that it reads beside its arguments, and may change.

A form holds the numbers that a function found when it was traced. A clock, a generator of random numbers, a
global that some function assigns or a closure that is rebound would be frozen in it, in silence. So functions
are looked through before they are traced, with all Python functions that they name, and refused with what
they read.

What code cannot show is a convention: a global number, text or tuple is a constant if its name is one
(`SLOPE`), as PEP 8 has it. Refused: comparing all that a function reads at each call, which takes longer than
small calls; and believing two traces that agree, since what changes rarely agrees mostly.
"""

from __future__ import annotations

import dis
import enum
import math
import types
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

import numpy as np

_IMPURE: Final = frozenset(("time", "random", "_random", "secrets", "os", "datetime", "uuid", "threading"))
"""Modules whose functions and objects depend on when and where they are called."""
_TRUSTED: Final = frozenset(("numpy", "operad", "operad_sdk", "math", "functools", "typing", "operator"))
"""Packages whose functions are not looked through."""
_ASKING: Final = frozenset(
    ["id", "input", "open", "hash", "globals", "vars", "next", "setattr", "exec", "eval", "print"]
)
"""Built-in functions that depend on more than values, or do more."""
_ASSIGNING: Final = frozenset(
    dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF")
)
_OF_ROWS: Final = frozenset(
    [
        "sum",
        "max",
        "min",
        "mean",
        "amax",
        "amin",
        "reduce",
        "norm",
        "var",
        "std",
        "average",
        "nansum",
        "blocked_sum",
        "softmax",
        "arange",
        "take_along_axis",
        "put_along_axis",
        "prod",
        "any",
        "all",
    ]
)
_OPERATIONS: Final = frozenset(("BINARY_OP", "UNARY_NEGATIVE", "COMPARE_OP", "CALL"))
_SOME: Final = 4
"""Operations from which a function may save enough: a call of NumPy's takes some 0.4 us."""
_NO_KERNELS: Final = frozenset(
    [
        "matmul", "dot", "einsum", "tensordot", "sort", "argsort", "partition", "argpartition", "cumsum",
        "argmax",
    ]
)  # fmt: skip
"""Functions of NumPy that no kernel of a form computes."""
_CODE: Final = (types.FunctionType, types.MethodType, types.ModuleType, type, partial, np.ufunc, np.dtype)
_PLAIN: Final = (
    bool, int, float, complex, str, bytes, slice, range, types.EllipsisType, np.generic, enum.Enum
)  # fmt: skip


class _Read(NamedTuple):
    """A value that a function reads from outside, and whether its name stands for no other one later."""

    name: str
    value: Any
    is_constant: bool


def reason_against_tracing(function: Callable[..., Any]) -> str | None:
    """Reason not to trace a function: it reads or does something that may differ between calls; else None."""
    return next(filter(None, map(_reason, _functions_behind(function))), None)


@lru_cache(maxsize=4096)
def takes_passes(function: Callable[..., Any]) -> bool:
    """Return whether a function may go over arrays several times.

    It, or one that it names, names one that reduces rows or counts along them, or there are some operations.
    """
    names = {name for code in _codes_behind(function) for name in code.co_names}
    if not _OF_ROWS.isdisjoint(names):
        return True
    return sum(one.opname in _OPERATIONS for one in _instructions(function)) >= _SOME


@lru_cache(maxsize=4096)
def may_be_kernels(function: Callable[..., Any]) -> bool:
    """Return whether kernels of forms may compute all of a function: it names no product, order or loop."""
    return not any(
        one.opname == "FOR_ITER" or one.argrepr == "@" or one.argval in _NO_KERNELS
        for one in _instructions(function)
    )


def _codes_behind(function: Callable[..., Any]) -> Iterator[types.CodeType]:
    return (code for one in _functions_behind(function) for code in _codes(one.__code__))


def _instructions(function: Callable[..., Any]) -> Iterator[dis.Instruction]:
    return (one for code in _codes_behind(function) for one in dis.get_instructions(code))


def _functions_behind(function: Any) -> Iterator[types.FunctionType]:
    """The Python functions that a function is, wraps, or names, one after another."""
    seen: set[int] = set()
    left = [function]
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, partial):
            left += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, types.MethodType):
            left += [one.__func__, one.__self__]
        elif hasattr(one, "__wrapped__"):
            left.append(one.__wrapped__)
        elif isinstance(one, (tuple, list, set, frozenset)):
            left += one
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, types.FunctionType) and (one.__module__ or "").partition(".")[0] not in _TRUSTED:
            yield one
            left += [read.value for read in _reads(one)]


@lru_cache(maxsize=4096)
def _reason(function: types.FunctionType) -> str | None:
    """Same for what the function itself reads and does."""
    name = function.__name__
    codes = [code for code in _codes(function.__code__) if _may_do_more(function, code)]
    steps = [step for code in codes for step in dis.get_instructions(code)]
    for step, after in zip(steps, [*steps[1:], None], strict=False):  # of none there is no last
        if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") or _rebinds(function, step):
            return f"{name} assigns {step.argval!r}, which lives on after the call"
        if step.opname == "LOAD_GLOBAL" and after is not None and after.opname.startswith("LOAD_"):
            module = function.__globals__.get(step.argval)
            found = getattr(module, str(after.argval), None) if isinstance(module, types.ModuleType) else None
            if found is not None and _is_impure(found):
                return f"{name} asks {step.argval}.{after.argval}, which differs from call to call"
    return next(filter(None, (_why_changing(name, read) for read in _reads(function))), None)


def _may_do_more(function: types.FunctionType, code: types.CodeType) -> bool:
    """Return whether code may assign what lives on, or names a module and something impure of it."""
    if not _ASSIGNING.isdisjoint(code.co_code[::2]):
        return True
    named = [function.__globals__.get(name) for name in code.co_names]
    modules = [one for one in named if isinstance(one, types.ModuleType)]
    return any(_is_impure(getattr(one, name, None)) for one in modules for name in code.co_names)


def _rebinds(function: types.FunctionType, step: dis.Instruction) -> bool:
    return step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in function.__code__.co_freevars


def _why_changing(function: str, read: _Read) -> str | None:
    value, name = read.value, read.name
    if _is_impure(value):
        return f"{function} asks {name}, which differs from call to call"
    if _is_code(value):
        return None
    if not _is_value(value):
        return f"{function} reads {name}, of type {type(value).__name__}, which may keep a state"
    if not read.is_constant:
        return f"{function} reads {name}, which may be another value later"
    return None


def _is_impure(value: Any) -> bool:
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "builtins":
        return value.__name__ in _ASKING
    names = [getattr(value, "__name__", None) if isinstance(value, types.ModuleType) else None]
    names += [getattr(value, "__module__", None), type(getattr(value, "__self__", value)).__module__]
    return any(isinstance(one, str) and (one in _IMPURE or one[:12] == "numpy.random") for one in names)


def _is_code(value: Any) -> bool:
    """Return whether a value is code, looked through by itself, or an object of a trusted package."""
    is_object = isinstance(value, (np.ndarray, *_PLAIN))
    return (
        value is None
        or isinstance(value, (*_CODE, types.BuiltinFunctionType))
        or hasattr(value, "__wrapped__")
        or (type(value).__module__.partition(".")[0] in _TRUSTED and not is_object)
    )


def _is_value(value: Any) -> bool:
    """Return whether a value stays what it is: plain, in a tuple, or text and code in any container."""
    if isinstance(value, _PLAIN) or _is_code(value):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_value, value))
    if isinstance(value, types.MappingProxyType):
        return all(map(_is_value, value.values()))
    if isinstance(value, (list, set, dict)):
        items = value.values() if isinstance(value, dict) else value
        inner = [one for item in items for one in (item if isinstance(item, tuple) else (item,))]
        return all(isinstance(one, str) or _is_code(one) for one in inner)
    declared = getattr(type(value), "__dataclass_params__", None)
    return declared is not None and declared.frozen


def _reads(function: types.FunctionType) -> list[_Read]:
    """Globals, cells and defaults that a function, or one written inside it, reads."""
    scope, found = function.__globals__, []
    builtin = scope.get("__builtins__", {})
    builtin = vars(builtin) if isinstance(builtin, types.ModuleType) else builtin
    named = (name for code in _codes(function.__code__) for name in _names(code, "LOAD_GLOBAL"))
    assigned: set[str] | None = None
    for name in dict.fromkeys(named):
        if name in scope:
            is_named = name.isupper() or repr(getattr(math, name, None)) == repr(scope[name])
            if is_named and assigned is None:
                assigned = _assigned(scope)
            found.append(_Read(name, scope[name], is_named and name not in (assigned or ())))
        elif name in builtin:
            found.append(_Read(name, builtin[name], True))
    rebound = _rebound(function)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if cell != types.CellType():  # an empty one is of a function that is still running
            found.append(_Read(name, cell.cell_contents, name not in rebound))
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return [*found, *(_Read("a default value", value, True) for value in defaults)]


def _assigned(scope: dict[str, Any]) -> set[str]:
    """Globals of a module that its functions assign."""
    owners = [scope, *(vars(one) for one in scope.values() if isinstance(one, type))]
    functions = [one for owner in owners for one in owner.values() if isinstance(one, types.FunctionType)]
    codes = (code for one in functions if one.__globals__ is scope for code in _codes(one.__code__))
    return {name for code in codes for name in _names(code, "STORE_GLOBAL")}


def _rebound(function: types.FunctionType) -> set[str]:
    """Variables of the enclosing function that some function inside it rebinds."""
    path = function.__qualname__.partition(".<locals>")[0].split(".")
    found: Any = function.__globals__.get(path[0])
    for name in path[1:]:
        found = vars(found).get(name) if isinstance(found, type) else None
    return {
        name
        for code in (_codes(found.__code__) if isinstance(found, types.FunctionType) else ())
        for name in _names(code, "STORE_DEREF")
        if name in code.co_freevars
    }


@lru_cache(maxsize=4096)
def _names(code: types.CodeType, opname: str) -> tuple[str, ...]:
    """Names that some instruction of a function's code has."""
    ops, own = code.co_code[::2], dis.opmap[opname]
    if own not in ops:
        return ()
    if opname == "LOAD_GLOBAL":  # by far the most frequent, and `dis` takes a hundred times as long
        numbers, above = dict[int, None](), 0
        for op, low in zip(ops, code.co_code[1::2], strict=True):
            number = above | low
            above = number << 8 if op == dis.EXTENDED_ARG else 0
            if op == own:
                numbers[number >> 1] = None  # the lowest bit says whether it is called
        return tuple([code.co_names[number] for number in numbers])
    steps = dis.get_instructions(code)
    return tuple(dict.fromkeys(str(step.argval) for step in steps if step.opname == opname))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of a function, and of those written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
