"""Scores without the rows that only fill up the last batch."""

from types import SimpleNamespace

import numpy as np
import pytest

import operad as od
from operad import nd
from operad_module.unpadded import Unpadded, padding_of

CTX = [[od.cpu(0)], [od.cpu(0), od.cpu(1)], [od.cpu(0), od.cpu(1), od.cpu(2)]]


class Rows:
    """A metric that keeps the labels it is shown."""

    def __init__(self):
        self.seen = []

    def update_dict(self, label, pred):
        (labels,), (preds,) = label.values(), pred.values()
        assert labels.shape[0] == preds.shape[0]
        self.seen += labels.asnumpy().tolist()

    def get_name_value(self):
        return [("rows", len(self.seen))]

    def reset(self):
        self.seen = []


def module(ctx, batch, rows=11):
    net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=11), name="softmax")
    made = od.mod.Module(net, context=ctx)
    x = np.random.default_rng(0).standard_normal((rows, 3)).astype("float32")
    data = od.io.NDArrayIter(x, np.arange(rows), batch)
    made.bind(data.provide_data, data.provide_label, for_training=False)
    made.init_params()
    return made, data


@pytest.mark.parametrize("ctx", CTX, ids=len)
@pytest.mark.parametrize("batch", [3, 4, 6, 8, 11])
def test_a_score_counts_each_row_once_however_batches_and_contexts_cut_them(ctx, batch):
    made, data = module(ctx, batch)
    metric = Rows()
    made.score(data, metric)
    assert metric.seen == list(range(11))


def test_mxnets_numbers_are_a_switch_away():
    made, data = module(CTX[0], 4)
    metric = Rows()
    made.score(data, metric, count_padding=True)
    assert metric.seen == [*range(11), 0]


def test_validation_within_fit_counts_each_row_once():
    x = np.ones((11, 3), "float32")
    net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=2), name="softmax")
    data, metric = od.io.NDArrayIter(x, np.zeros(11), 4), Rows()
    for counts_padding, rows in ((False, 11), (True, 12)):
        od.mod.Module(net).fit(
            data, data, num_epoch=1, validation_metric=metric, count_padding=counts_padding
        )
        assert len(metric.seen) == rows


def test_a_score_is_that_of_numpy_on_the_rows():
    made, data = module(CTX[0], 4)
    labels = np.arange(11)
    expected = (made.predict(data).asnumpy().argmax(axis=1) == labels).mean()
    ((_, found),) = made.score(data, "acc")
    assert found == pytest.approx(expected)


def test_rows_that_rolled_over_are_rows():
    batch = SimpleNamespace(pad=2)
    assert padding_of(batch, SimpleNamespace(last_batch_handle="roll_over")) == 0
    assert padding_of(batch, SimpleNamespace(last_batch_handle="pad")) == 2
    assert padding_of(SimpleNamespace(pad=None), object()) == padding_of(object(), object()) == 0


def test_rows_that_rolled_over_are_rows_behind_other_iterators_too():
    inner = SimpleNamespace(last_batch_handle="roll_over")
    assert padding_of(SimpleNamespace(pad=2), SimpleNamespace(iters=[inner])) == 0
    assert padding_of(SimpleNamespace(pad=2), SimpleNamespace(data_iter=inner)) == 0


def test_a_layout_whose_first_axis_is_time_is_counted_whole():
    net = od.sym.LinearRegressionOutput(od.sym.var("data"), od.sym.var("label"), name="out")
    made = od.mod.Module(net, label_names=["label"])
    described = od.io.DataDesc("data", (6, 8), layout="TN"), od.io.DataDesc("label", (6, 8), layout="TN")
    made.bind([described[0]], [described[1]], for_training=False)
    made.init_params()
    ones = od.nd.ones((6, 8))
    batch = od.io.DataBatch([ones], [ones], pad=3)
    metric, batches = Rows(), [batch]
    made.score(batches, metric, reset=False)
    assert len(metric.seen) == 6


def test_several_modules_each_show_the_whole_batch():
    metric = Rows()
    shown = Unpadded(metric, batch_size=4, padding=1)
    for _ in range(2):
        shown.update_dict({"l": nd.array([0, 1])}, {"p": nd.ones((2, 5))})
        shown.update_dict({"l": nd.array([2, 3])}, {"p": nd.ones((2, 5))})
    assert metric.seen == [0, 1, 2] * 2


def test_arrays_of_another_first_axis_are_counted_as_they_are():
    metric = Rows()
    Unpadded(metric, batch_size=4, padding=1).update_dict({"l": nd.zeros((7, 4))}, {"p": nd.ones((7, 4, 2))})
    assert len(metric.seen) == 7


def test_lists_of_arrays_are_cut_too():
    counted = od.metric.create("acc")
    preds = nd.array([[0, 1], [0, 1], [1, 0]])
    Unpadded(counted, batch_size=3, padding=1).update([nd.array([1, 1, 1])], [preds])
    assert counted.get() == ("accuracy", 1.0)
