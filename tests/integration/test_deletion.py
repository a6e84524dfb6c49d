"""Deleting any one folder under plugins/ leaves the rest importable and its tests green."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.integration.environments import (
    COMPLETE,
    CleanEnvironment,
    copy_tests,
    for_testing,
    left_out,
    third_party,
)
from tools.workspace import ROOT

MakeEnvironment = Callable[..., CleanEnvironment]

ALL = {d.name: d for d in COMPLETE if not third_party([d.name]) & left_out()}
# Of those whose folders stand: the one nearly everything leans on, a heavy one, a loss.
DELETED = [name for name in ("operad-elemwise", "operad-convolution", "operad-loss") if name in ALL]

_LOAD_EVERYTHING = """
from importlib.metadata import entry_points
import operad as od

names = [point.name for point in entry_points(group="operad.operators")]
for name in names:
    getattr(od.sym, name)
print(*names)
"""


def _rest(deleted: str) -> list[str]:
    """Every distribution but `deleted` and those that require it, or one that does, by name."""
    return [name for name in ALL if name != deleted and deleted not in _required(name)]


def _required(name: str) -> set[str]:
    direct = ALL[name].siblings() & ALL.keys()
    return direct.union(*map(_required, direct))


@pytest.mark.parametrize("deleted", DELETED)
def test_every_other_operator_still_loads(make_environment: MakeEnvironment, deleted: str) -> None:
    environment = make_environment(*_rest(deleted))

    loaded = set(environment.run(_LOAD_EVERYTHING).split())

    expected = {point for name in _rest(deleted) for point in ALL[name].entry_points("operad.operators")}
    assert loaded == expected
    assert loaded.isdisjoint(ALL[deleted].entry_points("operad.operators"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("deleted", DELETED)
def test_every_other_test_still_passes(
    make_environment: MakeEnvironment, tmp_path: Path, deleted: str
) -> None:
    environment = make_environment(*_rest(deleted))
    environment.add_libraries(for_testing())
    checkout = copy_tests([d for d in ALL.values() if d.name != deleted], tmp_path / "checkout")

    tests = [str(checkout / ALL[name].folder.relative_to(ROOT) / "tests") for name in _rest(deleted)]
    absent = [f"--absent={name}" for name in sorted(ALL.keys() - set(_rest(deleted)))]
    words = ["-q", "--no-header", "-o", "verbosity_assertions=2"]  # a failure says all that it is for
    words += ["--junitxml", str(tmp_path / "report.xml"), *absent]
    environment.execute("-m", "pytest", *words, *tests, cwd=checkout)

    # Whose tests are all skipped does nothing without the deleted one, and has to require it.
    passed = _with_a_test_that_passed(tmp_path / "report.xml")
    assert [name for name in _rest(deleted) if name not in passed] == []


def _with_a_test_that_passed(report: Path) -> set[str]:
    """The distributions, by name, of the tests that passed by a report in JUnit's format."""
    cases = ET.parse(report).iter("testcase")
    modules = {case.attrib["classname"] for case in cases if len(case) == 0}
    folders = {name: ".".join(d.folder.relative_to(ROOT).parts) for name, d in ALL.items()}
    return {
        name for name, folder in folders.items() if any(m.startswith(f"{folder}.tests.") for m in modules)
    }
