"""MXNet's public names beside operad's: missing names, and signatures that take other calls."""

from __future__ import annotations

import ast
import inspect
import json
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, final

import operad as od

HERE: Final = Path(__file__).parent

INSTANCES: Final[dict[str, Callable[[], Any]]] = {
    "Context": lambda: od.cpu(),
    "context.Context": lambda: od.cpu(),
    "executor.Executor": lambda: od.sym.var("x").simple_bind(x=(1,)),
    "ndarray.NDArray": lambda: od.nd.empty((1,)),
    "symbol.Symbol": lambda: od.sym.var("x"),
}
"""Objects of classes that get methods by asking what is installed."""


@final
class Finding(NamedTuple):
    """A name that operad lacks, or whose signature differs.

    Attributes:
        name: `ndarray.NDArray.tostype`; of a whole module, `gluon`.
        kind: "absent" or "signature".
        words: What differs.
    """

    name: str
    kind: str
    words: str


@final
class Row(NamedTuple):
    """An entry of the table of what is left out or differs on purpose; a name may end in `*`."""

    kind: str
    reason: str
    names: list[str]

    def covers(self, finding: Finding) -> bool:
        """Return whether the row's kind and names match `finding`."""
        return self.kind == finding.kind and any(fnmatchcase(finding.name, name) for name in self.names)


def rows() -> list[Row]:
    """The table, `api.toml`."""
    table = tomllib.loads((HERE / "api.toml").read_text(encoding="utf-8"))
    return [Row(kind, row["reason"], row["names"]) for kind in table for row in table[kind]]


def modules() -> list[str]:
    """The modules that are recorded; "" is `mxnet` itself."""
    return list(_record())


def names(module: str) -> list[str]:
    """The names that are recorded of a module."""
    return list(_record()[module])


def count_signatures() -> int:
    """Number of recorded signatures of functions, classes and methods."""
    return sum(map(_count, _record().values()))


def _count(recorded: Any) -> int:
    return sum(map(_count, recorded.values())) if isinstance(recorded, dict) else recorded is not None


def findings(module: str, recorded: dict[str, Any] | None = None) -> Iterator[Finding]:
    """All that a program which imports from `mxnet.<module>` would miss in operad.

    Args:
        module: Its name.
        recorded: Names and signatures of the module; None: those of `api.json`.
    """
    try:
        # Not imported: an import statement would leave the module where plugins' names come and go.
        whole = attrgetter(module)(od) if module else od
    except AttributeError as error:
        yield Finding(module, "absent", str(error))
        return
    for name, kept in (_record()[module] if recorded is None else recorded).items():
        yield from _compared(whole, f"{module}.{name}".lstrip("."), name, kept)


def _record() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((HERE / "api.json").read_text(encoding="utf-8"))
    return found


def _compared(holder: Any, full_name: str, name: str, recorded: Any) -> Iterator[Finding]:
    try:
        value = getattr(holder, name)
    except Exception as error:  # noqa: BLE001 - a module that is not installed, or refuses to be used
        yield Finding(full_name, "absent", str(error).partition("\n")[0])
        return
    if isinstance(recorded, dict):
        made = INSTANCES[full_name]() if full_name in INSTANCES else value
        for each, inner in recorded.items():
            if each:
                owner = made if hasattr(made, each) else value
                yield from _compared(owner, f"{full_name}.{each}", each, inner)
        recorded = recorded[""]
    if recorded is None or not callable(value):
        return
    own = _signature(getattr(value, "__func__", value))
    if own is not None and (words := difference(recorded, own)):
        yield Finding(full_name, "signature", words)


def _signature(value: Any) -> inspect.Signature | None:
    try:
        if inspect.isclass(value) and type(value) is not type and "__call__" in vars(type(value)):
            # Of a metaclass, which hides the class's own.
            return inspect.signature(value.__init__.__get__(value))
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


def difference(recorded: str, own: inspect.Signature) -> str:
    """Reason why a call that MXNet takes would mean something else here; "" if each call means the same.

    A function that refuses every call with a reason, and so never returns, takes any call.
    """
    if own.return_annotation in ("NoReturn", NoReturn):
        return ""
    args = ast.parse(f"def f({recorded}): pass").body[0].args  # type: ignore[attr-defined]
    theirs = [arg.arg for arg in [*args.posonlyargs, *args.args]]
    defaults = dict(zip(reversed(theirs), map(ast.unparse, reversed(args.defaults)), strict=False))
    params = list(own.parameters.values())
    ours = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if [p.name for p in ours[: len(theirs)]] != theirs:
        return f"({recorded}) against {own}"
    more = [p.name for p in ours[len(theirs) :] if p.default is p.empty]
    if more or (args.vararg and not _has(params, "VAR_POSITIONAL")):
        return f"({recorded}) against {own}"
    if args.kwarg and not _has(params, "VAR_KEYWORD"):
        return f"({recorded}) against {own}"
    for p in ours[: len(theirs)]:
        if p.name in defaults and (p.default is p.empty or _text(p.default) != _plain(defaults[p.name])):
            return f"{p.name}={defaults[p.name]} against {own}"
        if p.name not in defaults and p.name != "self" and p.default is not p.empty:
            continue  # it takes more calls
    return ""


def _has(params: list[inspect.Parameter], kind: str) -> bool:
    return any(p.kind.name == kind for p in params)


def _plain(text: str) -> str:
    """A recorded default, of which sequences of either kind are equal; `_Null` says that none is given."""
    try:
        return _text(ast.literal_eval(text))
    except ValueError:
        return "None" if text == "_Null" else text.removeprefix("dtype('").removesuffix("')")


def _text(value: Any) -> str:
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__name__)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return repr(tuple(value))
    text = repr(value)
    name = type(value).__name__
    is_short = " at 0x" in text or text.startswith(
        ("<", f"{name}(")
    )  # MXNet's initializers have no other text
    return name if is_short else text
