"""`operad graph`: what becomes of a symbol file when it is bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import operad as od
from operad.cli import main
from operator_sdk.sdk.tests.vector_code import require_vector_code


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["graph", *map(str, words)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    x = od.sym.tanh(od.sym.var("data"), name="first")
    net = od.sym.FullyConnected(od.sym.sigmoid(x, name="second"), num_hidden=3, name="fc")
    path = tmp_path / "net-symbol.json"
    net.save(str(path))
    return path


def test_kernels_passes_and_memory(file: Path) -> None:
    done = run(file, "--shape", "data=32x20", "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["planned_bytes"] > 0
    assert "memory" in [each["name"] for each in found["passes"]]
    kernels = {(each["node"], each["part"]): each["kernel"] for each in found["kernels"]}
    assert kernels["fc", "forward"] == "FullyConnected.forward"
    assert ("fc_backward", "weight_grad") in kernels
    assert found["written"] is None


def test_without_gradients(file: Path) -> None:
    found = json.loads(run(file, "--shape", "data=32x20", "--inference", "--json").stdout)
    assert not any(each["node"].endswith("_backward") for each in found["kernels"])


def test_clusters_and_why_others_are_not_in(file: Path, tmp_path: Path) -> None:
    require_vector_code()
    pytest.importorskip("operad_fusion")
    done = run(file, "--shape", "data=32x20", "--svg", tmp_path / "net.svg")
    assert done.exit_code == 0, done.output
    assert "Cluster first+second" in done.output
    assert "not fc" in done.output
    assert "numpy.matmul is not element-wise" in " ".join(done.output.split())
    assert "first+second" in (tmp_path / "net.svg").read_text()


@pytest.mark.parametrize("text", ["data", "=3x4", "data=3xa", "data 3"])
def test_a_shape_that_is_none(file: Path, text: str) -> None:
    done = run(file, "--shape", text)
    assert done.exit_code == 2
    assert "data=32x3x8x8" in done.output


def test_shapes_that_lack(file: Path) -> None:
    done = run(file)
    assert done.exit_code == 1
    assert "data" in done.output
