"""Record every public name of MXNet 1.9.1 that a program may write, operators, Gluon and NumPy's included.

    python tests/conformance/record_names.py

runs under the Python of an environment that has MXNet 1.9.1, and writes the list that `operad port` looks
names up in: for each module, and each class of one, its public names. `recorded/api.json` has signatures of
fewer.
"""

from __future__ import annotations

import ast
import json
import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

import mxnet as mx

TARGET: Final = Path(__file__).parents[2] / "plugins/mxnet/src/operad_mxnet/port/mxnet_names.json"
SKIPPED: Final = ("_", "gen_")


def main() -> None:
    """Write the list."""
    found = {}
    for name in modules():
        whole = import_module(f"mxnet.{name}".rstrip("."))
        found[name] = " ".join(sorted(each for each in dir(whole) if is_public(whole, each)))
    TARGET.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def modules() -> list[str]:
    """Modules that can be imported, without `mxnet.`; "" is `mxnet` itself."""
    names = [""]
    for found in pkgutil.walk_packages(mx.__path__, "mxnet."):
        name = found.name.removeprefix("mxnet.")
        if any(part.startswith(SKIPPED) for part in name.split(".")):
            continue
        try:
            import_module(found.name)
        except (Exception, SystemExit):  # noqa: BLE001 - parts that want other packages, or another build
            continue
        names.append(name)
    return [name for name in names if import_module(f"mxnet.{name}".rstrip(".")).__file__]


def is_public(whole: ModuleType, name: str) -> bool:
    """Return whether a name is MXNet's own, and no help that a module has imported for itself."""
    if name.startswith(SKIPPED):
        return False
    value = getattr(whole, name)
    if isinstance(value, ModuleType):
        inside = "mxnet." if whole is mx else f"{whole.__name__}."
        return value.__name__.startswith(inside) and "._" not in value.__name__ and bool(value.__file__)
    if name in getattr(whole, "__all__", ()) or name in assigned(whole):
        return True
    home = str(getattr(value, "__module__", None))
    is_lent = whole is mx.random and home == "mxnet.ndarray.random"
    return is_lent or (home.startswith("mxnet.") and (hasattr(whole, "__path__") or home == whole.__name__))


@cache
def assigned(whole: ModuleType) -> set[str]:
    """Names that a module's text assigns."""
    body = ast.parse(Path(str(whole.__file__)).read_text(encoding="utf-8")).body
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


if __name__ == "__main__":
    main()
