"""Record the public names of MXNet 1.9.1 and the signatures of its functions and methods.

    python tests/conformance/record_api.py

runs under the Python of an environment that has MXNet 1.9.1, and writes `recorded/api.json`: the names of
each module that are its own; for each name its signature as text, null where there is nothing to compare
(values, properties, generated `*args, **kwargs`), and for a class its members and their signatures, its own
under "". Of modules inside packages the names alone.
Functions generated for operators are left out: `recorded/facts.json` has those.
"""

from __future__ import annotations

import ast
import inspect
import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import mxnet as mx

TARGET: Final = Path(__file__).parent / "recorded" / "api.json"
MODULES: Final = (
    "", "attribute", "autograd", "base", "callback", "context", "contrib", "contrib.autograd",
    "contrib.ndarray", "contrib.symbol", "engine", "error", "executor", "executor_manager", "image",
    "initializer", "io", "kvstore", "libinfo", "log", "lr_scheduler", "metric", "misc", "model", "module",
    "monitor", "name", "ndarray", "ndarray.contrib", "ndarray.image", "ndarray.linalg", "ndarray.random",
    "operator", "optimizer", "profiler", "random",
    "recordio", "registry", "rnn", "runtime", "symbol", "symbol.contrib", "symbol.image",
    "symbol.linalg", "symbol.random", "test_utils", "util", "visualization",
)  # fmt: skip
PATHS: Final = (
    "image.image", "io.io", "kvstore.kvstore", "module.base_module", "module.bucketing_module",
    "module.module", "module.python_module", "module.sequential_module", "ndarray.ndarray", "ndarray.utils",
    "optimizer.optimizer", "rnn.io", "rnn.rnn", "rnn.rnn_cell", "symbol.symbol",
)  # fmt: skip
"""Modules whose names are those of the package around them."""
PREFIXES: Final = ("", "_contrib_", "_linalg_", "_image_", "_random_", "_sample_", "_")


def main() -> None:
    """Write the record."""
    found = {name: module(name) for name in MODULES}
    found |= {name: dict.fromkeys(module(name)) for name in PATHS}
    TARGET.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def module(name: str) -> dict[str, Any]:
    """The names of `mxnet.<name>` that a program may take from it, with their signatures."""
    whole = import_module(f"mxnet.{name}".rstrip("."))
    operators = set(mx.operator.get_all_registered_operators())
    return {
        each: member(getattr(whole, each))
        for each in sorted(own_names(whole))
        if is_written(getattr(whole, each)) or not any(prefix + each in operators for prefix in PREFIXES)
    }


def is_written(value: Any) -> bool:
    """Return whether a value is no function, or one that stands in a file and is not generated."""
    return not inspect.isroutine(value) or Path(inspect.unwrap(value).__code__.co_filename).is_file()


def own_names(whole: ModuleType) -> set[str]:
    """The names of a module without those that it has imported for its own use."""
    inside = f"{whole.__name__}."
    assigned = _assigned(whole)
    chosen = set()
    for name, value in vars(whole).items():
        if name.startswith("_"):
            continue
        if isinstance(value, ModuleType):
            is_part = value.__name__.startswith("mxnet." if whole is mx else inside)
            if is_part and not name.startswith("gen_"):
                chosen.add(name)
            continue
        home = getattr(value, "__module__", None)
        is_lent = whole is mx.random and home == "mxnet.ndarray.random"
        is_of_part = hasattr(whole, "__path__") and f"{home}.".startswith(inside)
        if name in assigned or home == whole.__name__ or is_lent or is_of_part:
            chosen.add(name)
    return chosen


def _assigned(whole: ModuleType) -> set[str]:
    """Names that a module's text defines or assigns, and for `mxnet` itself those it imports."""
    found: set[str] = set()
    for node in ast.parse(Path(str(whole.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            targets = [each for target in node.targets for each in getattr(target, "elts", [target])]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and whole is mx:
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def member(value: Any) -> Any:
    """A signature, the members of a class with theirs, or None."""
    if not inspect.isclass(value):
        return signature(value)
    made: dict[str, Any] = {"": signature(value)}
    for name in sorted(dir(value)):
        home = next((base for base in value.__mro__ if name in vars(base)), object)
        if name.startswith("_") or not home.__module__.startswith("mxnet"):
            continue
        defined = vars(home)[name]
        made[name] = signature(getattr(defined, "__func__", defined))
    return made


def signature(value: Any) -> str | None:
    """The parameters as they are written in a definition; None where there is nothing to compare."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    shown = [each.replace(annotation=each.empty, default=default(each.default)) for each in found]
    text = str(inspect.Signature(shown))[1:-1]
    return None if text.removeprefix("self, ") == "*args, **kwargs" else text


class _Text(str):
    """A default that shows as it is."""

    __repr__ = str.__str__


def default(value: Any) -> Any:
    """A default by a text that is the same in every process."""
    if value is inspect.Parameter.empty:
        return value
    if inspect.isclass(value) or inspect.isroutine(value):
        return _Text(value.__name__)
    text = repr(value)
    return _Text(type(value).__name__ if " at 0x" in text or text.startswith("<") else text)


if __name__ == "__main__":
    main()
