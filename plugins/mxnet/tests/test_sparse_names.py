"""MXNet's names of sparse storage: each says what a program uses instead, and that is there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import operad as od
from operad_mxnet.absent import why_absent

NAMES: dict[str, str | None] = json.loads(
    Path(__file__).with_name("mxnet").joinpath("sparse.json").read_text(encoding="utf-8")
)
"""Operators of sparse storage in MXNet 1.9.1, and the dense operator of which each is another name."""
SAME_NAME = "use the operator of the same name"
FUNCTIONS = ("csr_matrix", "row_sparse_array", "zeros", "array", "empty", "CSRNDArray", "RowSparseNDArray")


@pytest.mark.walk
@pytest.mark.parametrize("name", [name for name in NAMES if od.registry.find(name) is None])
def test_every_operator_says_what_to_use(name: str) -> None:
    dense, why = NAMES[name], why_absent(f"nd.{name}")
    assert why is not None
    if dense is None:
        assert SAME_NAME not in why
        named = re.findall(r"\b(?:mx\.optimizer\.)?\w+(?=\()|(?<=use )[\w.]+|(?<=or )contrib\.\w+", why)
        assert named or "leave" in why or "moving average" in why
    else:
        assert SAME_NAME in why
        assert od.registry.find(dense) is not None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_sparse_arrays_say_how_data_get_in(name: str) -> None:
    for module in ("nd", "sym", "ndarray", "symbol"):
        why = why_absent(f"{module}.sparse.{name}")
        assert why is not None
        assert "LibSVMIter" in why


def test_a_program_is_told() -> None:
    with pytest.raises(AttributeError, match="leave the cast out"):
        od.nd.cast_storage  # noqa: B018 - the name alone is refused
    with pytest.raises(AttributeError, match="arrays are dense"):
        od.nd.sparse  # noqa: B018
