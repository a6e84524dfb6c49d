"""Record what MXNet 1.9.1 computes, into `losses.json` beside this file.

Run with a Python that has mxnet 1.9.1 and numpy 1.23: `python record.py`.
"""

import json
from itertools import product
from pathlib import Path

import numpy as np

RNG = np.random.RandomState(3)


def cases():
    # Without out_grad: MXNet 1.9.1 multiplies with the probabilities instead of the gradient.
    for normalization, use_ignore, alpha in product(["null", "batch", "valid"], [False, True], [0.0, 0.1]):
        params = {"normalization": normalization, "use_ignore": use_ignore, "ignore_label": 1}
        params.update(grad_scale=1.5, smooth_alpha=alpha)
        yield "SoftmaxOutput", (4, 3), [0, 1, 2, 1], params
        if not alpha:
            labels = RNG.randint(0, 3, (2, 4))
            yield "SoftmaxOutput", (2, 3, 2, 2), labels, {**params, "multi_output": True}
        yield "SoftmaxOutput", (2, 2, 3), [[0, 1], [2, 1]], {**params, "preserve_shape": True}
    yield "SoftmaxOutput", (2, 3), [[0.2, 0.3, 0.5], [1, 0, 0]], {"grad_scale": 2.0}
    for name in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        yield name, (3, 1), RNG.rand(3).round(3), {"grad_scale": 2.0}
        yield name, (3, 2, 2), RNG.rand(3, 2, 2).round(3), {}
    for linear in (False, True):
        params = {"use_linear": linear, "margin": 0.7, "regularization_coefficient": 0.3}
        yield "SVMOutput", (4, 3), [0, 1, 2, 1], params
    for normalization in ("null", "batch", "valid"):
        yield (
            "MakeLoss",
            (4, 3),
            None,
            {"normalization": normalization, "grad_scale": 0.5, "valid_thresh": 0.1},
        )
    for shape in ((5,), (2, 3, 4)):
        yield "MakeLoss", shape, None, {"normalization": "batch"}


def record(mx, name, shape, label, params):
    data = RNG.uniform(-1.5, 1.5, shape).round(3).astype("float32")
    x = mx.nd.array(data)
    x.attach_grad()
    inputs = [x] if label is None else [x, mx.nd.array(np.array(label, "float32"))]
    with mx.autograd.record():
        y = getattr(mx.nd, name)(*inputs, **params)
    head = RNG.uniform(0.5, 1.5, shape).round(3).astype("float32")
    y.backward(mx.nd.array(head))
    arrays = {"data": data, "head": head, "output": y.asnumpy(), "gradient": x.grad.asnumpy()}
    if label is not None:
        arrays["label"] = np.array(label, "float32")
    rounded = {key: value.astype("float64").round(7).tolist() for key, value in arrays.items()}
    return {"operator": name, "params": params, **rounded}


if __name__ == "__main__":
    import mxnet

    assert mxnet.__version__ == "1.9.1"
    recorded = [json.dumps(record(mxnet, *case)) for case in cases()]
    Path(__file__).with_name("losses.json").write_text("[\n" + ",\n".join(recorded) + "\n]\n")
