"""The second process, over plugins that the environment variable PYTHONPATH shows it."""

from __future__ import annotations

import pytest

from core.tests.registry.conftest import Site
from operad.cli.doctor.trial import Failed, failed_plugins

# Not the stand-in that the other tests of commands get: it was imported before that was put in place.


@pytest.fixture
def plugins(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    site = Site(tmp_path)
    source = f"print('noise')\n{site.properties('fine')}"
    site.install("aa-fine", operators={"fine": "aa_fine:fine"}, modules={"aa_fine": source})
    return site


def ours(failed):
    return [plugin for plugin in failed if not plugin.name.startswith("operad")]


@pytest.mark.more
def test_plugins_that_work_are_no_failures(plugins):
    assert ours(failed_plugins()) == []


def test_one_that_raises_says_why(plugins):
    plugins.install(
        "bb-raises", operators={"x": "bb_raises:x"}, modules={"bb_raises": "import no_such_library"}
    )
    ((name, reason, _, _),) = ours(failed_plugins())
    assert name == "bb-raises"
    assert "No module named 'no_such_library'" in reason


def test_one_that_ends_the_process_is_named(plugins):
    source = "import os\nos._exit(3)\n"
    plugins.install("bb-ends", operators={"x": "bb_ends:x"}, modules={"bb_ends": source})
    assert failed_plugins() == [Failed("bb-ends", "importing it ended the process with code 3")]


@pytest.mark.more  # waits for 15 seconds
def test_one_that_never_returns_is_named(plugins):
    source = "import threading\nthreading.Event().wait()\n"
    plugins.install("aa-hangs", operators={"x": "aa_hangs:x"}, modules={"aa_hangs": source})
    assert failed_plugins(timeout_s=15) == [Failed("aa-hangs", "importing it did not end within 15 s")]


@pytest.mark.more
def test_one_that_changes_what_is_of_the_whole_process_is_named_with_it(plugins):
    source = (
        "import gc, os, signal, sys\n"
        "os.chdir('/'), sys.setrecursionlimit(5000), sys.setswitchinterval(0.5), gc.freeze(), gc.disable()\n"
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
    ) + plugins.properties("x")
    plugins.install("bb-changes", operators={"x": "bb_changes:x"}, modules={"bb_changes": source})
    ((name, reason, extra, works),) = ours(failed_plugins())
    assert (name, extra, works) == ("bb-changes", "", True)
    for what in (
        "the current folder",
        "the recursion limit (1000 -> 5000)",
        "garbage collection (",
        "the switch interval",
        "the handler of SIGUSR1",
    ):
        assert what in reason
    assert "SIGTERM" not in reason
