from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import __main__ as command
from tests.benchmarks import driver, environments
from tests.benchmarks.driver import Process, WorkerError, disagreement, environment, measure
from tests.benchmarks.environments import ENVIRONMENTS, Missing
from tests.benchmarks.rows import ROWS, Row
from tests.benchmarks.work import AbsentError, Fact, Work
from tests.benchmarks.worker import LIBRARIES, Worker, load, serve, shares

pytestmark = pytest.mark.serial

ROW = Row("x + 1, 16x16", "small calls", "call", {"name": "plus one"}, "us")


class InProcess:
    """A worker without a process, which notes who runs."""

    def __init__(self, library: str, make: Callable[..., Any], ran: list[str]) -> None:
        self.library = library
        self._worker, self._ran = Worker(library, "1.0", {ROW.maker: make}), ran

    def ask(self, do: str, **words: Any) -> dict[str, Any]:
        if do == "run":
            self._ran.append(self.library + words["contestant"])
        return json.loads(json.dumps(self._worker.answer({"do": do, **words})))

    def settle(self) -> None:
        pass


def _nothing() -> None:
    pass


def _working(check: dict[str, float] | None = None, **more: Any) -> Callable[..., Work]:
    return lambda name: Work(_nothing, check=None if check is None else lambda: check, **more)


def test_contestants_take_turns_and_each_round_begins_with_another() -> None:
    ran: list[str] = []
    workers = [
        InProcess("operad", _working(beside={"loop": _nothing}), ran),
        InProcess("torch", _working(), ran),
    ]

    measured = measure(ROW, workers, rounds=3, round_s=0.0)

    a, b, c = "operad", "operadloop", "torch"
    assert ran[-9:] == [a, b, c, b, c, a, c, a, b]
    assert {key: len(wall) for key, (wall, _) in measured.rounds.items()} == {
        ("operad", ""): 3, ("operad", "loop"): 3, ("torch", ""): 3,
    }  # fmt: skip


def test_figures_are_of_one_operation() -> None:
    answers = {"prepare": {"contestants": [""], "operations": 10, "check": {}}, "forget": {}}
    answers["profile"] = {"shares": {"tanh forward": 1.0}}

    class Fixed(InProcess):
        def ask(self, do: str, **words: Any) -> dict[str, Any]:
            if do != "run":
                return answers[do]
            return {"wall": 0.5 * words["times"], "cpu": 0.25 * words["times"]}

    measured = measure(ROW, [Fixed("operad", _working(), [])], rounds=2)

    assert measured.rounds["operad", ""] == ([0.05, 0.05], [0.025, 0.025])
    assert measured.shares == {"tanh forward": 1.0}


def test_shares_are_of_the_time_of_all_threads() -> None:
    nodes = [
        ("tanh", "forward", [0.5, 0.1]),
        ("tanh", "backward", [0.1, 0.0]),
        ("tanh", "forward", [0.1, 0.1]),
    ]
    rows = [{"Operator": name, "Pass": way, "Shares": own} for name, way, own in nodes]
    threads = [
        {"Window": 2.0, "Outside nodes": 0.4, "Idle": 0.2},
        {"Window": 2.0, "Outside nodes": 0, "Idle": 1.6},
    ]

    found = shares({"Nodes": rows, "Threads": threads})

    assert list(found) == ["outside operations", "tanh forward", "between nodes", "tanh backward"]
    assert sum(found.values()) == pytest.approx(1.0)
    assert shares({"Nodes": [], "Threads": []}) == {}


def test_a_round_lasts_long_enough_for_the_clock() -> None:
    times: list[int] = []

    class Slow(InProcess):
        def ask(self, do: str, **words: Any) -> dict[str, Any]:
            if do != "run":
                return super().ask(do, **words)
            times.append(words["times"])
            return {"wall": 0.001 * words["times"], "cpu": 0.0}

    measure(ROW, [Slow("operad", _working(), [])], rounds=2, round_s=0.04)

    assert times[:2] == [1, 1]
    assert times[-1] == times[-2] >= 40


def test_a_library_without_the_row_is_left_out() -> None:
    def absent(name: str) -> Work:
        raise AbsentError(name)

    workers = [InProcess("operad", _working(), []), InProcess("jax", absent, [])]

    measured = measure(ROW, workers, rounds=1, round_s=0.0)

    assert set(measured.rounds) == {("operad", "")}
    assert measured.notes == {}
    assert Worker("torch", "1", {}).answer({"do": "prepare", "row": ROW.name}) == {"absent": True}


def test_a_library_that_fails_is_noted_and_the_others_go_on() -> None:
    def failing(name: str) -> Work:
        raise RuntimeError("no primitive")

    workers = [InProcess("operad", _working(), []), InProcess("mxnet", failing, [])]

    measured = measure(ROW, workers, rounds=1, round_s=0.0)

    assert measured.notes == {"mxnet": "failed: RuntimeError: no primitive"}
    assert set(measured.rounds) == {("operad", "")}


def test_a_library_that_fails_in_a_round_has_no_figures_and_the_others_go_on() -> None:
    class Ending(InProcess):
        def ask(self, do: str, **words: Any) -> dict[str, Any]:
            if do == "run" and len(ran) > 6:
                raise WorkerError("ended with -11")
            return super().ask(do, **words)

    ran: list[str] = []
    workers = [InProcess("operad", _working(), ran), Ending("mxnet", _working(), ran)]

    measured = measure(ROW, workers, rounds=4, round_s=0.0)

    assert measured.notes == {"mxnet": "failed: ended with -11"}
    assert {key: len(wall) for key, (wall, _) in measured.rounds.items()} == {("operad", ""): 4}


