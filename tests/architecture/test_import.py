"""`import operad` stays light: heavy libraries and plugins wait until something needs them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tools.workspace import distributions

# What operad or its tools use somewhere, and `import operad` must not pay for.
HEAVY = ("cupy", "hypothesis", "llvmlite", "matplotlib", "numba", "pluggy", "rich", "scipy", "sklearn")


def _modules_after(statement: str) -> set[str]:
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout)}


def test_import_operad_loads_no_heavy_library() -> None:
    loaded = _modules_after("import operad")
    assert "operad" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded.intersection(HEAVY))


def test_import_operad_loads_neither_sdk_nor_plugin() -> None:
    guests = {d.package for d in distributions() if d.package != "operad"}
    assert guests
    assert _modules_after("import operad").isdisjoint(guests)


def test_listing_operators_loads_no_plugin() -> None:
    plugins = {d.package for d in distributions() if d.is_plugin}
    (name, _) = _an_operator()
    listing = f"import operad as od; assert {name!r} in dir(od.nd) and {name!r} in dir(od.sym)"
    assert _modules_after(listing).isdisjoint(plugins)


def test_using_an_operator_loads_its_plugin_alone() -> None:
    plugins = {d.package for d in distributions() if d.is_plugin}
    (name, package) = _an_operator()
    assert _modules_after(f"import operad as od; od.nd.{name}") & plugins == {package}


def _an_operator() -> tuple[str, str]:
    """The name of some plugin's operator, and the package that provides it."""
    return next((name, d.package) for d in distributions() for name in d.entry_points("operad.operators"))


@pytest.mark.parametrize("words", [["ops"], ["plugins"], ["doctor", "--help"]])
def test_commands_that_only_list_load_no_plugin_with_operators(words: list[str]) -> None:
    plugins = {d.package for d in distributions() if d.entry_points("operad.operators")}
    run = f"""
import contextlib, io, sys
from operad.__main__ import main
sys.argv = ["operad", *{words!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as said:
    main()
assert said.getvalue()
"""
    assert _modules_after(run).isdisjoint(plugins)
