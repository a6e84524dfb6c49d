"""What the counted stages say of a pipeline, in figures, in the progress bar and in `operad profile`."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import operad as od
from core.tests.as_found import stages_as_found
from operad.profiler import StageFigures
from operad_module.pipeline import Pipeline


@pytest.fixture(autouse=True)
def _left_as_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from stages_as_found(monkeypatch)


def pipeline(**seconds: float) -> Pipeline:
    """Stages that one thread did, ten times each."""
    return Pipeline({name: StageFigures(10, total_s, 1) for name, total_s in seconds.items()})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            pipeline(wait=3, compute=1, read=2, decode=3),
            "waited for data 75% of the time; slow stage: 'decode'",
        ),
        (pipeline(wait=0.05, compute=4, decode=3), "waited for data 1% of the time; slow stage: 'compute'"),
        (
            pipeline(wait=3, compute=1),
            "waited for data 75% of the time; slow stage: the loader, which counts no stages",
        ),
        (pipeline(read=2), "slow stage: 'read'; no trainer counted how long it waited for data"),
    ],
)
def test_the_slow_stage_is_named(found: Pipeline, said: str) -> None:
    assert found.conclusion() == said


def test_a_stage_of_several_threads_is_as_slow_as_one_of_them() -> None:
    found = Pipeline({**pipeline(wait=3, compute=1, read=2).stages, "decode": StageFigures(10, 6.0, 4)})
    assert found.slow_stage == "read"


def test_figures_are_of_the_time_between_two_readings() -> None:
    before = pipeline(read=2.0, copy=1.0)
    now = Pipeline(
        {"read": StageFigures(14, 5.0, 2), "copy": before.stages["copy"], "wait": StageFigures(1, 1.0, 1)}
    )
    assert now.since(before).stages == {"read": (4, 3.0, 2), "wait": (1, 1.0, 1)}


def test_the_table_has_a_line_per_stage_the_longest_first() -> None:
    head, *lines = pipeline(read=1.0, decode=2.0).table()
    assert head.split() == ["stage", "runs", "seconds", "threads", "s/thread", "ms/run"]
    assert [line.split() for line in lines] == [
        ["decode", "10", "2.000", "1", "2.000", "200.000"],
        ["read", "10", "1.000", "1", "1.000", "100.000"],
    ]


def test_fit_and_iterators_count_their_stages(network: Any, drawn: Any) -> None:
    before = Pipeline.so_far()
    od.profiler.count_stages()
    batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8)
    od.mod.Module(network).fit(batches, num_epoch=2)
    runs = {name: one.runs for name, one in Pipeline.so_far().since(before).stages.items()}
    # Three batches and the end in each of two epochs; a batch is two arrays.
    assert runs == {"wait": 8, "read": 12, "copy": 12, "compute": 6}


def test_the_progress_bar_ends_an_epoch_with_the_slow_stage(network: Any, drawn: Any, caplog: Any) -> None:
    batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8)
    with caplog.at_level("INFO"):
        od.mod.Module(network).fit(batches, num_epoch=1, batch_end_callback=od.callback.ProgressBar(3))
    lines = [record.getMessage() for record in caplog.records if "slow stage" in record.getMessage()]
    assert len(lines) == 1
    assert re.fullmatch(r"Epoch\[0\] waited for data \d+% of the time; slow stage: '\w+'", lines[0])


def profiled(folder: Path, program: str, *args: str, options: tuple[str, ...] = ()) -> Any:
    click_testing = pytest.importorskip("click.testing")
    from operad.cli import main

    (folder / "train.py").write_text(program)
    return click_testing.CliRunner().invoke(main, ["profile", *options, str(folder / "train.py"), *args])


def test_operad_profile_runs_a_program_and_names_what_is_slow(tmp_path: Path) -> None:
    done = profiled(
        tmp_path,
        "import sys\nimport operad as od\nprint(sys.argv[1:])\nwith od.profiler.stage('decode'): pass\n",
        "--epochs", "3",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    first, *_, last = done.output.splitlines()
    assert (first, last.split(";")[0][:11]) == ("['--epochs', '3']", "slow stage:")
    assert re.search(r"^decode +1 ", done.output, re.MULTILINE)


def test_operad_profile_shows_figures_of_a_program_that_fails(tmp_path: Path) -> None:
    done = profiled(tmp_path, "import operad as od\nwith od.profiler.stage('decode'): raise SystemExit(3)\n")
    assert done.exit_code == 3
    assert "slow stage" in done.output


NETWORK = (
    "import operad as od\n"
    "executor = od.sym.tanh(od.sym.var('x'), name='act').simple_bind(x=(3,))\n"
    "executor.forward()[0].wait_to_read()\n"
)


def test_operad_profile_shows_the_nodes_of_graphs_if_wanted(tmp_path: Path) -> None:
    pytest.importorskip("operad_profiler", reason="it records the nodes")
    row = re.compile(r"^act +tanh +forward +tanh\.forward +1 ", re.MULTILINE)
    for options, is_shown in (((), True), (("--no-nodes",), False)):
        done = profiled(tmp_path, NETWORK, options=options)
        assert done.exit_code == 0, done.output
        assert bool(row.search(done.output)) == is_shown


@pytest.mark.parametrize(
    ("first", "last", "shows_row"),
    [
        ("", "raise SystemExit(3)", True),
        ("od.profiler.set_config(aggregate_stats=False)", "od.profiler.stop()", True),
        ("od.profiler.set_config(filename='{folder}/trace.json')", "od.profiler.dump()", False),
    ],
)
def test_operad_profile_leaves_the_profiler_to_a_program_that_uses_it(
    tmp_path: Path, first: str, last: str, shows_row: bool
) -> None:
    pytest.importorskip("operad_profiler", reason="it records the nodes")
    program = f"import operad as od\n{first.format(folder=tmp_path)}\n{NETWORK}{last}\n"
    done = profiled(tmp_path, program)
    assert done.exit_code == (3 if "SystemExit" in last else 0), done.output
    assert bool(re.search(r"^act +tanh", done.output, re.MULTILINE)) == shows_row


def test_nobody_counts_after_operad_profile(tmp_path: Path) -> None:
    profiled(tmp_path, "pass")
    before = Pipeline.so_far()
    with od.profiler.stage("read"):
        threading.get_ident()
    assert Pipeline.so_far().since(before).stages == {}