def test_a_library_that_computes_something_else_is_not_timed() -> None:
    ran: list[str] = []
    workers = [
        InProcess("operad", _working({"w": 2.0}), ran),
        InProcess("torch", _working({"w": 2.001}), ran),
        InProcess("jax", _working({"w": 2.1}), ran),
    ]

    measured = measure(ROW, workers, rounds=1, round_s=0.0)

    assert measured.checked == ["operad", "torch"]
    assert "computes something else: w is 2.1, expected 2" in measured.notes["jax"]
    assert "jax" not in ran


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"a": 1.0, "b": 1e-6}, None),
        ({"a": 1.02, "b": 1e-6}, "a is 1.02, expected 1"),
        ({"a": float("nan"), "b": 1e-6}, "a is nan"),
        ({"a": 1.0, "b": 1e-3}, "b is 0.001"),
        ({"a": 1.0}, r"there are \['a'\], expected \['a', 'b'\]"),
    ],
)
def test_numbers_agree_within_a_hundredth(found: dict[str, float], words: str | None) -> None:
    text = disagreement({"a": 1.0, "b": 2e-6}, found)

    if words is None:
        assert text is None
    else:
        assert text is not None
        assert re.search(words, text)


def test_a_fact_is_not_timed() -> None:
    measured = measure(ROW, [InProcess("operad", lambda name: Fact(50.4), [])], rounds=1)

    assert measured.values == {"operad": 50.4}
    assert measured.rounds == {}


def test_a_worker_answers_a_line_for_a_line() -> None:
    given = io.StringIO('{"do": "about"}\n{"do": "prepare", "row": "x + 1, 16x16"}\n{"do": "jump"}\n')
    answers = io.StringIO()

    serve(Worker("torch", "2.0", {"call": _working({"y": 1.0})}), given, answers)

    about, prepared, failed = map(json.loads, answers.getvalue().splitlines())
    assert (about["library"], about["version"]) == ("torch", "2.0")
    assert prepared == {"contestants": [""], "operations": 1, "check": {"y": 1.0}}
    assert "_jump" in failed["error"]


def test_what_a_library_prints_is_no_answer() -> None:
    with Process("operad", sys.executable, 1) as worker:
        assert worker.ask("about")["library"] == "operad"
        # The program's own file, which prints to its standard output.
        assert worker.ask("prepare", row="import operad")["contestants"] == ["", "numpy"]
        assert worker.ask("run", contestant="numpy", times=1)["wall"] > 0


def test_a_worker_that_ends_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LOGS", tmp_path)
    message = r"no_such_library ended with 1 when asked to about; see "
    with Process("no_such_library", sys.executable, 1) as worker, pytest.raises(WorkerError, match=message):
        worker.ask("about")
    assert "no_such_library" in (tmp_path / "no_such_library-1.log").read_text()


def test_every_library_gets_the_same_number_of_threads() -> None:
    for threads, eigen in ((1, "false"), (2, "true")):
        found = environment({"OMP_NUM_THREADS": "64", "HOME": "/x", "XLA_FLAGS": "--a"}, threads)

        names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "OPERAD")
        assert {found[f"{name}_NUM_THREADS"] for name in names} | {found["NPROC"]} == {str(threads)}
        assert found["XLA_FLAGS"] == f"--xla_cpu_multi_thread_eigen={eigen}"
        assert found["HOME"] == "/x"


def test_rows_have_names_of_their_own_and_somebody_who_makes_them() -> None:
    made = {row.maker for row in ROWS}

    assert len({row.name for row in ROWS}) == len(ROWS)
    assert made <= set(load("operad", 1)._makers)
    assert set(LIBRARIES) == {"operad", "standard", "torch", "jax", "mxnet"}


def test_beside_peers_rows_of_operad_alone_are_left_out_unless_named() -> None:
    assert all(not row.own for row in command.chosen(None, peers=True))
    assert any(row.own for row in command.chosen(None, peers=False))
    assert [row.name for row in command.chosen("^programs: import", peers=True)] == ["import operad"]
    assert command.chosen("no such row", peers=True) == []


def test_without_an_interpreter_the_reason_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "interpreters", lambda: iter(()))
    (mxnet,) = [one for one in ENVIRONMENTS if "mxnet" in one.libraries]

    with pytest.raises(Missing, match=r"no Python 3\.10, 3\.9, 3\.8 was found"):
        environments.made(mxnet, tmp_path)


def test_an_environment_that_stands_is_kept(tmp_path: Path) -> None:
    one = ENVIRONMENTS[0]
    (tmp_path / one.folder).mkdir()
    (tmp_path / one.folder / "installed.txt").write_text("\n".join(" ".join(w) for w in one.installs))

    assert environments.made(one, tmp_path) == tmp_path / one.folder / "bin" / "python"


def test_pip_that_fails_is_a_reason() -> None:
    with pytest.raises(Missing, match="no such command"):
        environments._call([sys.executable, "-c", "raise SystemExit('no such command')"])


@pytest.mark.slow
@pytest.mark.parametrize("library", list(environments.installed()))
def test_every_row_runs(library: str) -> None:
    worker = load(library, 1)
    for row in ROWS:
        answer = worker.answer({"do": "prepare", "row": row.name})
        assert "error" not in answer, (row.name, answer)
        for contestant in answer.get("contestants", []):
            found = worker.answer({"do": "run", "contestant": contestant, "times": 1})
            assert "error" not in found, (row.name, found)
        worker.answer({"do": "forget"})
