"""Load of the machine."""

from __future__ import annotations

import os

import pytest

from operad.cli.doctor import load
from operad.cli.doctor.load import Load

QUIET, BUSY = "some avg10=1.25 avg60=9.00 avg300=0.00 total=7\n", "some avg10=98.58 avg60=0.00 total=7\n"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Stands in for the readings: a load average, and the text of `/proc/pressure/cpu`."""

    def set_to(average, pressure, processors=4):
        def averages():
            if average is None:
                raise OSError("no load average")
            return average, 0.0, 0.0

        path = tmp_path / "cpu"
        path.unlink(missing_ok=True)
        if pressure is not None:
            path.write_text(pressure)
        monkeypatch.setattr(load, "CPU_PRESSURE", str(path))
        monkeypatch.setattr(os, "getloadavg", averages)
        monkeypatch.setattr(os, "cpu_count", lambda: processors)

    return set_to


@pytest.mark.parametrize(
    ("average", "pressure", "expected", "is_heavy"),
    [
        (0.2, QUIET, Load(4, 0.2, 1.25), False),
        (9.0, QUIET, Load(4, 9.0, 1.25), False),  # threads that wait for disks count in the average
        (0.2, BUSY, Load(4, 0.2, 98.58), True),
        (0.2, "some avg10=20.00", Load(4, 0.2, 20.0), True),
        (4.0, None, Load(4, 4.0, None), False),
        (4.1, None, Load(4, 4.1, None), True),
        (4.1, "some avg10=much", Load(4, 4.1, None), True),
        (4.1, "", Load(4, 4.1, None), True),
        (None, None, Load(4, None, None), False),
        (None, BUSY, Load(4, None, 98.58), True),
    ],
)
def test_a_machine_is_busy_where_threads_wait_for_processors(machine, average, pressure, expected, is_heavy):
    machine(average, pressure)
    assert load.current_load() == expected
    assert expected.is_heavy is is_heavy
    assert [finding.level for finding in load.load_findings(expected)] == ["advice"] * is_heavy


def test_a_busy_machine_is_advice_with_its_figures(acme, run, run_json, findings, machine):
    machine(7.26, BUSY)
    text = "load average 7.3 on 4 processors; threads waited in 99 % of the last 10 s"
    assert findings("load") == [("advice", f"the machine is busy: {text}")]
    assert run_json("doctor")["load"] == {"processors": 4, "average": 7.26, "waiting_percent": 98.58}
    assert text in " ".join(run("doctor").stdout.split())


def test_a_quiet_machine_is_no_finding(acme, run, findings, machine):
    machine(0.5, QUIET)
    assert findings("load") == []
    assert "load average 0.5 on 4 processors" in run("doctor").stdout


def test_a_load_that_the_system_does_not_tell_is_unknown(acme, run, run_json, findings, machine):
    machine(None, None)
    assert findings("load") == []
    assert run_json("doctor")["load"]["average"] is None
    assert Load(1, None, None).text() == "unknown"
