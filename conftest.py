"""What all tests of the workspace share: Hypothesis profiles, seeds, the order of a run, skipped GPU tests.

A run has one seed, `--seed N` or one drawn at its start. Each test has a seed of its own, which follows from
that and its name alone, so one test repeats alone what it drew among others, in whichever process. It is what
the fixture `drawn_seed` gives, and what Python's and NumPy's global generators start from.
"""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import math
import os
import random
import re
import secrets
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from _pytest.faulthandler import fault_handler_stderr_fd_key
from _pytest.mark.expression import Expression
from _pytest.mark.structures import ParameterSet
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=200, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

ROOT = Path(__file__).parent
FAST, ALL = "not more and not slow and not contract", "not slow and not contract"
"""What `-m` takes by itself, and what it takes where paths are named on the command line."""

MORE = (
    "tests/architecture/test_run.py",
    "tests/architecture/test_suite_times.py",
    "tests/conformance/test_figures.py",
    "tests/devices/test_operators.py",
    "tests/distributed",
    "tests/exports",
    "tests/integration/test_deletion.py",
    "tests/integration/test_index.py",
    "tests/integration/test_new.py",
    "tests/integration/test_wheels.py",
    "tests/reliability",
)  # fmt: skip
"""Folders and files whose tests are marked `more`, and not imported where none of them would run."""

collect_ignore = [
    "core/src/operad/nd.py", "core/src/operad/ndarray/__init__.py",
    "core/src/operad/sym.py", "core/src/operad/symbol/__init__.py",
    "plugins/mxnet/src/operad_mxnet/nd_utils.py",
]  # fmt: skip
"""Faces. What else stands in them are operators, whose examples are run where the operators are."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--order`, which proves that tests depend on nothing before them, `--absent` and `--seed`."""
    text = "run the tests in this order: `reversed`, or a shuffle that a seed gives, any other word"
    parser.addoption("--order", default="", metavar="reversed|SEED", help=text)
    text = "left out on purpose: skip the tests that fail only for want of it (tools/absent.py)"
    parser.addoption("--absent", action="append", default=[], metavar="DISTRIBUTION", help=text)
    text = "the seed from which tests draw, as the run that is to be repeated printed it; default: a new one"
    parser.addoption("--seed", type=int, default=None, metavar="N", help=text)
    text = "seconds after which a process whose test or clean-up does not end is ended with a trace"
    parser.addini("watchdog_timeout", text, default="0")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed, and enter what only some runs want; with paths, tests marked `more` run as well."""
    if config.option.seed is None:
        config.option.seed = secrets.randbits(32)  # processes of pytest-xdist are given the options
    if config.args_source is pytest.Config.ArgsSource.ARGS and config.option.markexpr == FAST:
        config.option.markexpr = ALL
    if absent := config.getoption("absent"):
        from tools.absent import Absent  # noqa: PLC0415 - imports operad, which no other run needs here

        config.pluginmanager.register(Absent(absent))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job of a shell's background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    watchdog = Watchdog(config)
    config.pluginmanager.register(watchdog, "operad-watchdog")
    if hasattr(os, "register_at_fork"):
        watchdog.limit_children()


def pytest_report_header(config: pytest.Config) -> str:
    """Name the seed of the run."""
    return f"seed: {config.option.seed}"


def _seed_of(item: pytest.Item) -> int:
    """Seed of a test: 48 bits."""
    text = f"{item.config.option.seed} {item.nodeid}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "little")


@pytest.fixture
def drawn_seed(request: pytest.FixtureRequest) -> int:
    """A seed for whatever the test draws, another one in each run; a failure says how to draw it again."""
    return _seed_of(request.node)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start the global generators from the test's seed."""
    seed = _seed_of(item)
    random.seed(seed)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(seed % 2**32)


def _has_drawn(item: pytest.Item) -> bool:
    """Return whether a test has a drawn seed, or the global generators are not where it began."""
    if "drawn_seed" in getattr(item, "fixturenames", ()):
        return True
    seed = _seed_of(item)
    if random.getstate() != random.Random(seed).getstate():
        return True
    numpy = sys.modules.get("numpy")
    return bool(numpy) and _place(numpy.random) != _place(numpy.random.RandomState(seed % 2**32))


