from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od


class Metric:
    """A metric whose value is 0.5 until it starts over."""

    def __init__(self) -> None:
        self.resets = 0

    def get_name_value(self) -> list[tuple[str, float]]:
        return [("accuracy", 0.5)]

    def reset_local(self) -> None:
        self.resets += 1


def run(callback: Any, metric: Any, batches: int, epoch: int = 0) -> None:
    for nbatch in range(batches):
        callback(od.model.BatchEndParam(epoch, nbatch, metric, None))


def lines(caplog: Any) -> list[str]:
    return [re.sub(r"[\d.]+ (samples|batches)", r"N \1", record.getMessage()) for record in caplog.records]


@pytest.fixture
def logged(caplog: Any) -> Any:
    with caplog.at_level("INFO"):
        yield caplog


@pytest.mark.parametrize(
    ("auto_reset", "begins", "resets"), [(True, (0, 2), 4), (False, (0, 0), 0)], ids=["resets", "keeps"]
)
def test_speed_and_metric_are_logged_every_few_batches(
    logged: Any, auto_reset: bool, begins: Any, resets: int
) -> None:
    metric, callback = Metric(), od.callback.Speedometer(8, 2, auto_reset)
    run(callback, metric, 5, epoch=0)
    run(callback, metric, 5, epoch=1)
    assert lines(logged) == [
        f"Epoch[{epoch}] Batch [{begin}-{end}]\tSpeed: N samples/sec\taccuracy=0.500000"
        for epoch in range(2)
        for begin, end in zip(begins, (2, 4), strict=True)
    ]
    assert metric.resets == resets


def test_the_training_metric_is_logged(logged: Any) -> None:
    metric = Metric()
    run(od.callback.log_train_metric(2, auto_reset=True), metric, 3)
    assert lines(logged) == [f"Iter[0] Batch[{n}] Train-accuracy=0.500000" for n in (0, 2)]
    assert metric.resets == 2


def test_the_validation_metric_is_logged(logged: Any) -> None:
    od.callback.LogValidationMetricsCallback()(od.model.BatchEndParam(3, 7, Metric(), None))
    assert lines(logged) == ["Epoch[3] Validation-accuracy=0.500000"]


def test_checkpoints_are_written_every_period(network: Any, tmp_path: Path) -> None:
    save = od.callback.do_checkpoint(str(tmp_path / "net"), period=2)
    for epoch in range(4):
        save(epoch, network, {"w": od.nd.zeros(1)}, {})
    assert sorted(path.name for path in tmp_path.glob("*.params")) == ["net-0002.params", "net-0004.params"]


def test_modules_write_their_own_checkpoints() -> None:
    seen: list[Any] = []

    class Saving:
        def save_checkpoint(self, *given: Any) -> None:
            seen.append(given)

    save = od.callback.module_checkpoint(Saving(), "net", period=2, save_optimizer_states=True)
    for epoch in range(4):
        save(epoch, None, {}, {})
    assert seen == [("net", 2, True), ("net", 4, True)]


def test_progress_in_a_pipe_is_a_line_per_tenth(logged: Any) -> None:
    run(od.callback.ProgressBar(total=40), None, 40, epoch=1)
    found = lines(logged)
    assert len(found) == 10
    assert (found[0], found[-1]) == (
        "Epoch[1] Batch [4/40] 10%\tN batches/sec",
        "Epoch[1] Batch [40/40] 100%\tN batches/sec",
    )


def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    pytest.importorskip("rich")
    made = io.StringIO()
    monkeypatch.setattr(made, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def trained(**given: Any) -> od.mod.Module:
    network = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=2), name="softmax")
    batches = od.io.NDArrayIter(np.ones((6, 3)), np.ones(6), 2)
    module = od.mod.Module(network)
    module.fit(batches, batches, num_epoch=2, **given)
    return module


def test_loops_show_progress_on_a_terminal_unless_they_have_a_callback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = terminal(monkeypatch)
    trained()
    for text in ("Epoch[0]", "3/?", "Epoch[1]", "3/3", "Score[1]"):
        assert text in shown.getvalue()
    shown.truncate(0)
    trained(batch_end_callback=lambda _: None, eval_batch_end_callback=lambda _: None)
    assert shown.getvalue() == ""


def test_a_loop_that_fails_leaves_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(od.mod.Module, "update", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            trained()
    trained()  # a second live bar would be refused


def test_loops_are_quiet_elsewhere(capfd: pytest.CaptureFixture[str]) -> None:
    trained()
    assert capfd.readouterr() == ("", "")


def test_progress_on_a_terminal_is_a_bar(logged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    run(od.callback.ProgressBar(total=4, length=10), None, 4)
    assert "4/4" in shown.getvalue()
    assert "batches/sec" in shown.getvalue()
    assert not lines(logged)


def test_each_line_of_json_has_the_place_and_the_metric(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    run(od.callback.JSONLines(path, "train", period=2), Metric(), 3, epoch=4)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row.pop("time_s") > 0 for row in rows] == [True, True]
    assert rows == [{"epoch": 4, "nbatch": n, "train-accuracy": 0.5} for n in (0, 2)]


@pytest.mark.serial
def test_a_line_that_cannot_be_written_whole_is_not_there_and_the_error_names_the_file(
    tmp_path: Path,
) -> None:
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX ones")
    path = tmp_path / "train.jsonl"
    log = od.callback.JSONLines(path)
    run(log, Metric(), 1)
    whole, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 10, limits[1]))
    try:
        with pytest.raises(od.OperadError, match=r"writing .*train\.jsonl") as raised:
            run(log, Metric(), 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(raised.value, OSError)
    assert path.read_bytes() == whole


def test_what_is_no_number_is_null_in_json(tmp_path: Path) -> None:
    metric = Metric()
    metric.get_name_value = lambda: [("loss", float("nan")), ("peak", float("inf"))]  # type: ignore[method-assign]
    run(od.callback.JSONLines(tmp_path / "log"), metric, 1)
    row = json.loads((tmp_path / "log").read_text())
    assert (row["loss"], row["peak"]) == (None, None)


def test_tensorboard_reads_what_is_logged(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    callback = od.callback.LogMetricsCallback(tmp_path, "train")
    run(callback, Metric(), 3)
    callback.summary_writer.close()
    (file,) = tmp_path.iterdir()
    assert file.read_bytes().count(b"train-accuracy") == 3


def test_without_tensorboardx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(od.errors.PluginError, match=r"operad-module\[tensorboard\]"):
        od.callback.LogMetricsCallback(tmp_path)
