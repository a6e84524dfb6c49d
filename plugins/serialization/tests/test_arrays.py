"""Files of arrays, byte for byte.

The bytes marked as MXNet's were written by MXNet 1.9.1's `mx.nd.save`; it reads back, with equal
values, what `save` writes for the same arrays (checked by hand in the same environment).
"""

from __future__ import annotations

import struct
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from operad import nd, registry
from operad.context import cpu
from operad.errors import ArgumentError, FormatError

START = "12010000000000000000000000000000"
ONE = START + "0100000000000000"

# mx.nd.save(f, {"w": nd.array([[1, 2], [3, 4.5]]), "i": nd.array([1, -2, 3], dtype="int32"),
#                "h": nd.array([0.5], dtype="float16")})
MXNET_NAMED = bytes.fromhex(
    START + "0300000000000000"
    "c9fa93f9" "00000000" "02000000" "0200000000000000" "0200000000000000" "01000000" "00000000" "00000000"
    "0000803f" "00000040" "00004040" "00009040"
    "c9fa93f9" "00000000" "01000000" "0300000000000000" "01000000" "00000000" "04000000"
    "01000000" "feffffff" "03000000"
    "c9fa93f9" "00000000" "01000000" "0100000000000000" "01000000" "00000000" "02000000" "0038"
    "0300000000000000" "0100000000000000" "77" "0100000000000000" "69" "0100000000000000" "68"
)  # fmt: skip
NAMED = {
    "w": np.float32([[1, 2], [3, 4.5]]),
    "i": np.int32([1, -2, 3]),
    "h": np.float16([0.5]),
}

# What mx.nd.save writes for a list of one array of 0 and 1, by its type.
MXNET_LISTS = {
    "uint8": "c9fa93f90000000001000000020000000000000001000000000000000300000000010000000000000000",
    "int8": "c9fa93f90000000001000000020000000000000001000000000000000500000000010000000000000000",
    "bool": "c9fa93f90000000001000000020000000000000001000000000000000700000000010000000000000000",
    "float64": "c9fa93f900000000010000000200000000000000010000000000000001000000"
               "0000000000000000000000000000f03f0000000000000000",
    "int64": "c9fa93f900000000010000000200000000000000010000000000000006000000"
             "000000000000000001000000000000000000000000000000",
}  # fmt: skip

# The scalar 2.5, written under mx.util.np_shape(True).
MXNET_SCALAR = bytes.fromhex(ONE + "cafa93f90000000000000000010000000000000000000000000020400000000000000000")


class TestWhatMxnetWrites:
    def test_is_what_we_write(self):
        assert (
            nd.dumps({key: nd.array(value, dtype=value.dtype) for key, value in NAMED.items()}) == MXNET_NAMED
        )

    @pytest.mark.parametrize("dtype", MXNET_LISTS)
    def test_is_what_we_write_for_every_type(self, dtype):
        assert nd.dumps([nd.array([0, 1], dtype=dtype)]).hex() == ONE + MXNET_LISTS[dtype]

    def test_is_what_we_write_for_a_scalar(self):
        assert nd.dumps(nd.array(2.5)) == MXNET_SCALAR

    def test_is_read(self):
        loaded = nd.loads(MXNET_NAMED)
        assert list(loaded) == list(NAMED)
        for key, value in NAMED.items():
            assert loaded[key].dtype == value.dtype
            np.testing.assert_array_equal(loaded[key].asnumpy(), value)
        assert nd.loads(MXNET_SCALAR)[0].asscalar() == 2.5

    def test_in_older_versions_is_read(self):
        v1 = ONE + "c8fa93f901000000020000000000000001000000000000000300000005070000000000000000"
        oldest = ONE + "010000000200000001000000000000000300000005070000000000000000"
        for text in (v1, oldest):
            (array,) = nd.loads(bytes.fromhex(text))
            assert (array.dtype, array.asnumpy().tolist()) == (np.uint8, [5, 7])


ARRAYS = npst.arrays(
    st.sampled_from(["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]),
    npst.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=3),
)


@given(arrays=st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), ARRAYS, max_size=3))
def test_what_is_saved_is_loaded(arrays):
    loaded = nd.loads(nd.dumps({key: nd.array(value, dtype=value.dtype) for key, value in arrays.items()}))
    loaded = loaded or {}
    assert list(loaded) == list(arrays)
    for key, value in arrays.items():
        assert (loaded[key].dtype, loaded[key].shape) == (value.dtype, value.shape)
        np.testing.assert_array_equal(loaded[key].asnumpy(), value)


def test_a_list_or_one_array_is_loaded_as_a_list(tmp_path):
    nd.save(tmp_path / "a", nd.array([1]))
    nd.save(str(tmp_path / "b"), [nd.array([1]), nd.array([2])])
    assert [x.asscalar() for x in nd.load(tmp_path / "a")] == [1]
    assert [x.asscalar() for x in nd.load(str(tmp_path / "b"))] == [1, 2]


def test_views_and_other_contexts_are_saved_by_value():
    x = nd.array(np.arange(6), cpu(1)).reshape(2, 3)
    (loaded,) = nd.loads(nd.dumps(x.T[1:]))
    assert loaded.asnumpy().tolist() == [[1, 4], [2, 5]]
    assert loaded.context is cpu(0)