def _place(generator: Any) -> tuple[bytes, int]:
    _, numbers, place, *_ = generator.get_state()
    return numbers.tobytes(), place


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say with the failure of a test that has drawn how to draw the same again."""
    report = yield
    if report.failed and _has_drawn(item):
        marker = next((name for name in ("slow", "contract") if item.get_closest_marker(name)), None)
        words = ["python -m pytest", f"{item.nodeid!r}", f"--seed {item.config.option.seed}"]
        report.sections.append(
            ("drawn; to repeat", " ".join([*words, *([f"-m {marker}"] if marker else [])]))
        )
    return report


class Watchdog:
    """Timer that ends this process with a trace of all threads where a test, or its clean-up, does not end.

    pytest has no limit left for the clean-up of a failed test, and its own timer, `faulthandler_timeout`, is
    set for each test: that starts a thread and ends another, half a millisecond of processor time. This one
    is left as it is for a tenth of its time.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._limit_s, self._child_s = (
            float(config.getini(name) or 0) for name in ("watchdog_timeout", "timeout")
        )
        self._set_at_s = -math.inf

    def watch(self) -> None:
        """Have most of the limit left from now on."""
        if monotonic() - self._set_at_s > self._limit_s / 10:
            self._set(self._limit_s)

    def cancel(self) -> None:
        """Let the process be."""
        faulthandler.cancel_dump_traceback_later()
        self._set_at_s = -math.inf

    def limit_children(self) -> None:
        """End a forked child of a test with a trace when the test's own time is over.

        The thread that counts is cancelled before each fork: a child could not, and would wait for it.
        """
        os.register_at_fork(
            before=self.cancel,
            after_in_parent=lambda: "PYTEST_CURRENT_TEST" in os.environ and self._set(self._limit_s),
            after_in_child=lambda: self._set(self._child_s),
        )

    def _set(self, limit_s: float) -> None:
        if limit_s:
            stderr = self._config.stash.get(fault_handler_stderr_fd_key, 2)
            faulthandler.dump_traceback_later(limit_s, exit=True, file=stderr)
            self._set_at_s = monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Watch a test from its set-up on."""
        self.watch()

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self) -> None:
        """Forget the timer that pytest cancels, so that the clean-up of the test has one."""
        self.cancel()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> Generator[None]:
        """Watch the clean-up; behind the last test nothing is watched."""
        self.watch()
        try:
            return (yield)
        finally:
            if nextitem is None:
                self.cancel()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Take what a module left out of later garbage collections, as what was collected is."""
    result = yield
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
    return result


CONTRACT = "test_contract"
"""Name of the plugins' contract suites, of some 33,000 tests."""


def _takes(config: pytest.Config, *marks: str) -> bool:
    """Return whether a test of these marks, and of no other, would be selected."""
    words = config.option.markexpr
    return not words or Expression.compile(words).evaluate(lambda name, /, **_: name in marks)


_BEGINNINGS = tuple(f"{ROOT / each}{'' if each.endswith('.py') else os.sep}" for each in MORE)


