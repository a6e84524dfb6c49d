"""Facts of behaviour: one line or a few of a program each, and what becomes of it.

`behaviour/*.toml` has them by subject: a name, and Python text whose last line is an expression. What it
gives, or the class of the error that it raises, was recorded under MXNet 1.9.1 in `behaviour.json`;
operad must give the same. Numbers may differ in their last digits; an error must be of MXNet's class, too.
What a name of `instances.toml` gives is recorded as its public attributes, and operad must have them all.
`behaviour_differences.toml` lists the facts that differ on purpose, and the attributes that are left out.
"""

from __future__ import annotations

import ast
import inspect
import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import chdir
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from tests.conformance.recorded import probes

HERE: Final = Path(__file__).parent
RECORD: Final = HERE / "behaviour.json"
_INSTANCES: Final = "instances"
_TABLE: Final = tomllib.loads((HERE / "behaviour_differences.toml").read_text(encoding="utf-8"))
_CLOSE: Final = 1e-5


def facts() -> dict[str, str]:
    """The text of each fact, by `subject.name`."""
    return {
        f"{path.stem}.{name}": text
        for path in sorted((HERE / "behaviour").glob("*.toml"))
        for name, text in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def record() -> dict[str, Any]:
    """Outcomes under MXNet, by fact."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def rows() -> dict[str, str]:
    """The facts that differ on purpose, and the first cells of their rows in docs/differences.md."""
    return {fact: entry["row"] for entry in _TABLE["difference"] for fact in entry["facts"]}


def absent() -> list[str]:
    """Patterns of the attributes of instances that are left out: `instance.attribute`."""
    return [name for entry in _TABLE["absent"] for name in entry["names"]]


def outcome(fact: str, text: str, mx: Any, more: Mapping[str, Any] | None = None) -> Any:
    """Value that the text gives, as JSON has it, or `{"raises": [classes of the error]}`.

    Args:
        fact: Its name.
        text: Its program.
        mx: The library.
        more: What programs may name besides.
    """
    np.random.seed(7)
    mx.random.seed(7)
    *first, last = ast.parse(text.strip()).body
    assert isinstance(last, ast.Expr), f"{fact} ends in no expression"
    names = {"mx": mx, "np": np, "nd": mx.nd, "sym": mx.sym, "var": mx.sym.Variable, "json": json}
    names |= probes.names(mx) | dict(more or {})
    with TemporaryDirectory() as folder, chdir(folder), mx.name.NameManager():
        try:
            exec(compile(ast.Module(first, []), fact, "exec"), names)  # noqa: S102 - the record's own text
            value = eval(compile(ast.Expression(last.value), fact, "eval"), names)  # noqa: S307 - as above
            if fact.startswith(_INSTANCES):
                return sorted(name for name in dir(value) if not name.startswith("_"))
            return described(value)
        except Exception as error:  # noqa: BLE001 - it is the finding
            return {"raises": [one.__name__ for one in type(error).__mro__ if one is not object]}


def described(value: Any) -> Any:
    """A value as JSON: itself where that has it, else its class with what is in it."""
    if value is None or (isinstance(value, (bool, int, str)) and not isinstance(value, np.generic)):
        return value if type(value) in (bool, int, str, type(None)) else described_text(value)
    if isinstance(value, float):  # NumPy's float64 among them
        return float(value)
    if isinstance(value, list):
        return [described(one) for one in value]
    kind = type(value).__name__
    if isinstance(value, tuple):
        return {"tuple": [described(one) for one in value]}
    if isinstance(value, Mapping):
        return {kind: sorted(([described(key), described(one)] for key, one in value.items()), key=str)}
    if inspect.isclass(value):
        return {"class": value.__name__}
    if isinstance(value, np.dtype):
        return {"dtype": value.name}
    if isinstance(value, (np.ndarray, np.generic)):
        return {kind: value.tolist(), "dtype": value.dtype.name}
    if hasattr(value, "asnumpy") and hasattr(value, "context"):
        return {kind: value.asnumpy().tolist(), "dtype": np.dtype(value.dtype).name, "on": str(value.context)}
    if hasattr(value, "list_outputs"):
        return {kind: value.list_outputs()}
    if hasattr(value, "device_type"):
        return {kind: str(value)}
    if isinstance(value, bytes):
        return {kind: value.decode()}
    return {"instance": kind}


def described_text(value: Any) -> Any:
    """A number or text of a class of its own, as the class that it derives from."""
    return next(base(value) for base in (bool, int, str) if isinstance(value, base))


def differences(found: Any, recorded: Any, fact: str) -> Iterator[str]:
    """Differences of an outcome from MXNet's; nothing where they agree."""
    if fact.startswith(_INSTANCES):
        missing = missing_attributes(found, recorded, fact)
        missed = [name for name in missing if not any(fnmatch(name, pattern) for pattern in absent())]
        if missed:
            yield f"missing: {', '.join(missed)}"
    elif isinstance(recorded, dict) and "raises" in recorded:
        classes = found.get("raises", []) if isinstance(found, dict) else []
        wanted = recorded["raises"][0]
        names = {"MXNetError": "OperadError", "NotImplementedForSymbol": "UnsupportedError"}
        # An assertion says that an argument is wrong, in no class that a program would catch.
        if (names.get(wanted, wanted) if wanted != "AssertionError" else "OperadError") not in classes:
            yield f"{found}, expected {wanted}"
    elif not _equal(found, recorded):
        yield f"{found}, expected {recorded}"


def missing_attributes(found: list[str], recorded: list[str], fact: str) -> list[str]:
    """Attributes of MXNet's instance alone, as `instance.attribute`."""
    instance = fact.partition(".")[2]
    return [f"{instance}.{name}" for name in recorded if name not in found]


def _equal(found: Any, recorded: Any) -> bool:
    if isinstance(recorded, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        return bool(np.isclose(found, recorded, rtol=_CLOSE, atol=_CLOSE, equal_nan=True))
    if isinstance(recorded, list) and isinstance(found, list):
        return len(found) == len(recorded) and all(map(_equal, found, recorded))
    if isinstance(recorded, dict) and isinstance(found, dict):
        return found.keys() == recorded.keys() and all(_equal(found[key], recorded[key]) for key in found)
    return type(found) is type(recorded) and bool(found == recorded)
