"""Models and what continues their training: arrays, symbols, states."""

from __future__ import annotations

import hashlib
import json
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad_module.exact_checkpoint import read as read_checkpoint
from operad_module.state_file import read_state, write_state
from operad_mxnet.convert.conversion import converted
from operad_mxnet.convert.files import find
from tests.reliability.seeds.written import written
from tests.reliability.training import network


def params_seeds() -> list[bytes]:
    """Files of arrays in every form that is written or read."""
    arrays = {
        "arg:a": od.nd.array(np.arange(12.0).reshape(3, 4)),
        "aux:b": od.nd.array([1, 2, 3], dtype="int8"),
        "e": od.nd.array(np.float16([0.5])),
        "empty": od.nd.zeros((0, 3)),
        "scalar": od.nd.zeros(()),
    }
    forms = (arrays, list(arrays.values()), arrays["e"])
    now = [written(lambda path, data=data: od.nd.save(path, data)) for data in forms]  # type: ignore[misc]
    end = struct.pack("<iii6f", 1, 0, 0, *range(6))
    older = struct.pack("<II2q", 0xF993FAC8, 2, 2, 3) + end + struct.pack("<III", 2, 2, 3) + end
    return [*now, struct.pack("<QQQ", 0x112, 0, 2) + older + bytes(8)]


def json_seeds() -> list[bytes]:
    """Symbol files."""
    x, y = od.sym.var("x", shape=(2, 3)), od.sym.var("y", lr_mult=2.0)
    several = od.sym.Group([od.sym.Concat(x, y, dim=1), od.sym.SliceChannel(x, num_outputs=3)[1]])
    return [symbol.tojson().encode() for symbol in (network(), several, od.sym.tanh(x) * 2.0 + y)]


def read_json(path: Path) -> None:
    """A symbol file, and what a user does next."""
    symbol = od.sym.load(str(path))
    known = dict.fromkeys(symbol.list_arguments()[:1], (2, 1, 12, 12))
    symbol.infer_shape_partial(**known)
    symbol.infer_type(**dict.fromkeys(known, "float32"))
    od.sym.load_json(symbol.tojson())


def old_json_seeds() -> list[bytes]:
    """Symbol files as MXNet wrote them before 1.0: with `param` and `attr`, and without versions."""
    return [_as_before(json.loads(seed)) for seed in json_seeds()]


def _as_before(document: dict[str, Any]) -> bytes:
    nodes = [
        {
            "op": node["op"], "name": node["name"], "inputs": [entry[:2] for entry in node["inputs"]],
            "param": {name: value for name, value in attrs.items() if name[0] != "_"},
            "attr": {name.strip("_"): value for name, value in attrs.items() if name[0] == "_"},
            "backward_source_id": -1,
        }
        for node in document["nodes"]
        for attrs in [node.get("attrs", {})]
    ]  # fmt: skip
    heads = [entry[:2] for entry in document["heads"]]
    return json.dumps({"nodes": nodes, "arg_nodes": document["arg_nodes"], "heads": heads}).encode()


def read_old_json(path: Path) -> None:
    """A symbol file, and what `operad convert` finds in it."""
    with suppress(od.OperadError):
        od.sym.load(str(path))
    converted(find(str(path), None), str(path.parent / "converted.json"))


def onnx_seeds() -> list[bytes]:
    """Models: a network with parameters, and nodes whose values are known when it is read."""
    data, (rows, columns) = od.sym.var("data"), (2, 3)
    net = od.sym.FullyConnected(
        od.sym.Pooling(data, kernel=(2, 2), pool_type="max"), num_hidden=rows, name="fc"
    )
    net = od.sym.Reshape(od.sym.softmax(net), shape=(0, 1, -1))
    params = {"fc_weight": od.nd.ones((rows, columns)), "fc_bias": od.nd.zeros((rows,))}
    made = [od.onnx.export(net, params, {"data": ("N", 1, 2, 4)})]
    made.append(od.onnx.export(od.sym.broadcast_to(data, shape=(4, columns)), {}, {"data": (1, columns)}))
    made.append(
        od.onnx.export(od.sym.tile(od.sym.ones_like(data), reps=(2, 2)), {}, {"data": (rows, columns)})
    )
    return [model.SerializeToString() for model in made]


def _updater() -> od.optimizer.Updater:
    return od.optimizer.get_updater(od.optimizer.Adam())


def states_seeds() -> list[bytes]:
    """States of optimizers, with settings and without."""
    updater = _updater()
    for index in (0, "fc1_weight"):
        updater(index, od.nd.ones((3,)), od.nd.ones((3,)))
    return [updater.get_states(), updater.get_states(dump_optimizer=True)]


def read_states(path: Path) -> None:
    """States, and a step of training with them.

    Settings are put back before it: numbers that a file gives an optimizer are as good as a program's own.
    """
    updater = _updater()
    own = dict(vars(updater.optimizer))
    updater.set_states(path.read_bytes())
    vars(updater.optimizer).update(own)
    for index in list(updater.states):
        updater(index, od.nd.ones((3,)), od.nd.ones((3,)))
    od.nd.waitall()


_STATE_HEAD = len(b"operad training state 1 ") + 65


def resume_seeds() -> list[bytes]:
    """Training states."""
    tree = {
        "unit": "epochs",
        "params": "",
        "state": {"a": [np.arange(3), 1.5, b"x"], "b": {"c": np.float32(2)}},
    }
    return [written(lambda path: write_state(path, tree))]


def read_resume(path: Path) -> None:
    """A training state, alone and as part of a checkpoint."""
    read_state(path)
    (path.parent / "case-0001.resume").write_bytes(path.read_bytes())
    (path.parent / "case-0001.params").write_bytes(b"")
    read_checkpoint(str(path.parent / "case-0001.resume"))


def signed(data: bytes) -> bytes:
    """A training state with the digest of its content."""
    body = data[_STATE_HEAD:]
    return b"operad training state 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def initializer_seeds() -> list[bytes]:
    """Texts that describe initializers, which symbol files have of their variables."""
    return [od.initializer.Xavier(magnitude=2).dumps().encode(), od.initializer.Constant(3).dumps().encode()]


def read_initializer(path: Path) -> None:
    """A description as a variable of a symbol has it, and an array that it fills."""
    text = path.read_bytes().decode(errors="surrogateescape")
    described = od.initializer.InitDesc("fc_weight", {"__init__": text})
    od.initializer.Zero()(described, od.nd.zeros((2, 3)))
    od.nd.waitall()
