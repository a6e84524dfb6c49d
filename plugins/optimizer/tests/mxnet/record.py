"""Record what MXNet 1.9.1's update operators compute, into `updates.json` beside this file.

Run with a Python that has mxnet 1.9.1 and numpy 1.23: `python record.py`.
"""

import json
from pathlib import Path

import numpy as np

RNG = np.random.RandomState(11)
SHAPE = (2, 3)
PLAIN = {"lr": 0.1}
FULL = {"lr": 0.1, "wd": 0.3, "rescale_grad": 0.5, "clip_gradient": 0.4}

# operator, number of states (of which the last `mixed` are float32), parameters beside the common ones
OPERATORS = [
    ("sgd_update", 0, {}),
    ("sgd_mom_update", 1, {"momentum": 0.7}),
    ("nag_mom_update", 1, {"momentum": 0.7}),
    ("adam_update", 2, {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}),
    ("rmsprop_update", 1, {"gamma1": 0.8, "epsilon": 1e-3}),
    ("rmsprop_update", 1, {"gamma1": 0.8, "clip_weights": 0.5}),
    ("rmspropalex_update", 3, {"gamma1": 0.8, "gamma2": 0.6, "epsilon": 1e-2}),
    ("ftrl_update", 2, {"lamda1": 0.3, "beta": 0.5}),
    ("ftml_update", 3, {"beta1": 0.5, "beta2": 0.9, "epsilon": 1e-3, "t": 3}),
    ("signsgd_update", 0, {}),
    ("signum_update", 1, {"momentum": 0.7, "wd_lh": 0.2}),
    ("lamb_update_phase1", 2, {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3, "t": 2}),
    ("lamb_update_phase1", 2, {"t": 2, "bias_correction": False}),
]
MIXED = [
    ("mp_sgd_update", 1, {}),
    ("mp_sgd_mom_update", 2, {"momentum": 0.7}),
    ("mp_nag_mom_update", 2, {"momentum": 0.7}),
    ("mp_lamb_update_phase1", 3, {"t": 2}),
]


def cases():
    for name, states, own in OPERATORS + MIXED:
        for common in (PLAIN, FULL):
            params = {**common, **own}
            if "lamb" in name:
                del params["lr"]
                params.setdefault("wd", 0.1)
            if name == "ftml_update" and "clip_gradient" in params:
                params["clip_grad"] = params.pop("clip_gradient")
            yield name, states, params
    for bounds in ({}, {"lower_bound": 0.1, "upper_bound": 0.5}):
        yield "lamb_update_phase2", 0, {"lr": 0.1, **bounds}


def record(mx, name, count, params):
    mixed = name.startswith("mp_")
    dtype = "float16" if mixed else "float32"
    weight, grad = (RNG.uniform(-1, 1, SHAPE).round(3).astype(dtype) for _ in range(2))
    states = [RNG.uniform(0.5, 1, SHAPE).round(3).astype("float32") for _ in range(count)]
    if name == "rmspropalex_update":
        states[0] += 1  # an average square is no less than the average's square
    if mixed:
        states[-1] = weight.astype("float32")
    if name == "lamb_update_phase2":
        states = [np.array([0.7], "float32"), np.array([0.4], "float32")]
    given = [mx.nd.array(array, dtype=array.dtype) for array in (weight, grad, *states)]
    steps = []
    for _ in range(2):
        # As optimizers do: what is kept of NAG's step depends on where the weight is written.
        written = {} if "phase1" in name else {"out": given[0]}
        out = getattr(mx.nd, name)(*given, **params, **written)
        steps.append([array.asnumpy() for array in (out, *given[2:])])
    return {
        "operator": name,
        "params": params,
        "dtype": dtype,
        "inputs": [listed(array) for array in (weight, grad, *states)],
        "steps": [[listed(array) for array in step] for step in steps],
    }


def listed(array):
    return array.astype("float64").round(7).tolist()


if __name__ == "__main__":
    import mxnet

    assert mxnet.__version__ == "1.9.1"
    recorded = [json.dumps(record(mxnet, *case)) for case in cases()]
    Path(__file__).with_name("updates.json").write_text("[\n" + ",\n".join(recorded) + "\n]\n")
