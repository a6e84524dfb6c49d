"""Files of a training's state: what is written comes back, and what is damaged is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operad.errors import ArgumentError, FormatError
from operad_module.state_file import read_state, write_state

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=TREES)
def test_a_tree_comes_back(tmp_path: Path, tree: Any) -> None:
    write_state(tmp_path / "state", {"tree": tree})
    assert read_state(tmp_path / "state") == {"tree": tree}


def test_arrays_and_scalars_come_back_with_their_types(tmp_path: Path) -> None:
    values = [np.arange(6, dtype=np.uint32).reshape(2, 3), np.float32(0.1), np.zeros((0, 2)), np.array(7)]
    write_state(tmp_path / "state", {"values": values})
    for found, value in zip(read_state(tmp_path / "state")["values"], values, strict=True):
        assert (type(found), found.dtype, found.shape) == (type(value), value.dtype, value.shape)
        np.testing.assert_array_equal(found, value)


def test_numbers_that_json_has_not_come_back(tmp_path: Path) -> None:
    write_state(tmp_path / "state", {"values": [math.inf, -math.inf, math.nan, 1 << 130, 0.1 + 0.2]})
    *found, last, total = read_state(tmp_path / "state")["values"]
    assert (found[:2], math.isnan(found[2])) == ([math.inf, -math.inf], True)
    assert (last, total) == (1 << 130, 0.1 + 0.2)


@pytest.mark.parametrize(
    ("leaf", "message"),
    [
        (object(), r"state\['a'\]\[1\] is object, expected None, a number"),
        (np.array([object()]), r"state\['a'\]\[1\] is ndarray"),
        ({1: 2}, r"state\['a'\]\[1\] has a key 1"),
        ({"$array": 2}, r"state\['a'\]\[1\] has a key '\$array'"),
    ],
)
def test_what_cannot_be_written_is_named_and_nothing_is_written(
    tmp_path: Path, leaf: Any, message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        write_state(tmp_path / "state", {"a": [0, leaf]})
    assert not (tmp_path / "state").exists()


def test_every_damaged_byte_and_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    write_state(path, {"text": "abc", "values": np.arange(3)})
    whole = path.read_bytes()
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
    for content in (*damaged, *(whole[:length] for length in range(len(whole)))):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"is damaged|is no file of a training's state"):
            read_state(path)