@pytest.mark.parametrize("data", [[1], {"a": 1}, {1: nd.empty(1)}, [np.ones(1)], {"\ud800": nd.empty(1)}])
def test_only_named_arrays_are_saved(data):
    with pytest.raises(ArgumentError, match="save"):
        nd.dumps(data)


def test_a_failed_computation_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    nd.save(path, nd.array([1]))
    with pytest.raises(ArgumentError):
        nd.save(path, [nd.array([2]), 3])
    assert nd.load(path)[0].asscalar() == 1
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def _with(at: int, code: str, value: int) -> bytes:
    """MXNET_NAMED with one field replaced."""
    content = bytearray(MXNET_NAMED)
    struct.pack_into(code, content, at, value)
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut short: 24 bytes expected, 0 left"),
        (b"PK\3\4" + bytes(40), "not a file of arrays"),
        (b"hello\n", "not a file of arrays: it begins with b'hello.n'"),
        (_with(16, "<Q", 2**63), "claims 9223372036854775808 arrays"),
        (_with(24, "<I", 0x93F9FAC9), "neither a magic nor a number of axes"),
        (_with(28, "<i", 1), "sparse"),
        (_with(32, "<I", 33), "0x21, which is neither"),
        (_with(32, "<I", 0), "'none'"),
        (_with(36, "<q", -1), r"shape \(-1, 2\)"),
        (_with(36, "<q", 2**40), "cut short: 8796093022208 bytes expected"),
        (_with(60, "<i", 12), "unknown MXNet type number 12"),
        (_with(len(MXNET_NAMED) - 35, "<Q", 2), "2 names for 3 arrays"),
        (MXNET_NAMED[:-1] + b"\xff", "not UTF-8"),
        (MXNET_NAMED[:-1] + b"w", "names an array twice"),
        (MXNET_NAMED + b"\0", "1 bytes after its end"),
    ],
)
def test_a_malformed_file_is_refused_with_the_reason(content, message):
    with pytest.raises(FormatError, match=message):
        nd.loads(content, "f.params")


def test_an_error_names_the_file(tmp_path):
    path = tmp_path / "broken.params"
    path.write_bytes(MXNET_NAMED[:50])
    with pytest.raises(FormatError, match=r"broken\.params is cut short.*at byte"):
        nd.load(path)


def test_a_file_cut_anywhere_is_refused():
    for end in range(len(MXNET_NAMED)):
        with pytest.raises(FormatError):
            nd.loads(MXNET_NAMED[:end])


def _loaded_or_refused(content: bytes) -> None:
    try:
        loaded = nd.loads(content)
    except FormatError:
        return
    arrays = loaded.values() if isinstance(loaded, dict) else loaded
    assert sum(x.size * x.dtype.itemsize for x in arrays) <= len(content)


@given(changes=st.lists(st.tuples(st.integers(0, len(MXNET_NAMED) - 1), st.integers(0, 255)), max_size=4))
def test_a_corrupted_file_is_loaded_or_refused(changes):
    content = bytearray(MXNET_NAMED)
    for at, value in changes:
        content[at] = value
    _loaded_or_refused(bytes(content))


@given(
    ndim=st.integers(-2, 33),
    lengths=st.lists(st.sampled_from([0, 1, 2, 2**31, 2**62, 2**63 - 1]), max_size=4),
    magic=st.sampled_from([0xF993FAC8, 0xF993FAC9, 0xF993FACA]),
)
def test_no_header_makes_us_allocate_what_is_not_there(ndim, lengths, magic):
    header = struct.pack("<QQQI", 0x112, 0, 1, magic)
    if magic != 0xF993FAC8:
        header += struct.pack("<i", 0)
    header += struct.pack("<i", ndim) + b"".join(struct.pack("<q", length) for length in lengths)
    _loaded_or_refused(header + struct.pack("<iii", 1, 0, 3) + bytes(32))


@pytest.mark.parametrize(
    ("shapes", "magic"),
    [([(2,), (1, 3)], 0xF993FAC9), ([(2,), (0, 3)], 0xF993FACA), ([(0,), (3,)], 0xF993FACA)],
)
def test_all_arrays_of_a_file_have_one_form(shapes, magic):
    content = nd.dumps([nd.array(np.zeros(shape)) for shape in shapes])
    assert content.count(struct.pack("<I", magic)) == len(shapes)
    assert [array.shape for array in nd.loads(content)] == shapes


def test_saving_is_told_with_the_names(monkeypatch, tmp_path):
    heard = []
    relay = SimpleNamespace(arrays_saved=lambda **said: heard.append(said))
    monkeypatch.setattr(registry, "hooks", lambda: relay)
    path = tmp_path / "arrays.params"
    nd.save(path, {"w": nd.array([1])})
    nd.save(path, [nd.array([1])])
    assert heard == [{"path": str(path), "names": ["w"]}, {"path": str(path), "names": []}]


@pytest.mark.usefixtures("operators")
def test_an_array_without_a_value_is_refused_each_time(each_engine):
    first = nd.explode(nd.array([1, 2]))
    second = first + 1
    third = second[0:] * 2
    for array in (third, first, second, third, nd.tanh(third), third.detach()):
        with pytest.raises(ZeroDivisionError, match="above 0"):
            nd.dumps(array)
    nd.waitall()
