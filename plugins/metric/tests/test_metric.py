from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError, IndexOutOfRangeError, ParamError, ShapeError

SCORES = od.nd.array([[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
LABELS = od.nd.array([0, 1, 1])
ARGUMENTS: dict[str, dict[str, Any]] = {"top_k_accuracy": {"top_k": 2}, "perplexity": {"ignore_label": None}}
LIKELIHOODS = ["ce", "crossentropy", "negativeloglikelihood", "nll_loss", "perplexity"]
CONFUSIONS = ["acc", "accuracy", "f1", "mcc", "pcc", "top_k_accuracy"]
DISTANCES = ["mae", "mse", "pearsoncorrelation", "pearsonr", "rmse"]
NAMES = [*LIKELIHOODS, *CONFUSIONS, *DISTANCES, "loss", "torch", "caffe", "composite"]


def updated(name: str, label: Any, pred: Any, **arguments: Any) -> Any:
    metric = od.metric.create(name, **arguments)
    metric.update([od.nd.array(label)], [od.nd.array(pred)])
    return metric.get()[1]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "composite"])
def test_a_metric_without_updates_has_no_value(name: str) -> None:
    metric = od.metric.create(name, **ARGUMENTS.get(name, {}))
    assert all(math.isnan(value) for _, value in metric.get_name_value() + metric.get_global_name_value())


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_makes_an_equal_metric(name: str) -> None:
    config = od.metric.create(name, **ARGUMENTS.get(name, {})).get_config()
    assert od.metric.create(config).get_config() == config
    assert od.metric.create(json.dumps(config)).get_config() == config


def test_micro_correlation_is_that_of_all_updates_together() -> None:
    random = np.random.default_rng(3)
    label, pred = random.normal(size=(3, 40)), 5 + random.normal(size=(3, 40))
    metric = od.metric.create("pearsonr", average="micro")
    for one, other in zip(label, pred, strict=True):
        metric.update([one], [other])
    np.testing.assert_allclose(metric.get()[1], np.corrcoef(label.ravel(), pred.ravel())[0, 1], rtol=1e-12)
    np.testing.assert_allclose(metric.get_global()[1], metric.get()[1])


def test_predictions_of_the_shape_of_labels_are_classes() -> None:
    assert updated("acc", [[0, 1], [1, 1]], [[0, 1], [0, 1]]) == 0.75


def test_labels_that_perplexity_ignores_need_be_no_class() -> None:
    probability = [[0.5, 0.5], [0.25, 0.75]]
    assert updated("perplexity", [-1, 0], probability, ignore_label=-1) == pytest.approx(4)


def test_an_array_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    asnumpy = od.nd.NDArray.asnumpy
    monkeypatch.setattr(od.nd.NDArray, "asnumpy", lambda array: (read.append(id(array)), asnumpy(array))[1])
    for name in ("acc", "f1", "mcc", "pcc", "ce", "perplexity", "top_k_accuracy"):
        read.clear()
        od.metric.create(name, **ARGUMENTS.get(name, {})).update([LABELS], [SCORES])
        assert sorted(read) == sorted([id(LABELS), id(SCORES)]), name


def test_a_list_makes_a_composite_of_whatever_names_metrics() -> None:
    def wrong(label: Any, pred: Any) -> tuple[float, int]:
        return float((label != pred.argmax(1)).sum()), len(label)

    metric = od.metric.create(["acc", od.metric.F1(), wrong, od.metric.np(wrong, "again")])
    metric.update([LABELS], [SCORES])
    names, values = metric.get()
    assert names == ["accuracy", "f1", "wrong", "again"]
    np.testing.assert_allclose(values, [2 / 3, 2 / 3, 1 / 3, 1 / 3])
    assert metric.get_metric(0).get() == ("accuracy", 2 / 3)
    with pytest.raises(IndexOutOfRangeError, match="no metric 7 among 4"):
        metric.get_metric(7)


def test_names_choose_outputs_and_labels() -> None:
    metric = od.metric.create("acc", output_names=["scores"], label_names=["label"])
    labels, outputs = {"label": LABELS, "other": SCORES}, {"features": LABELS, "scores": SCORES}
    metric.update_dict(labels, outputs)
    both = od.metric.CompositeEvalMetric(["acc"], output_names=["scores"], label_names=["label"])
    both.update_dict(labels, outputs)
    assert (metric.get()[1], both.get()[1]) == (2 / 3, [2 / 3])
    with pytest.raises(ParamError, match="no output is called 'scores'; there are features"):
        metric.update_dict(labels, {"features": LABELS})


def test_a_registered_metric_is_created_by_its_names() -> None:
    @od.metric.register
    @od.metric.alias("half", "semi")
    class Halving(od.metric.EvalMetric):
        def __init__(self) -> None:
            super().__init__("halving")

        def update(self, labels: Any, preds: Any) -> None:
            self.sum_metric += 1
            self.num_inst += 2

    for name in ("halving", "half", "SEMI"):
        metric = od.metric.create(name)
        metric.update([], [])
        assert metric.get() == metric.get_global() == ("halving", 0.5)


@pytest.mark.parametrize(
    ("name", "label", "pred", "error", "message"),
    [
        ("acc", [0, 1], [[1.0, 0.0]], ShapeError, "Shape of labels"),
        ("acc", [[0, 1]], [0, 1], ShapeError, "scores of each class along axis 1"),
        ("ce", [0, 2], [[1.0, 0.0], [0.5, 0.5]], IndexOutOfRangeError, "label 2 is no class"),
        ("ce", [0], [[1.0, 0.0], [0.5, 0.5]], ShapeError, "Shape of labels"),
        ("perplexity", [0, -1], [[1.0, 0.0], [0.5, 0.5]], IndexOutOfRangeError, "label -1 is no class"),
        ("f1", [0, 2], [[1.0, 0.0], [0.5, 0.5]], ParamError, "class 2, expected 0 and 1"),
        ("pcc", [0, -2], [[1.0, 0.0], [0.5, 0.5]], ParamError, "negative"),
        ("mse", [0, 2], [[1.0, 0.0], [0.5, 0.5], [0, 0]], ShapeError, "Shape of labels"),
        ("top_k_accuracy", [0, 2], [1.0, 0.0], ShapeError, "expected \\(N, classes\\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    name: str, label: Any, pred: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        updated(name, label, pred, **ARGUMENTS.get(name, {}))


def test_as_many_predictions_as_labels_are_expected() -> None:
    with pytest.raises(ShapeError, match="labels 1 does not match shape of predictions 2"):
        od.metric.create("acc").update([LABELS], [SCORES, SCORES])
    extra = od.metric.CustomMetric(lambda label, pred: 1.0, allow_extra_outputs=True)
    extra.update([LABELS], [SCORES, SCORES])
    assert extra.get() == ("custom(<lambda>)", 1.0)


@pytest.mark.parametrize(
    ("given", "message"), [("acuracy", "did you mean 'accuracy'"), (3, "expected a name"), ("[]", "expected")]
)
def test_what_names_no_metric_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ParamError, match=message):
        od.metric.create(given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: od.metric.TopKAccuracy(1),
        lambda: od.metric.F1(average="both"),
        lambda: od.metric.PearsonCorrelation(average="both"),
    ],
)
def test_arguments_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(ParamError, match="expected"):
        make()


@pytest.mark.parametrize("name", [*NAMES, ["acc", "f1"]], ids=str)
def test_a_loaded_state_goes_on_from_the_updates_before_it(name: Any) -> None:
    arguments = {} if isinstance(name, list) else ARGUMENTS.get(name, {})
    whole, other = (od.metric.create(name, **arguments) for _ in range(2))
    halves = [(LABELS[:2], SCORES[:2]), (LABELS[1:], SCORES[1:])]
    if name in DISTANCES:
        halves = [(label, scores[:, 0]) for label, scores in halves]
    (first_label, first_pred), (label, pred) = halves
    whole.update([first_label], [first_pred])
    whole.reset_local()
    other.load_state_dict(whole.state_dict())
    for metric in (whole, other):
        metric.update([label], [pred])
    assert str(other.get_name_value()) == str(whole.get_name_value())
    assert str(other.get_global_name_value()) == str(whole.get_global_name_value())


@pytest.mark.parametrize(("name", "other"), [("pcc", "acc"), ("acc", ["acc"]), (["acc"], ["acc", "f1"])])
def test_the_state_of_another_metric_is_refused(name: Any, other: Any) -> None:
    with pytest.raises(FormatError, match="the state is of"):
        od.metric.create(name).load_state_dict(od.metric.create(other).state_dict())


def test_a_metric_without_global_sums_is_reset_as_it_says_itself() -> None:
    class PerTask(od.metric.EvalMetric):
        def reset(self) -> None:
            self.num_inst, self.sum_metric = [0, 0], [0.0, 0.0]

    metric = PerTask("tasks")
    metric.num_inst, metric.sum_metric = [3, 3], [1.0, 2.0]
    metric.reset_local()  # as callbacks do between batches
    assert (metric.num_inst, metric.sum_metric) == ([0, 0], [0.0, 0.0])


def test_a_metric_without_global_sums_says_itself_what_they_are() -> None:
    class Pairs(od.metric.EvalMetric):
        def get_name_value(self) -> list[tuple[str, float]]:
            return [("first", 1.0), ("second", 2.0)]

    assert Pairs("pairs").get_global_name_value() == [("first", 1.0), ("second", 2.0)]