def _is_more(path: Path) -> bool:
    """Return whether the tests of a file are marked `more` by its place."""
    return f"{path}{os.sep}".startswith(_BEGINNINGS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file of `MORE` unread where no test of it would be selected; some are marked `slow`."""
    if not _is_more(collection_path) or any(
        _takes(config, *m) for m in (["more"], ["slow"], ["more", "gpu"])
    ):
        return None
    return True


def pytest_pycollect_makeitem(collector: pytest.Module, name: str, obj: Any) -> list[pytest.Item] | None:
    """Make no tests of contract suites that would all be deselected (20 seconds), and one test of a walk."""
    if name == CONTRACT and not _takes(collector.config, "contract"):
        return []
    if any(mark.name == "walk" for mark in getattr(obj, "pytestmark", ())):
        setattr(collector.obj, name, walk := _walk(obj))
        return list(collector._genfunctions(name, walk))  # fixtures may have parameters
    return None


def _walk(test: Callable[..., None]) -> Callable[..., None]:
    """The test that calls a parametrized one with each row, and ends with the rows that fail.

    A test of its own takes two milliseconds beside what it does. All rows have the same fixtures here.
    """
    marks = test.pytestmark  # type: ignore[attr-defined]
    tables = [(mark.args[0], list(mark.args[1])) for mark in marks if mark.name == "parametrize"]
    if any(isinstance(each, ParameterSet) for _, values in tables for each in values):
        raise TypeError(f"{test.__module__}.{test.__name__}: a row of a walk has no mark and no id")
    names = [[n.strip() for n in (some.split(",") if isinstance(some, str) else some)] for some, _ in tables]

    def walk(**fixtures: Any) -> None:
        failed = {}
        for rows in product(*(values for _, values in tables)):
            row = {
                name: value
                for several, values in zip(names, rows, strict=True)
                for name, value in zip(several, values if len(several) > 1 else [values], strict=True)
            }
            try:
                test(**row, **fixtures)
            except pytest.skip.Exception:
                continue
            except Exception as error:  # noqa: BLE001 - an assertion too
                failed[f"{row}"[:200]] = error
        if failed:
            texts = [f"{row}: {type(error).__name__}: {error}" for row, error in failed.items()]
            first = next(iter(failed.values()))
            raise AssertionError("\n".join([f"{len(failed)} rows fail:", *texts])) from first

    given = signature(test)
    own = [each for each in given.parameters.values() if not any(each.name in several for several in names)]
    walk.__signature__ = given.replace(parameters=own)  # type: ignore[attr-defined]
    walk.__doc__, walk.__name__, walk.__module__ = test.__doc__, test.__name__, test.__module__
    walk.pytestmark = [mark for mark in marks if mark.name != "parametrize"]  # type: ignore[attr-defined]
    return walk


COMPILED_LOOPS = re.compile(
    r"^(?:(?:import|from) numba\b|from operad_sdk\S* import .*\bloop\b)", re.MULTILINE
)
"""Line of a source that cannot be imported without numba."""


def _has_examples(path: Path) -> bool:
    """Return whether doctests are looked for in a file; finding them imports it."""
    text = path.read_text("utf-8", errors="replace")
    if f"{os.sep}tests{os.sep}" in str(path).removeprefix(str(ROOT)):
        return ">>>" in text
    return find_spec("numba") is not None or COMPILED_LOOPS.search(text) is None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in sources that can be imported, and in those files of tests that have an example."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule) or _has_examples(file_path)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by name and place, skip GPU tests where there is no GPU, and put all in order."""
    for item in items:
        if _is_more(item.path) and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.more)
        if getattr(item, "originalname", "") == CONTRACT:
            item.add_marker(pytest.mark.contract)
    on_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if on_gpu:
        from core.tests.devices.present import why_no_gpu  # noqa: PLC0415 - tests run copies of this file alone

        if reason := why_no_gpu():
            for item in on_gpu:
                item.add_marker(pytest.mark.skip(reason=reason))  # of the machine: no CuPy, or no device
    _put_in_order(items, config.getoption("order"))


def _put_in_order(items: list[pytest.Item], order: str) -> None:
    if order == "reversed":
        items.reverse()
    elif order:
        # A string seeds alike in every process, each of which collects and must find the same order.
        random.Random(order).shuffle(items)
    # `--dist worksteal` deals the tests out in runs, the first to the first process, and moves only the
    # ends of runs elsewhere: what stands in front is run by one process, one by one.
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in ("serial", "long")])


@contextmanager
def _without_a_mock() -> Iterator[None]:
    """Have modules of operad say themselves that they are no mock, which pytest asks in each module.

    They would look for a plugin that adds such a name, and word an error with the names that are most alike.
    """
    faces = [import_module(name) for name in ("operad", "operad.nd", "operad.sym") if find_spec("operad")]
    for face in faces:
        vars(face)["_mock_name"] = None
    try:
        yield
    finally:
        for face in faces:
            del vars(face)["_mock_name"]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect without garbage collections, and take what was collected out of every later one.

    They would walk some hundred thousand objects again and again: a fifth of the time of collecting.
    """
    if session.config.getoption("dist", "no") != "no" and "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)  # other processes collect
    gc.disable()
    try:
        with _without_a_mock():
            return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
