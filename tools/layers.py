"""Check the architecture: the import contracts of the root `pyproject.toml`.

import-linter wants the packages it reads by name, and plugins come and go by adding and deleting
folders. So this script reads the contracts, puts the plugins it finds in place of `plugins.*`, and
hands the result to import-linter.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tools.workspace import ROOT, Distribution, distributions

_ALL_PLUGINS = "plugins.*"


def contracts(root: Path) -> dict[str, Any]:
    """The import-linter settings of the checkout at `root`, with every plugin named.

    A contract about plugins alone is dropped where there are none.
    """
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]
    plugins = [d.package for d in distributions(root) if d.is_plugin and _has_package(d)]
    expanded = [_with_plugins(contract, plugins) for contract in settings["contracts"]]
    return {
        "root_packages": [*settings["root_packages"], *plugins],
        "contracts": [contract for contract in expanded if [] not in contract.values()],
    }


def _has_package(distribution: Distribution) -> bool:
    return (distribution.folder / "src" / distribution.package / "__init__.py").exists()


def _with_plugins(contract: dict[str, Any], plugins: list[str]) -> dict[str, Any]:
    def expand(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [name for item in value for name in (plugins if item == _ALL_PLUGINS else [item])]

    return {key: expand(value) for key, value in contract.items()}


def _as_toml(settings: dict[str, Any]) -> str:
    # JSON's strings, lists and booleans are TOML's as well, which is all that a contract holds.
    lines = ["[tool.importlinter]", f"root_packages = {json.dumps(settings['root_packages'])}"]
    for contract in settings["contracts"]:
        lines.append("\n[[tool.importlinter.contracts]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in contract.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write `build/importlinter.toml` and run import-linter on it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to examine")
    root: Path = parser.parse_args().root.resolve()
    config = root / "build" / "importlinter.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(_as_toml(contracts(root)))
    program = (
        "from inspect import signature; from importlinter.cli import lint_imports; "
        "words = {'no_logo': True} if 'no_logo' in signature(lint_imports).parameters else {}; "
        f"sys.exit(lint_imports({str(config)!r}, no_cache=True, **words))"  # older releases have no logo
    )
    sources = [str(d.folder / "src") for d in distributions(root)]
    # The checkout's own sources come first, whatever the environment has installed.
    path = f"import sys; sys.path[:0] = {sources!r}; {program}"
    return subprocess.run([sys.executable, "-c", path], check=False, cwd=root).returncode


if __name__ == "__main__":
    sys.exit(main())
