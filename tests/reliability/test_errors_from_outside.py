"""Errors from outside, wherever one can come: the engine goes on, nothing is lost, numbers are right.

An exception from a signal's handler, a failed allocation, an exhausted stack. It comes out of the call that
it interrupted, once, and out of no wait for something else; a failure of an operation itself is raised by its
waits, as ever. `tests.reliability.laboratory` has the programs, each of which prints its table with
`--report`.
"""

from __future__ import annotations

import importlib.util
import os
import signal

import pytest

from tests.reliability.laboratory import trials
from tests.reliability.laboratory.subjects import ARRAYS, SUBJECTS

pytestmark = pytest.mark.serial

OUTSIDE = "tests.reliability.laboratory.outside"
ALLOCATIONS = "tests.reliability.laboratory.allocations"
SIGNALS = "tests.reliability.laboratory.signals"
FIRST_USES = "tests.reliability.laboratory.first_uses"

slow = pytest.mark.slow
no_hooks = pytest.mark.skipif(
    importlib.util.find_spec("_testcapi") is None,
    reason="this Python lacks _testcapi, which makes allocations fail",
)
no_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
no_signals = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no POSIX signals here")

SETTINGS = {
    "inline": {"num_threads": 2},
    "pushed": {"num_threads": 2, "inline_us": 0},
    "one-thread": {"num_threads": 1},
    "naive": {"engine": "naive"},
}


def _no_faults(module: str, *arguments: object, least: int = 1, **settings: object) -> None:
    """All trials go well, and at least so many of them met what they try."""
    found = trials.run(module, *map(str, arguments), most_faults=3, **settings)
    assert not trials.faults(found), trials.faults(found)
    met = sum(verdict.kind == "" for verdict in found)
    assert met >= least, trials.table(found)


@pytest.mark.parametrize(
    ("setting", "subjects"), [("inline", list(SUBJECTS)), ("pushed", ARRAYS)], ids=["inline", "pushed"]
)
def test_an_exception_comes_out_of_the_call_at_points_of_all_programs(
    setting: str, subjects: list[str]
) -> None:
    _no_faults(OUTSIDE, *subjects, "--most", 12, least=8 * len(subjects), **SETTINGS[setting])


@slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_an_exception_comes_out_of_the_call_at_every_point(subject: str, setting: str) -> None:
    _no_faults(OUTSIDE, subject, least=5, **SETTINGS[setting])  # the hot path has no more


@no_fork
@pytest.mark.parametrize("most", [30, pytest.param(0, marks=slow)])
def test_an_exception_on_the_way_of_a_fork_leaves_both_processes_whole(most: int) -> None:
    _no_faults(OUTSIDE, "fork", "--most", most, least=15, **SETTINGS["inline"])


@no_signals
@pytest.mark.parametrize("kind", ["alarm", "interrupt"])
@pytest.mark.parametrize("subject", ["hire", "stop"])
def test_a_signal_at_every_point_while_an_engine_ends_and_hires(subject: str, kind: str) -> None:
    _no_faults(OUTSIDE, subject, "--kind", kind, least=200, **SETTINGS["inline"])
    _no_faults(SIGNALS, subject, "--kind", kind, "--count", 60, least=60, **SETTINGS["inline"])


@no_signals
@pytest.mark.parametrize("kind", ["alarm", "interrupt"])
@pytest.mark.parametrize("subject", ["ask", "courier", "take", "pass"])
def test_a_signal_at_every_point_leaves_threads_of_plugins_at_work(subject: str, kind: str) -> None:
    _no_faults(OUTSIDE, subject, "--kind", kind, least=10, **SETTINGS["inline"])


@slow
@no_signals
@pytest.mark.parametrize("kind", ["alarm", "interrupt"])
def test_a_signal_comes_out_of_the_call_at_every_point(kind: str) -> None:
    _no_faults(OUTSIDE, "--kind", kind, "--most", 60, least=200, **SETTINGS["inline"])


@slow
def test_a_trace_function_may_raise_at_every_line() -> None:
    _no_faults(OUTSIDE, "--lines", least=500, **SETTINGS["inline"])


@no_signals
def test_sixty_signals_into_each_program() -> None:
    _no_faults(SIGNALS, "--count", 60, least=60 * len(SUBJECTS), **SETTINGS["inline"])


@slow
@no_signals
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["alarm", "late"])
def test_a_thousand_signals_into_each_program(kind: str, setting: str) -> None:
    _no_faults(SIGNALS, "--kind", kind, "--count", 1000, least=1000 * len(SUBJECTS), **SETTINGS[setting])


@no_signals
@pytest.mark.parametrize("when", ["before", "after", "each"])
@pytest.mark.parametrize("kind", ["interrupt", "terminate", "alarm"])
def test_each_signal_stops_its_cell_whenever_its_handler_was_installed(kind: str, when: str) -> None:
    subjects = ["tanh", "push-wait", "record", "step"]
    _no_faults(
        SIGNALS, *subjects, "--kind", kind, "--when", when, "--count", 8, least=32, **SETTINGS["inline"]
    )


@slow
@no_signals
@pytest.mark.parametrize("when", ["before", "after", "each"])
@pytest.mark.parametrize("kind", ["interrupt", "terminate"])
def test_a_hundred_signals_stop_their_cells(kind: str, when: str) -> None:
    _no_faults(
        SIGNALS,
        "--kind",
        kind,
        "--when",
        when,
        "--count",
        100,
        least=100 * len(SUBJECTS),
        **SETTINGS["inline"],
    )


STARVED = ["tanh", "dot", "push", "push-wait", "record", "step", "save", "scopes"]


@no_hooks
def test_a_failed_allocation_leaves_the_engine_whole() -> None:
    _no_faults(ALLOCATIONS, "memory", *STARVED, "--step", 7, least=40, **SETTINGS["inline"])


@slow
@no_hooks
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_failed_allocation_at_every_n_leaves_the_engine_whole(setting: str) -> None:
    _no_faults(ALLOCATIONS, "memory", least=500, **SETTINGS[setting])


def test_an_exhausted_stack_leaves_the_engine_whole() -> None:
    _no_faults(ALLOCATIONS, "stack", *STARVED, "--step", 2, least=20, **SETTINGS["inline"])


@slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_an_exhausted_stack_at_every_headroom_leaves_the_engine_whole(setting: str) -> None:
    _no_faults(ALLOCATIONS, "stack", least=60, **SETTINGS[setting])


@no_fork
@pytest.mark.parametrize("how", ["own", "finalizer", "error", "beside"])
def test_a_first_use_is_whole_with_a_fork_or_a_finalizer_on_its_way(how: str) -> None:
    _no_faults(FIRST_USES, "bind", how, "--most", 8, least=1, **SETTINGS["inline"])


@slow
@no_fork
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("busy", [(), ("--busy",)], ids=["alone", "busy"])
@pytest.mark.parametrize("how", ["own", "finalizer", "error", "beside"])
@pytest.mark.parametrize("use", ["call", "bind", "record", "again"])
def test_a_first_use_is_whole_with_a_fork_or_a_finalizer_at_its_lines(
    use: str, how: str, busy: tuple[str, ...]
) -> None:
    _no_faults(FIRST_USES, use, how, "--most", 100, *busy, least=1, **SETTINGS["inline"])
