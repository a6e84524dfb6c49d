from __future__ import annotations

import json
import pickle
import struct
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import config
from operad.errors import ArgumentError, FormatError, LimitError
from operad.files import translated
from operad_kvstore.pictures import EXPECTED, from_bytes, to_bytes
from operad_kvstore.server import Server
from operad_kvstore.settings import StoreSettings

TREE: dict[Any, Any] = {
    "w": np.arange(6, dtype=np.float16).reshape(2, 3),
    3: [None, True, 1.5, "text", (1, (2, b"bytes"))],
    "empty": {"array": np.zeros((0, 2), np.int64), "scalar": np.array(2.5)},
}


def test_a_tree_comes_back_with_its_types_and_its_kinds_of_keys() -> None:
    back = from_bytes(to_bytes(TREE), "it")
    assert back["w"].dtype == np.float16
    assert np.array_equal(back["w"], TREE["w"])
    assert back[3] == TREE[3]
    assert back["empty"]["array"].shape == (0, 2)
    assert back["empty"]["scalar"] == 2.5


def test_an_ndarray_comes_back_as_one() -> None:
    back = from_bytes(to_bytes({"state": (od.nd.array([1, 2]), None)}), "it")
    assert isinstance(back["state"][0], od.NDArray)


def test_every_cut_and_every_other_byte_is_read_or_refused_by_an_error_that_names_it() -> None:
    content = to_bytes(TREE)
    for length in range(len(content)):
        with pytest.raises(FormatError, match="its name"):
            from_bytes(content[:length], "its name")
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 0x15
        try:
            from_bytes(bytes(damaged), "its name")
        except FormatError as error:
            assert "its name" in str(error)  # noqa: PT017 - many are read: a number was changed


@pytest.mark.parametrize("name", [", ", "f4,f4", "O", "2f4", "M8[", "<f4", "float33", "object", None, ["a"]])
def test_an_element_type_under_another_name_than_its_own_is_refused(name: object) -> None:
    content = to_bytes([np.zeros(4, np.float32)])
    start = content.index(b"{")
    text = json.loads(content[start:-16])
    text["arrays"][0][0] = name
    changed = json.dumps(text).encode()
    content = content[: start - 8] + struct.pack("<Q", len(changed)) + changed + content[-16:]
    with pytest.raises(FormatError, match="its name"):
        from_bytes(content, "its name")


def test_a_picture_of_something_else_is_refused_by_name() -> None:
    for tree in ({}, {"inbox": []}, [], None, {"shard": {"values": {"w": 1}}}):
        with (
            pytest.raises(FormatError, match="its name: expected what a server writes"),
            translated("its name", EXPECTED),
        ):
            Server(StoreSettings(), False).restore(from_bytes(to_bytes(tree), "its name"))


def test_a_text_beyond_its_limit_is_refused_by_the_name_of_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPERAD_MAX_TEXT_BYTES", "1")
    config.reload()
    try:
        with pytest.raises(LimitError, match="OPERAD_MAX_TEXT_BYTES"):
            from_bytes(to_bytes(TREE), "it")
    finally:
        monkeypatch.undo()
        config.reload()


def test_a_pickle_is_refused() -> None:
    with pytest.raises(FormatError, match="no picture of a server"):
        from_bytes(pickle.dumps(TREE), "it")


def test_what_is_no_plain_value_cannot_be_written() -> None:
    with pytest.raises(ArgumentError, match="cannot hold"):
        to_bytes({"code": print})
