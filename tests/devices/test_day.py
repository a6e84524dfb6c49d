"""A day on a device, on the stand-in: each stage can fail, and one that dies leaves what was done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from core.tests.devices.arrays import functions
from core.tests.devices.present import why_no_gpu
from core.tests.devices.streams import Event
from tests.devices import odd_stage
from tests.devices.day import benchmarks, memory, operators, programs, streams
from tests.devices.day.records import BEGUN, NOT_RUN, PASSED, Outcome, Record, page, read, write
from tests.devices.day.running import ROOT, run_day
from tests.devices.day.stages import STAGES, Stage

on_stand_in = pytest.mark.skipif(why_no_gpu() is None, reason="patches the stand-in, and a GPU is there")


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which cases of `odd_stage` note that they ran."""
    monkeypatch.setenv("ODD_STAGE_NOTES", str(tmp_path / "noted"))
    return tmp_path / "noted"


def odd_day(folder: Path, seconds: float = 600, **options: Any) -> dict[str, Record]:
    stage = Stage("odd", "all ends", 1, module=odd_stage.__name__)
    (outcome,) = run_day(folder, [stage], "stand-in", "none", seconds, **options)
    return {name.partition(": ")[2]: record for name, record in outcome.cases.items()}


@pytest.mark.more
def test_a_case_that_fails_or_dies_costs_itself_alone(tmp_path: Path, noted: Path) -> None:
    found = odd_day(tmp_path, word="ended")
    assert {name: record.result for name, record in found.items()} == {
        "passes": PASSED, "fails": "failed", "dies": "died", "measures": PASSED,
    }  # fmt: skip
    assert "two is not three" in found["fails"].message
    assert "exit status -9" in found["dies"].message
    assert found["measures"].figures == {"sum": 3.0}
    written = (tmp_path / "results.md").read_text()
    assert "| odd | all ends | 4 | 2 | 0 | 2 |" in written
    assert "## odd: ended: dies died" in written
    assert odd_day(tmp_path, word="ended") == found
    assert noted.read_text().splitlines() == odd_stage.names()[:4]


@pytest.mark.more
def test_a_case_that_hangs_is_ended(tmp_path: Path, noted: Path) -> None:
    found = odd_day(tmp_path, word="stuck", case_limit_s=2)
    assert [record.result for record in found.values()] == ["hung", PASSED]


def test_a_stage_without_time_says_what_did_not_run(tmp_path: Path) -> None:
    write(tmp_path / "odd-0.jsonl", Record("ended: passes", PASSED))
    write(tmp_path / "odd-0.jsonl", Record("ended: fails", BEGUN))
    found = odd_day(tmp_path, seconds=0)
    assert [record.result for record in found.values()] == [PASSED, *[NOT_RUN] * 5]


def test_a_line_that_was_cut_short_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    write(file, Record("whole", PASSED, 1.5, figures={"us": 2}))
    with file.open("a") as lines:
        lines.write('{"case": "cut", "res')
    assert read(file) == {"whole": Record("whole", PASSED, 1.5, figures={"us": 2})}


def test_the_page_shows_the_end_of_a_failure_and_figures() -> None:
    failed = Record("a", "failed", message="first\n" * 20 + "last")
    cases = {"a": failed, "b": Record("b", PASSED, figures={"us": 1.23456})}
    text = page("a device", [Outcome("stage", "a rule", cases, 1.6)])
    assert "| stage | a rule | 2 | 1 | 0 | 1 | 2 |" in text
    assert text.count("    first") == 11
    assert "| b | us 1.23 |" in text


@pytest.mark.more
def test_the_stages_take_eight_minutes_at_most_and_have_cases() -> None:
    assert sum(stage.seconds for stage in STAGES) <= 480
    for stage in STAGES:
        names = stage.load().names()
        assert len(names) == len(set(names)) > 3, stage.name
    assert {"core/tests/storage/test_cuda.py", "tests/devices/test_programs.py"} <= set(programs.names())


def test_without_a_device_the_day_says_so_and_runs_nothing(tmp_path: Path) -> None:
    if why_no_gpu() is None:
        pytest.skip("a GPU is there")
    command = [sys.executable, "-m", "tests.devices.day", "--results", str(tmp_path / "new")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert 'on a stand-in for CuPy: make test-gpu GPU_ARGS="--stand-in"' in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("gpu")
class TestStages:
    @pytest.mark.parametrize("name", streams.names())
    def test_programs_are_right_though_their_operations_begin_late(self, name: str) -> None:
        streams.run(name)

    @on_stand_in
    @pytest.mark.parametrize("name", streams.names())
    def test_programs_are_wrong_where_the_engine_does_not_wait(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program, seen = streams.PROGRAMS[name], set()
        where = (od.gpu(0), od.gpu(1)) if name == "draws" else (od.cpu(), od.cpu())
        expected = [array.asnumpy() for array in program(*where)]
        for ctx in (od.gpu(0), od.gpu(1)):
            od.nd.release_idle_memory(ctx)  # it may hold what is right
        with monkeypatch.context() as patch:
            patch.setattr(Event, "synchronize", lambda event: seen.add(event._stream))
            found = [array.asnumpy() for array in program(od.gpu(0), od.gpu(1))]
        assert not all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        for stream in seen:
            stream.synchronize()

    @pytest.mark.parametrize("name", memory.names())
    def test_memory_stays_and_goes_back(self, name: str) -> None:
        memory.run(name)

    def test_memory_that_grows_is_found(self) -> None:
        kept = []
        with pytest.raises(AssertionError, match="bytes more in use after"):
            memory._grows(lambda: kept.append(od.nd.ones((1000,), ctx=od.gpu(0))))

    @pytest.mark.parametrize("name", ["tanh", "FullyConnected"])
    def test_operators_are_compared_with_the_cpu(self, name: str) -> None:
        operators.run(name)

    @on_stand_in
    def test_an_operator_that_is_wrong_on_the_device_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        right = functions.sqrt
        monkeypatch.setattr(
            functions, "sqrt", lambda *args, **keywords: right(*args, **keywords).__imul__(1.01)
        )
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            operators.run("sqrt")

    def test_times_are_measured_beside_the_cpus(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(benchmarks, "BESIDE_TORCH", {"small": (benchmarks.small_call, 2)})
        found = benchmarks.run("small")
        assert found["device/CPU"] == found["us"] / found["us on the CPU"] > 0


@pytest.mark.slow
def test_the_day_passes_on_the_stand_in(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.devices.day", "--stand-in", "--results", str(tmp_path)]
    done = subprocess.run(
        [*command, "--seconds", "3000"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing here says anything of a GPU" in done.stdout
