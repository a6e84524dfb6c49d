"""Modules as text: what `repr` and `summary` show."""

import numpy as np
import pytest

import operad as od
from operad_module.errors import ModuleStateError


def network():
    scores = od.sym.FullyConnected(od.sym.var("data"), num_hidden=2, name="fc")
    return od.sym.SoftmaxOutput(scores, name="softmax")


def test_repr_says_how_far_a_module_is():
    module = od.mod.Module(network())
    assert repr(module) == "<Module, not bound>"
    batches = od.io.NDArrayIter(np.ones((4, 3)), np.ones(4), 2)
    module.bind(batches.provide_data, batches.provide_label)
    assert repr(module) == "<Module: data (2, 3), softmax_label (2,)>"
    module.fit(batches, num_epoch=1)
    assert repr(module) == "<Module: data (2, 3), softmax_label (2,), initialized, with an optimizer>"


def test_repr_of_what_a_loop_is_given():
    assert repr(od.io.NDArrayIter(np.ones((4, 3)), np.ones(4), 2)) == (
        "<NDArrayIter: data (2, 3), softmax_label (2,)>"
    )
    assert repr(od.optimizer.SGD(learning_rate=0.1)) == "SGD(learning_rate=0.1)"
    assert repr(od.lr_scheduler.FactorScheduler(3, 0.5)) == "FactorScheduler(step=3, factor=0.5)"
    assert repr(od.metric.create(["acc", "mse"])) == "<CompositeEvalMetric() accuracy=nan mse=nan>"


def test_summary_counts_the_parameters_of_the_shapes_bound():
    module = od.mod.Module(network())
    with pytest.raises(ModuleStateError, match="bind first"):
        module.summary()
    module.bind([("data", (5, 3))], [("softmax_label", (5,))])
    assert "Total params: 8" in module.summary()


def test_summary_of_buckets_is_that_of_the_present_one():
    def generated(key):
        return network(), ("data",), ("softmax_label",)

    module = od.mod.BucketingModule(generated, default_bucket_key=3)
    module.bind([("data", (5, 3))], [("softmax_label", (5,))])
    assert "fc(FullyConnected)" in module.summary()
