"""`operad onnx export`, `import` and `check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from onnx import helper

import operad as od
from operad.cli import main
from plugins.onnx.tests.networks import NETWORKS
from plugins.onnx.tests.test_load import RELU, model_of

LENET = NETWORKS["lenet"]


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["onnx", *map(str, words)])


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    LENET.symbol.save(str(tmp_path / "net-symbol.json"))
    od.nd.save(str(tmp_path / "net-0000.params"), {f"arg:{n}": a for n, a in LENET.params().items()})
    return tmp_path / "net"


def test_a_checkpoint_becomes_a_model_and_comes_back(prefix: Path) -> None:
    model = f"{prefix}.onnx"
    done = run(
        "export", f"{prefix}-symbol.json", f"{prefix}-0000.params", "--shape", "data=Nx1x8x8", "-o", model
    )
    assert done.exit_code == 0, done.output
    assert "softmax_output" in done.output
    done = run("import", model, "-o", f"{prefix}-back", "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["inputs"] == ["data"]
    assert found["outputs"] == ["softmax_output"]
    assert od.sym.load(found["written"][0]).list_outputs() == ["softmax_output"]
    assert od.nd.load(found["written"][1]).keys() == {f"arg:{name}" for name in LENET.params()}


@pytest.mark.more
def test_check_lists_what_can_be_written_and_why_the_rest_cannot() -> None:
    done = run("check", "--json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.exit_code == 0
    assert len(found["written"]) > 160
    reasons = {row["operator"]: row["reason"] for row in found["missing"]}
    assert reasons["gamma"]
    assert "relu" not in reasons
    assert "operators can be written" in run("check").output


def test_check_says_which_nodes_of_a_model_cannot_be_read(tmp_path: Path) -> None:
    for name, node, code in (("sound", RELU, 0), ("other", helper.make_node("Unique", ["x"], ["y"]), 1)):
        path = tmp_path / name
        path.write_bytes(model_of(node).SerializeToString())
        done = run("check", path)
        assert done.exit_code == code, done.output
    assert "Unique" in done.output


@pytest.mark.parametrize("shape", ["data", "=1", "data="])
def test_a_shape_is_a_name_and_lengths(shape: str, prefix: Path) -> None:
    done = run("export", f"{prefix}-symbol.json", f"{prefix}-0000.params", "--shape", shape)
    assert done.exit_code == 2
    assert "NAME=Nx1x28x28" in done.output
