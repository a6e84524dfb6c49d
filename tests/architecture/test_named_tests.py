"""A test of its name for each module of the core: `engine/var.py` has `tests/engine/test_var.py`."""

from __future__ import annotations

from pathlib import Path

from tools.workspace import ROOT

SOURCES = ROOT / "core" / "src" / "operad"
TESTS = ROOT / "core" / "tests"

STILL_WITHOUT = frozenset(
    """
    autograd/function autograd/program autograd/walk cli/calls cli/declared cli/doctor/command
    cli/doctor/facts cli/doctor/finding cli/doctor/metadata cli/doctor/surroundings cli/doctor/trial
    cli/options cli/plugin_commands cli/progress cli/stubs/command cli/stubs/modules cli/stubs/operators
    context engine/dispatch engine/inline engine/kinds engine/naive engine/operation engine/pools
    executor/arrays executor/compiled executor/fixed executor/prepared front/attributes front/finder
    graph/compilation graph/demands graph/estimate graph/kernels graph/liveness graph/plugin_passes
    graph/schedule graph/verify imperative/array imperative/plan imperative/run imperative/spec
    imperative/state nd ndarray/arguments ndarray/namespace ndarray/nested ndarray/numpy_protocol
    ndarray/signature op/chosen op/context op/explanation op/operator op/parts op/shapes operator
    program/binding program/code program/program registry/old_names registry/plugins resource/base sym
    symbol/attribute symbol/compose symbol/function symbol/namespace
    """.split()
)
"""Modules whose tests bear other names; this list may only get shorter."""


def _without_a_test() -> set[str]:
    modules = [path.relative_to(SOURCES) for path in SOURCES.rglob("[!_]*.py")]
    return {_name(path) for path in modules if not (TESTS / path.parent / f"test_{path.name}").is_file()}


def _name(module: Path) -> str:
    return module.with_suffix("").as_posix()


def test_a_new_module_has_a_test_of_its_name() -> None:
    assert sorted(_without_a_test() - STILL_WITHOUT) == []


def test_a_module_that_has_its_test_by_now_is_off_the_list() -> None:
    assert sorted(STILL_WITHOUT - _without_a_test()) == []
