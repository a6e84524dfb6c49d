"""Modules of the harness by the paths they had before it got rooms."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from operad_sdk.check.old_paths import NEW_PATHS


@pytest.fixture(autouse=True)
def forgotten():
    """No old path is imported already, so that each import asks again."""
    yield
    for old in NEW_PATHS:
        sys.modules.pop(old, None)


@pytest.mark.parametrize("old", NEW_PATHS)
def test_an_old_path_gives_the_module_itself_with_a_warning(old):
    new = NEW_PATHS[old]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = import_module(old)
    assert {each.category for each in told} == {DeprecationWarning}
    assert str(told[-1].message) == f"{old} is {new} since operad 0.3; the old path ends with 0.4"
    assert found is import_module(new)
    assert (found.__name__, found.__spec__.name) == (new, new)


@pytest.mark.parametrize("old", NEW_PATHS)
def test_an_old_path_is_no_module_that_stands(old):
    """Else the table would hide it."""
    package, _, name = old.rpartition(".")
    parent = import_module(NEW_PATHS.get(package, package))
    if parent.__name__ == package:
        assert f"{name}.py" not in {
            path.name for folder in parent.__path__ for path in Path(folder).iterdir()
        }


def test_a_name_is_imported_from_an_old_path_as_ever():
    program = (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    from operad_sdk.check import runner\n"
        "    from operad_sdk.check.faults.fault import Fault\n"
        "    import operad_sdk.check.mutations.fault as new\n"
        "assert Fault is new.Fault\n"
        "assert {each.filename for each in told} == {'<string>'}, told\n"
        "print(runner.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "operad_sdk.check.running.runner\n", done.stderr


def test_any_other_name_is_not_found():
    assert find_spec("operad_sdk.check.quantum") is None
