"""Record how MXNet 1.9.1's Module trains a small network, into `training.json` beside this file.

Run with a Python that has mxnet 1.9.1 and numpy 1.23: `python record.py`.
"""

import base64
import json
import tempfile
from pathlib import Path

import numpy as np

SHAPES = {"fc1_weight": (6, 5), "fc1_bias": (6,), "fc2_weight": (3, 6), "fc2_bias": (3,)}


def network(mx):
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=6, name="fc1")
    hidden = mx.sym.Activation(hidden, act_type="tanh", name="act")
    weight = mx.sym.var("fc2_weight", lr_mult=0.5)
    scores = mx.sym.FullyConnected(hidden, weight=weight, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(scores, name="softmax")


def trained(mx, contexts, optimizer, optimizer_params, fixed=()):
    rng = np.random.RandomState(7)
    params = {name: mx.nd.array(rng.uniform(-0.5, 0.5, shape)) for name, shape in SHAPES.items()}
    data, labels = rng.randn(24, 5).astype("float32"), rng.randint(0, 3, 24).astype("float32")
    module = mx.mod.Module(network(mx), context=contexts, fixed_param_names=list(fixed))
    batches = mx.io.NDArrayIter(data, labels, 8, label_name="softmax_label")
    module.fit(
        batches,
        num_epoch=3,
        arg_params=params,
        optimizer=optimizer,
        optimizer_params=optimizer_params,
        kvstore="local" if len(contexts) > 1 else None,
    )
    return module, data


def record(mx, count, optimizer, optimizer_params, fixed=()):
    module, data = trained(mx, [mx.cpu(i) for i in range(count)], optimizer, optimizer_params, fixed)
    params = module.get_params()[0]
    return {
        "contexts": count,
        "optimizer": optimizer,
        "optimizer_params": optimizer_params,
        "fixed": list(fixed),
        "params": {name: params[name].asnumpy().round(7).tolist() for name in SHAPES},
        "outputs": module.predict(mx.io.NDArrayIter(data, batch_size=8)).asnumpy()[:4].round(7).tolist(),
    }


def checkpoint(mx):
    arg = {"w": mx.nd.array([[1, 2], [3, 4]]), "b": mx.nd.array([5, 6], dtype="float64")}
    with tempfile.TemporaryDirectory() as folder:
        mx.model.save_checkpoint(f"{folder}/net", 3, network(mx), arg, {"m": mx.nd.array([7])})
        return base64.b64encode(Path(f"{folder}/net-0003.params").read_bytes()).decode()


if __name__ == "__main__":
    import mxnet

    assert mxnet.__version__ == "1.9.1"
    momentum = {"learning_rate": 0.5, "momentum": 0.9, "wd": 0.01}
    # Both parameters of a layer: where its weight alone is fixed, MXNet does not train the bias either.
    found = {
        "training": [
            record(mxnet, 1, "sgd", momentum),
            record(mxnet, 2, "sgd", momentum),
            record(mxnet, 1, "adam", {"learning_rate": 0.05}, ["fc1_weight", "fc1_bias"]),
        ],
        "checkpoint": checkpoint(mxnet),
    }
    Path(__file__).with_name("training.json").write_text(json.dumps(found, indent=1) + "\n")
