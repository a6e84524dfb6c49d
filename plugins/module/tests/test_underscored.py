import numpy as np

import operad as od


def test_attributes_follow_the_module() -> None:
    network = od.sym.SoftmaxOutput(
        od.sym.FullyConnected(od.sym.var("data"), num_hidden=2, name="fc"), name="softmax"
    )
    module = od.mod.Module(network, context=[od.cpu(0), od.cpu(1)])
    assert (module._arg_params, module._data_shapes, module._updater) == (None, None, None)
    module.fit(od.io.NDArrayIter(np.ones((4, 3)), np.ones(4), 2), num_epoch=1)
    assert module._context == [od.cpu(0), od.cpu(1)]
    np.testing.assert_array_equal(
        module._arg_params["fc_weight"].asnumpy(), module.get_params()[0]["fc_weight"].asnumpy()
    )
    assert (module._label_names, module._output_names) == (["softmax_label"], ["softmax_output"])
    assert (module._kvstore.type, module._update_on_kvstore) == ("local", True)


def test_the_current_module_of_buckets_is_that_of_the_last_key() -> None:
    def generated(key):
        hidden = od.sym.sum(od.sym.Embedding(od.sym.var("data"), input_dim=5, output_dim=4), axis=1)
        return od.sym.FullyConnected(hidden, num_hidden=key), ("data",), None

    module = od.mod.BucketingModule(lambda key: generated(2), default_bucket_key=4)
    assert module._curr_module is None
    module.bind([("data", (2, 4))])
    module.init_params()
    module.switch_bucket(3, [("data", (2, 3))])
    assert module._curr_module.data_shapes[0].shape == (2, 3)
    # What a program leaves unnamed is called the same in every bucket.
    assert module._curr_module.symbol.list_arguments() == module._buckets[4].symbol.list_arguments()
