"""The iterators over images count what they do, so that training can name the stage that is slow."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import operad as od
from core.tests.as_found import stages_as_found

SHAPE = (3, 48, 64)
SLOW_S = 10.0
"""What a stage that is made slow takes for an image."""


@pytest.fixture(autouse=True)
def _left_as_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield from stages_as_found(monkeypatch)


@pytest.fixture
def slowed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], None]:
    """Makes a function slow by the clock that stages are counted with, where all else takes no time."""
    slow, passed = itertools.count(1), [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: passed[0])

    def make_slow(owner: Any, name: str) -> None:
        fast = getattr(owner, name)

        def takes_long(*given: Any, **named: Any) -> Any:
            passed[0] = SLOW_S * next(slow)
            return fast(*given, **named)

        monkeypatch.setattr(owner, name, takes_long)

    return make_slow


def of_records(records: Path, **given: Any) -> Any:
    options = {"data_shape": SHAPE, "batch_size": 5, "brightness": 0.1, **given}
    return od.io.ImageRecordIter(path_imgrec=str(records), **options)


def counted(batches: Any) -> dict[str, Any]:
    """Runs and seconds of each stage of a pass."""
    before = od.profiler.stages()
    od.profiler.count_stages()
    for _ in batches:
        pass
    od.profiler.count_stages(False)
    return {
        name: (now.runs - before[name].runs, now.total_s - before[name].total_s)
        if name in before
        else (now.runs, now.total_s)
        for name, now in od.profiler.stages().items()
    }


def test_every_image_is_read_decoded_augmented_and_copied(records: Path) -> None:
    found = counted(of_records(records, preprocess_threads=3))
    stages = {name: found[name] for name in ("read", "decode", "augment", "copy")}
    assert {name: runs for name, (runs, _) in stages.items()} == dict.fromkeys(stages, 10)
    assert all(seconds > 0 for _, seconds in stages.values())


def test_augmenters_in_python_are_counted_too(records: Path) -> None:
    found = counted(od.image.ImageIter(5, SHAPE, path_imgrec=str(records)))
    # The two batches are copied once more, to where arrays are.
    assert {name: found[name][0] for name in ("read", "decode", "augment", "copy")} == {
        "read": 10, "decode": 10, "augment": 10, "copy": 12,
    }  # fmt: skip


def test_what_is_compiled_for_the_first_image_is_a_stage_of_its_own(records: Path) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    batches = of_records(records, preprocess_threads=1)
    found = counted(batches)
    assert {name: found[name][0] for name in ("compile", "copy")} == {"compile": 1, "copy": 10}


SLOW = [
    ("filling", "decoded", "decode"),
    ("record_iter", "coloured", "augment"),
    ("samples.Records", "read", "read"),
]


def trained(batches: Any) -> None:
    scores = od.sym.FullyConnected(od.sym.Flatten(od.sym.var("data")), num_hidden=10)
    od.mod.Module(od.sym.SoftmaxOutput(scores, name="softmax")).fit(
        batches, num_epoch=1, batch_end_callback=od.callback.ProgressBar(5)
    )


@pytest.mark.parametrize(("module", "function", "stage"), SLOW)
def test_training_names_the_stage_that_is_slow(
    records: Path, slowed: Any, caplog: Any, module: str, function: str, stage: str
) -> None:
    import operad_image.record_iter
    import operad_image.samples

    owner: Any = operad_image
    for name in module.split("."):
        owner = getattr(owner, name)
    slowed(owner, function)
    # One thread, and nothing ahead: whoever looks at the clock while it jumps is the stage that is slow.
    batches = of_records(records, batch_size=2, preprocess_threads=1, prefetch_buffer=0)
    with caplog.at_level("INFO"):
        trained(batches)
    (said,) = [record.getMessage() for record in caplog.records if "slow stage" in record.getMessage()]
    assert said.endswith(f"slow stage: {stage!r}")


def test_operad_profile_shows_the_stages_of_an_image_iterator(records: Path, tmp_path: Path) -> None:
    pytest.importorskip("operad_module", reason="it has the command")
    testing = pytest.importorskip("click.testing")
    from operad.cli import main

    program = tmp_path / "count.py"
    program.write_text(
        "import sys, operad as od\n"
        "made = od.io.ImageRecordIter(path_imgrec=sys.argv[1], data_shape=(3, 48, 64), batch_size=5)\n"
        "print(len(list(made)))\n"
    )
    done = testing.CliRunner().invoke(main, ["profile", str(program), str(records)])
    assert done.exit_code == 0, done.output
    assert set(re.findall(r"^(\w+) +10 ", done.output, re.MULTILINE)) == {"read", "decode", "augment", "copy"}
