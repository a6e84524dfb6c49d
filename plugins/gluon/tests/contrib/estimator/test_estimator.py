from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od

gluon = od.gluon
kinds = gluon.contrib.estimator


def loader() -> Any:
    rows = np.sin(np.arange(24, dtype="float32")).reshape(6, 4)
    return gluon.data.DataLoader(gluon.data.ArrayDataset(rows, np.arange(6) % 3), 2)


def made(**options: Any) -> Any:
    net = gluon.nn.Dense(3, in_units=4)
    net.initialize(od.init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    one = kinds.Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, **options)
    one.logger.handlers.clear()
    return one


def values(one: Any) -> list[np.ndarray[Any, Any]]:
    return [param.data().asnumpy() for param in one.net.collect_params().values()]


def test_it_trains_as_a_loop_does() -> None:
    one, other = made(), made()
    one.fit(loader(), loader(), epochs=2)
    for _ in range(2):
        for data, label in loader():
            with od.autograd.record():
                loss = other.loss(other.net(data), label)
            loss.backward()
            other.trainer.step(2)
    for mine, theirs in zip(values(one), values(other), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert [metric.name for metric in one.train_metrics] == [
        "training accuracy",
        "training softmaxcrossentropyloss",
    ]
    assert all(metric.num_inst for metric in one.val_metrics)


def test_training_goes_on_with_the_last_checkpoint(tmp_path: Path) -> None:
    whole, first, second = made(), made(), made()
    whole.fit(loader(), epochs=4)
    folder = str(tmp_path / "saved")
    first.fit(loader(), epochs=2, event_handlers=kinds.CheckpointHandler(folder))
    rest = kinds.CheckpointHandler(folder, resume_from_checkpoint=True, max_checkpoints=3)
    second.fit(loader(), epochs=4, event_handlers=rest)
    for mine, theirs in zip(values(second), values(whole), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    names = sorted(path.stem.partition("batch")[0] for path in Path(folder).glob("*.states"))
    assert names == ["model-epoch1", "model-epoch2", "model-epoch3"]
    with pytest.raises(ValueError, match="a checkpoint has 4 epochs of 4"):
        made().fit(loader(), epochs=4, event_handlers=rest)


def test_the_log_says_what_happens() -> None:
    one, text = made(), io.StringIO()
    one.logger.addHandler(logging.StreamHandler(text))
    one.fit(loader(), loader(), epochs=1, event_handlers=[kinds.LoggingHandler(2, one.train_metrics)])
    lines = text.getvalue().splitlines()
    for part in (
        "Training begin: using optimizer SGD", "Train for 1 epochs.",
        "[Epoch 0] Begin, current learning rate", "[Epoch 0][Batch 0][Samples 2] time/interval: ",
        "[Epoch 0][Batch 2][Samples 6]", "Validation Begin", "training accuracy: ", "validation accuracy: ",
        "Train finished using total",
    ):  # fmt: skip
        assert any(part in line for line in lines), part


def test_a_metric_of_no_estimator_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MetricHandler: .* is no metric of the estimator's"):
        made().fit(loader(), epochs=1, event_handlers=[kinds.MetricHandler(od.metric.Accuracy())])
