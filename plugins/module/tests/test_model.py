"""Checkpoints are MXNet's files."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError

RECORDED = json.loads((Path(__file__).parent / "mxnet" / "training.json").read_text())
ARG = {"w": od.nd.array([[1, 2], [3, 4]]), "b": od.nd.array([5, 6], dtype="float64")}


def test_a_checkpoint_has_the_bytes_that_mxnet_writes(network: Any, tmp_path: Path) -> None:
    od.model.save_checkpoint(str(tmp_path / "net"), 3, network, ARG, {"m": od.nd.array([7])})
    assert (tmp_path / "net-0003.params").read_bytes() == base64.b64decode(RECORDED["checkpoint"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net-0003.params", "net-symbol.json"]


def test_a_checkpoint_is_read_back(network: Any, tmp_path: Path) -> None:
    od.model.save_checkpoint(str(tmp_path / "net"), 3, network, ARG, {"m": od.nd.array([7])})
    symbol, arg, aux = od.model.load_checkpoint(str(tmp_path / "net"), 3)
    assert symbol.tojson() == network.tojson()
    assert (list(arg), arg["b"].dtype, aux["m"].asnumpy().tolist()) == (["w", "b"], np.float64, [7])


def test_a_file_of_other_arrays_is_refused(tmp_path: Path) -> None:
    od.nd.save(str(tmp_path / "net-0001.params"), {"w": od.nd.zeros(1)})
    with pytest.raises(FormatError, match="holds an array called 'w', expected 'arg:NAME' or 'aux:NAME'"):
        od.model.load_params(str(tmp_path / "net"), 1)


def test_parameters_of_a_module_are_saved_and_loaded(network: Any, drawn: Any, tmp_path: Path) -> None:
    module = od.mod.Module(network)
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_params(arg_params=drawn.params)
    module.save_params(str(tmp_path / "values"))
    module.init_params(od.init.One(), force_init=True)
    module.load_params(str(tmp_path / "values"))
    for name, array in module.get_params()[0].items():
        np.testing.assert_array_equal(array.asnumpy(), drawn.params[name].asnumpy())
