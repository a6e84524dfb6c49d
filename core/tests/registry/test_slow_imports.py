"""A plugin whose import takes long, or meets another one, delays and breaks no other plugin."""

from __future__ import annotations

import importlib
import threading
import time
import warnings

import pytest

from operad import first_use, registry
from operad.errors import BrokenPluginError

SLOW = "import gates\ngates.reached.set()\ngates.go.wait()\n"
GATES = "import threading\nreached, met, go = threading.Event(), threading.Event(), threading.Event()\n"


@pytest.fixture
def gates(site):
    """Events for the imports of plugins in other threads, which end with the test."""
    site.write("gates", GATES)
    registry.refresh()
    found = importlib.import_module("gates")
    yield found
    found.go.set()


def asked(*names):
    """A thread that asks for operators, and what it has found or raised."""
    found = []

    def ask():
        for name in names:
            try:
                found.append(registry.get(name).name)
            except BrokenPluginError as error:
                found.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    return thread, found


@pytest.fixture
def polls(monkeypatch):
    """Waits for the lock of first uses."""
    found, sleep = [], time.sleep
    monkeypatch.setattr(first_use.time, "sleep", lambda s: (found.append(s), sleep(0)))
    return found


def test_a_slow_import_delays_no_other_plugin(site, gates, polls):
    names = [f"quick_{number}" for number in range(20)]
    site.install(
        "slow-ops", operators={"slow": "slow_one:slow"}, modules={"slow_one": SLOW + site.properties("slow")}
    )
    for name in names:
        modules = {f"module_{name}": site.properties(name)}
        site.install(f"{name}-ops", operators={name: f"module_{name}:{name}"}, modules=modules)
    registry.refresh()
    slow, got = asked("slow")
    gates.reached.wait()
    assert [registry.get(name).name for name in names] == names
    assert not got
    assert len(polls) < 250, "each use waited for the slow import"
    gates.go.set()
    slow.join()
    assert got == ["slow"]
    assert {record.state for record in registry.plugins()} == {"ok"}
    assert first_use._lock.slow is None
    assert not first_use._lock.beside


def test_a_broken_plugin_beside_a_slow_import_is_named_and_tried_again(site, gates, polls):
    site.install(
        "slow-ops", operators={"slow": "slow_one:slow"}, modules={"slow_one": SLOW + site.properties("slow")}
    )
    broken = {"broken_one": "import gates\nif not gates.go.is_set():\n    raise ValueError('bad day')\n"}
    broken["broken_one"] += site.properties("broken")
    site.install("broken-ops", operators={"broken": "broken_one:broken"}, modules=broken)
    registry.refresh()
    slow, _ = asked("slow")
    gates.reached.wait()
    with pytest.raises(BrokenPluginError, match="bad day"):
        registry.get("broken")
    gates.go.set()
    slow.join()
    assert registry.get("broken").name == "broken"


MEETING = """
import opposite_base
if {0!r} not in opposite_base.once:
    opposite_base.once.add({0!r})
    opposite_base.both.wait()
"""


@pytest.mark.parametrize("wants", ["import {0}", "from {0} import {1}"])
def test_two_threads_that_import_in_opposite_order_both_get_their_operators(site, gates, polls, wants):
    """Each module is half imported when the other one's thread asks Python for it."""
    site.write("opposite_base", "import threading\nboth = threading.Barrier(2)\nonce = set()\n")
    for name, other in (("one", "two"), ("two", "one")):
        module = site.properties(name) + MEETING.format(name) + wants.format(f"opposite_{other}", other)
        site.install(
            f"{name}-ops", operators={name: f"opposite_{name}:{name}"}, modules={f"opposite_{name}": module}
        )
    registry.refresh()
    threads = [asked(name) for name in ("one", "two")]
    for thread, _ in threads:
        thread.join(60)
        assert not thread.is_alive(), "each waits for the other"
    assert [found for _, found in threads] == [["one"], ["two"]]
    assert {record.state for record in registry.plugins()} == {"ok"}


@pytest.mark.parametrize("quick_ends_first", [True, False])
def test_imports_side_by_side_leave_the_programs_settings(site, gates, polls, quick_ends_first):
    """The last one that ends puts back what the first one found."""
    careless = "import warnings\nwarnings.filterwarnings('ignore', 'of a plugin')\n"
    slow = careless + SLOW + site.properties("slow")
    quick = careless + ("" if quick_ends_first else "import gates\ngates.met.set()\ngates.late.wait()\n")
    gates.late = threading.Event()
    site.install("slow-ops", operators={"slow": "slow_one:slow"}, modules={"slow_one": slow})
    site.install(
        "quick-ops",
        operators={"quick": "quick_one:quick"},
        modules={"quick_one": quick + site.properties("quick")},
    )
    registry.refresh()
    before = list(warnings.filters)
    first, _ = asked("slow")
    gates.reached.wait()
    second, got = asked("quick")
    if quick_ends_first:
        second.join()
    else:
        gates.met.wait()
    gates.go.set()
    first.join()
    gates.late.set()
    second.join()
    assert got == ["quick"]
    assert list(warnings.filters) == before
