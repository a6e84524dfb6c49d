"""Checkpoints that `fit` goes on from: which are written, found, refused and removed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, FormatError, ParamError, UnsupportedError
from operad_module.exact_checkpoint import newest
from plugins.module.tests.conftest import StoppedError, gone_on, stop_at


@pytest.fixture
def fit(network: Any, drawn: Any, tmp_path: Path) -> Any:
    """Train for two epochs of three batches; gives the weights."""

    def fit(**given: Any) -> dict[str, Any]:
        batches = od.io.NDArrayIter(drawn.data, drawn.labels, 8, shuffle=True, seed=3)
        module = od.mod.Module(network)
        options = {"num_epoch": 2, "arg_params": drawn.params, "optimizer_params": {"momentum": 0.9}, **given}
        module.fit(options.pop("data", batches), **options)
        return {name: array.asnumpy() for name, array in module.get_params()[0].items()}

    return fit


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return str(tmp_path / "runs" / "net")


def names(prefix: str) -> list[str]:
    return sorted(path.name for path in Path(prefix).parent.iterdir())


def assert_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    for name, value in left.items():
        np.testing.assert_array_equal(value, right[name], err_msg=name)


@pytest.mark.parametrize(
    ("interval", "at"),
    [
        ({"every_batches": 2}, (1, 2)),
        ({"every_batches": 3}, (1, 0)),
        ({"every_epochs": 1}, (1, 1)),
        ({}, (0, 1)),
    ],
)
def test_training_goes_on_as_if_it_had_not_stopped(fit: Any, prefix: str, interval: Any, at: Any) -> None:
    assert_same(gone_on(fit, od.callback.Checkpoint(prefix, **interval), *at), fit())


def test_epochs_number_checkpoints_as_mxnet_does(fit: Any, prefix: str) -> None:
    weights = fit(checkpoint=od.callback.Checkpoint(prefix))
    assert names(prefix) == [
        "net-0001.params", "net-0001.resume", "net-0002.params", "net-0002.resume", "net-symbol.json",
    ]  # fmt: skip
    _, arg_params, _ = od.model.load_checkpoint(prefix, 2)
    assert_same(weights, {name: array.asnumpy() for name, array in arg_params.items()})


def test_batches_of_all_epochs_number_checkpoints_and_the_newest_stay(fit: Any, prefix: str) -> None:
    fit(checkpoint=od.callback.Checkpoint(prefix, every_batches=1, keep=2))
    assert names(prefix) == [
        "net-0005.params", "net-0005.resume", "net-0006.params", "net-0006.resume", "net-symbol.json",
    ]  # fmt: skip


def test_finished_training_is_not_done_again(fit: Any, prefix: str) -> None:
    checkpoint, seen = od.callback.Checkpoint(prefix), list[Any]()
    weights = fit(checkpoint=checkpoint)
    assert_same(fit(checkpoint=checkpoint, resume=True, batch_end_callback=seen.append), weights)
    assert not seen


def test_a_metric_goes_on_in_the_middle_of_an_epoch(fit: Any, prefix: str) -> None:
    def seen_of(**given: Any) -> list[Any]:
        seen: list[Any] = []
        fit(
            eval_metric=["acc", "ce"],
            batch_end_callback=lambda param: seen.append(param.eval_metric.get_name_value()),
            **given,
        )
        return seen

    checkpoint = od.callback.Checkpoint(prefix, every_batches=2)
    with pytest.raises(StoppedError):
        fit(eval_metric=["acc", "ce"], checkpoint=checkpoint, batch_end_callback=stop_at(1, 2))
    assert seen_of(checkpoint=checkpoint, resume=True) == seen_of()[4:]


def test_a_prefix_or_a_file_says_where_to_go_on(fit: Any, prefix: str) -> None:
    whole = fit(checkpoint=od.callback.Checkpoint(prefix, every_batches=2))
    for resume in (prefix, f"{prefix}-0002.resume"):
        assert_same(fit(resume=resume), whole)


def test_older_checkpoints_are_not_mixed_with_training_from_the_beginning(fit: Any, prefix: str) -> None:
    checkpoint = od.callback.Checkpoint(prefix)
    fit(checkpoint=checkpoint)
    with pytest.raises(
        ArgumentError, match=r"checkpoints already, up to .*net-0002\.resume'; give resume=True"
    ):
        fit(checkpoint=checkpoint)


@pytest.mark.parametrize(
    ("resume", "message"),
    [(True, "resume=True without checkpoint="), ("nowhere", "no checkpoint with that prefix")],
)
def test_going_on_from_nothing_is_an_error(fit: Any, resume: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        fit(resume=resume)


def test_numbers_of_one_prefix_count_one_thing(fit: Any, prefix: str) -> None:
    fit(checkpoint=od.callback.Checkpoint(prefix))
    with pytest.raises(ArgumentError, match="is numbered by epochs, and checkpoint= numbers by batches"):
        fit(checkpoint=od.callback.Checkpoint(prefix, every_batches=2), resume=True)


@pytest.mark.parametrize("kind", ["params", "resume"])
def test_a_damaged_checkpoint_is_named_with_the_last_good_one(fit: Any, prefix: str, kind: str) -> None:
    checkpoint = od.callback.Checkpoint(prefix)
    whole = fit(checkpoint=checkpoint)
    damaged = Path(f"{prefix}-0002.{kind}")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-9] + b"#" + content[-8:])
    with pytest.raises(FormatError, match=rf"net-0002\.{kind}' is damaged.*give resume='.*net-0001\.resume'"):
        fit(checkpoint=checkpoint, resume=True)
    assert_same(fit(checkpoint=checkpoint, resume=f"{prefix}-0001.resume"), whole)


def test_where_nothing_is_good_the_error_says_so(fit: Any, prefix: str) -> None:
    fit(checkpoint=od.callback.Checkpoint(prefix, keep=1))
    Path(f"{prefix}-0002.params").unlink()
    with pytest.raises(FormatError, match=r"net-0002\.params' is missing.*no other is good"):
        fit(resume=prefix)


def test_parameters_without_their_third_file_are_no_checkpoint(fit: Any, prefix: str) -> None:
    checkpoint = od.callback.Checkpoint(prefix)
    whole = fit(checkpoint=checkpoint)
    Path(f"{prefix}-0002.resume").unlink()
    Path(f"{prefix}-0002.params").write_bytes(b"half")
    assert_same(fit(checkpoint=checkpoint, resume=True), whole)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"eval_metric": "ce"}, "state of a Accuracy as metric, and there is CrossEntropy"),
        ({"eval_end_callback": od.callback.EarlyStop()}, "0 states of callback, and there are 1"),
        (
            {"data": od.io.NDArrayIter(np.zeros((9, 5)), np.zeros(9), 8, shuffle=True, seed=3)},
            "with count 24",
        ),
    ],
)
def test_a_checkpoint_of_another_program_is_refused(fit: Any, prefix: str, given: Any, message: str) -> None:
    fit(checkpoint=od.callback.Checkpoint(prefix))
    with pytest.raises(FormatError, match=f"net-0002.resume' does not fit this program: .*{message}"):
        fit(resume=prefix, **given)


def test_data_that_cannot_say_where_it_is_is_refused_before_training(
    fit: Any, prefix: str, drawn: Any, batches_of: Any
) -> None:
    seen: list[Any] = []
    with pytest.raises(UnsupportedError, match="Batches has no state_dict"):
        fit(
            data=batches_of(drawn.data, drawn.labels, 8),
            checkpoint=od.callback.Checkpoint(prefix),
            batch_end_callback=seen.append,
        )
    assert not seen


@pytest.mark.parametrize(
    "given",
    [{"every_epochs": 0}, {"every_batches": -1}, {"keep": 0}, {"every_epochs": 1, "every_batches": 1}],
)
def test_an_interval_must_make_sense(given: Any) -> None:
    with pytest.raises(ParamError, match=r"Checkpoint: .*every_|Checkpoint: keep is 0"):
        od.callback.Checkpoint("net", **given)


def test_what_is_no_checkpoint_is_refused(fit: Any) -> None:
    with pytest.raises(ArgumentError, match=r"checkpoint is 'net', expected callback\.Checkpoint"):
        fit(checkpoint="net")


def scored(stop: Any, *values: float) -> None:
    """Show a callback one value per epoch."""
    for epoch, value in enumerate(values):
        metric = SimpleNamespace(get_name_value=lambda value=value: [("acc", value), ("other", -value)])
        stop(od.model.BatchEndParam(epoch, 0, metric, None))


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({}, [0.5, 0.6, 0.6, 0.5]),
        ({"mode": "min"}, [0.5, 0.4, 0.4, 0.5]),
        ({"metric": "other", "mode": "min"}, [0.5, 0.6, 0.6, 0.5]),
        ({"min_delta": 0.2}, [0.5, 0.6, 0.6]),
        ({}, [float("nan")] * 2),
    ],
)
def test_training_stops_when_nothing_gets_better(given: Any, values: list[float]) -> None:
    scored(od.callback.EarlyStop(patience=2, **given), *values[:-1])
    with pytest.raises(od.callback.StopTraining, match="stopped early"):
        scored(od.callback.EarlyStop(patience=2, **given), *values)


def test_fit_ends_where_a_callback_says_so(fit: Any, caplog: Any) -> None:
    seen: list[Any] = []

    def stop(param: Any) -> None:
        seen.append(param.nbatch)
        if param.nbatch == 1:
            raise od.callback.StopTraining("enough")

    with caplog.at_level("INFO"):
        fit(batch_end_callback=stop)
    assert (seen, caplog.records[-1].getMessage()) == ([0, 1], "enough")


def test_early_stop_remembers_what_it_saw_before_a_break(fit: Any, prefix: str, drawn: Any) -> None:
    def stopped(**given: Any) -> tuple[float, int]:
        stop = od.callback.EarlyStop(patience=9)
        held_out = od.io.NDArrayIter(drawn.data, drawn.labels, 8)
        fit(eval_data=held_out, eval_end_callback=stop, num_epoch=3, **given)
        return stop.best, stop.best_epoch

    checkpoint = od.callback.Checkpoint(prefix)
    whole = stopped()
    with pytest.raises(StoppedError):
        stopped(checkpoint=checkpoint, batch_end_callback=stop_at(2, 0))
    assert stopped(checkpoint=checkpoint, resume=True) == whole


class Shared(od.kvstore.KVStore):  # type: ignore[misc]
    """A store of one process that stands for one of two workers."""

    is_back = False

    def __init__(self, others_newest: int = 0) -> None:
        super().__init__("local")
        self._others_newest = others_newest
        self.meetings: list[list[str]] = []
        self.prefix = ""

    def gather(self, number: int) -> list[int]:
        return [number, self._others_newest]

    def barrier(self) -> None:
        if self.prefix:
            self.meetings.append([name for name in names(self.prefix) if name.endswith(".resume")])


def test_workers_go_on_from_the_newest_checkpoint_that_all_have(fit: Any, prefix: str) -> None:
    undisturbed = fit(checkpoint=od.callback.Checkpoint(prefix), num_epoch=3, kvstore=Shared())
    for others, found in ((3, 3), (2, 2), (0, None)):
        saved = newest(prefix, Shared(others).gather)
        assert (None if saved is None else saved.state["place"][0]) == found
    again = fit(
        checkpoint=od.callback.Checkpoint(prefix), num_epoch=3, resume=True, kvstore=Shared(others_newest=1)
    )
    assert_same(again, undisturbed)


def test_no_checkpoint_is_removed_before_all_workers_have_the_next(fit: Any, prefix: str) -> None:
    store = Shared()
    store.prefix = prefix
    fit(checkpoint=od.callback.Checkpoint(prefix, keep=1), num_epoch=3, kvstore=store)
    first, second, third = (f"net-000{number}.resume" for number in (1, 2, 3))
    assert store.meetings == [[first], [first, second], [second, third]]
    assert [name for name in names(prefix) if name.endswith(".resume")] == [third]


def test_fit_in_the_place_of_a_worker_of_a_job_that_goes_on_is_refused(fit: Any) -> None:
    store = Shared()
    store.is_back = True
    with pytest.raises(ArgumentError, match="leave out OPERAD_KV_ON_LOSS, so that the whole job"):
        fit(kvstore=store)
