"""Files of a training's state: what is written comes back, and what is damaged is refused."""

from __future__ import annotations

import hashlib
import io
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operad.errors import ArgumentError, FormatError
from operad_module import exact_checkpoint
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
        with pytest.raises(FormatError, match=r"is damaged|is not a file with a training's state"):
            read_state(path)


def signed(path: Path, body: bytes) -> None:
    """Write a file with the right digest, as anybody can."""
    path.write_bytes(b"operad training state 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as out:
        for name, member in members.items():
            out.writestr(name, member)
    return content.getvalue()


def npy(header: str, content: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def tree(text: str) -> bytes:
    return npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(text)},), }}\n", text.encode())


LIE = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }\n"
OBJECTS = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "expected a whole archive"),
        (b"PK\x05\x06" + bytes(18), "tree"),
        (
            archive({"tree.npy": tree("{}") + bytes(1 << 22)}, zipfile.ZIP_DEFLATED),
            "more bytes than the file",
        ),
        (archive({"tree.npy": tree("{}")}, zipfile.ZIP_BZIP2), "is compressed or encrypted"),
        (
            archive({"tree.npy": tree("{}")}).replace(b"\x14\x03\x14\x00\x00", b"\x14\x03\x14\x00\x01"),
            "encrypted",
        ),
        (archive({"tree.npy": npy(LIE)}), "has 0 bytes, expected float64 of shape"),
        (archive({"tree.npy": npy(OBJECTS, b"\x80\x04N.")}), "expected numbers as"),
        (archive({"tree.npy": npy("(" * 10**4)}), "expected numbers as"),
        (archive({"tree.npy": tree("{")}), "not JSON"),
        (archive({"tree.npy": tree("[]")}), "holds list, expected an object"),
        (archive({"tree.npy": tree('{"a": {"$array": 7}}')}), "KeyError: '7'"),
        (archive({"tree.npy": tree('{"a": {"$array": {}}}')}), "KeyError"),
    ],
)
def test_a_file_that_is_signed_and_wrong_is_refused_by_name(
    tmp_path: Path, body: bytes, message: str
) -> None:
    signed(tmp_path / "net-0001.resume", body)
    with pytest.raises(FormatError, match=message) as caught:
        read_state(tmp_path / "net-0001.resume")
    assert "net-0001.resume" in str(caught.value)


def test_arrays_that_lie_on_top_of_each_other_are_refused(tmp_path: Path) -> None:
    body = archive({"tree.npy": tree("{}"), "0.npy": bytes(10**5)})
    at = body.rindex(b"PK\x01\x02")  # the entry of the second one, again and again
    entry, end = body[at : body.rindex(b"PK\x05\x06")], bytearray(body[body.rindex(b"PK\x05\x06") :])
    end[8:12] = struct.pack("<HH", 102, 102)
    end[12:16] = struct.pack("<I", len(body) - len(end) - body.index(b"PK\x01\x02") + 100 * len(entry))
    signed(tmp_path / "state", body[: body.rindex(b"PK\x05\x06")] + entry * 100 + bytes(end))
    with pytest.raises(FormatError, match="more bytes than the file"):
        read_state(tmp_path / "state")


@pytest.mark.parametrize(
    "written", [{}, {"unit": "epochs", "params": ""}, {"unit": 1, "params": 2, "state": 3}]
)
def test_a_checkpoint_without_its_parts_is_refused(tmp_path: Path, written: Any) -> None:
    write_state(tmp_path / "net-0001.resume", written)
    (tmp_path / "net-0001.params").write_bytes(b"")
    with pytest.raises(FormatError, match=r"net-0001\.resume.*expected unit, params and state"):
        exact_checkpoint.read(str(tmp_path / "net-0001.resume"))
