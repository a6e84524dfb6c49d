from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad.errors import ArgumentError, ParamError
from operad_recordio.frames import MAX_LENGTH, as_bytes, framed

MAGIC = (0xCED7230A).to_bytes(4, "little")

# Bytes, and pieces of the magic word: at every alignment, cut, doubled.
PIECES = st.one_of(
    st.sampled_from([MAGIC, MAGIC[:1], MAGIC[:2], MAGIC[:3], MAGIC[1:], b"\0", b"\0\0\0\0"]),
    st.binary(max_size=5),
)
PAYLOADS = st.lists(PIECES, max_size=12).map(b"".join)


def write(path: Path, payloads: list[bytes], **options: bool) -> Path:
    with od.recordio.MXRecordIO(path, "w", **options) as out:
        for payload in payloads:
            out.write(payload)
    return path


@pytest.mark.serial
@pytest.mark.parametrize("checksums", [False, True])
def test_what_was_written_before_an_error_is_not_written_twice(tmp_path: Path, checksums: bool) -> None:
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX ones")
    payloads, limits = (
        [bytes([number]) * 300_000 for number in range(3)],
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    with od.recordio.MXRecordIO(tmp_path / "a.rec", "w", checksums=checksums) as out:
        out.write(payloads[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, limits[1]))  # as on a disk that is full
        try:
            with pytest.raises(od.OperadError, match=r"writing .*a\.rec") as raised:
                out.write(payloads[1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert isinstance(raised.value, OSError)
        out.write(payloads[2])
    with od.recordio.MXRecordIO(tmp_path / "a.rec", "r", checksums=checksums) as records:
        assert list(records) == payloads


def many() -> list[bytes]:
    """300 payloads of up to 400 bytes with magic words everywhere."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(300):
        size = int(rng.integers(0, 400))
        payload = bytearray(rng.bytes(size))
        for _ in range(int(rng.integers(0, 6))):
            at = int(rng.integers(0, size + 1))
            payload[at : at + 4] = MAGIC
        found.append(bytes(payload))
    return found


def test_a_payload_is_divided_at_aligned_magic_words() -> None:
    assert framed(b"1234" + MAGIC + b"5678" + MAGIC + b"9").hex(" ", 4) == (
        "0a23d7ce 04000020 31323334 0a23d7ce 04000040 35363738 0a23d7ce 01000060 39000000"
    )


def test_a_magic_word_between_the_multiples_of_four_divides_nothing() -> None:
    assert framed(b"1" + MAGIC).hex(" ", 4) == "0a23d7ce 05000000 310a23d7 ce000000"


def test_files_are_those_of_mxnet(tmp_path: Path) -> None:
    index, records = tmp_path / "many.idx", tmp_path / "many.rec"
    with od.recordio.MXIndexedRecordIO(index, records, "w") as out:
        for key, payload in enumerate(many()):
            out.write_idx(key, payload)
    # Of the files that MXNet 1.9.1 writes of the same payloads; it read ours, too.
    assert hashlib.sha256(index.read_bytes()).hexdigest()[:16] == "3fcddb5ce4ce6c4f"
    assert hashlib.sha256(records.read_bytes()).hexdigest()[:16] == "62bebac8a66cfd24"


def test_checksums_leave_the_file_as_it_is(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.rec", many())
    checked = write(tmp_path / "checked.rec", many(), checksums=True)
    assert plain.read_bytes() == checked.read_bytes()


@given(payloads=st.lists(PAYLOADS, max_size=6))
def test_whatever_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes]) -> None:
    path = write(tmp_path_factory.mktemp("any") / "any.rec", payloads, checksums=True)
    for checksums in (False, True):
        with od.recordio.MXRecordIO(path, "r", checksums=checksums) as records:
            assert list(records) == payloads
            assert records.read() is None


@given(payloads=st.lists(PAYLOADS, max_size=6), num_parts=st.integers(1, 9))
def test_every_record_is_in_one_part_wherever_the_cuts_are(
    tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes], num_parts: int
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    files = [write(folder / "a.rec", payloads), write(folder / "b.rec", payloads[::-1])]
    parts = [od.recordio.RecordPart(files, num_parts, index) for index in range(num_parts)]
    assert [payload for part in parts for payload in part] == payloads + payloads[::-1]
    found = [
        part.files[number].read(int(offset))[0]
        for number in (0, 1)
        for part in parts
        for offset in part.offsets()[number]
    ]
    assert found == payloads + payloads[::-1]
    for part in parts:
        part.close()


def test_parts_are_those_of_mxnet(tmp_path: Path) -> None:
    path = write(tmp_path / "words.rec", [b"one", b"two", b"three"])
    assert [list(od.recordio.RecordPart(path, 2, part)) for part in (0, 1)] == [[b"one", b"two"], [b"three"]]


@pytest.mark.parametrize(("num_parts", "part_index"), [(0, 0), (2, 2), (2, -1)])
def test_a_part_that_is_none_is_refused(tmp_path: Path, num_parts: int, part_index: int) -> None:
    with pytest.raises(ParamError, match="0 <= part_index < num_parts"):
        od.recordio.RecordPart(write(tmp_path / "a.rec", []), num_parts, part_index)


def test_anything_with_bytes_is_a_record_and_a_text_is_none() -> None:
    assert as_bytes("x", bytearray(b"ab")) == as_bytes("x", memoryview(b"ab")) == b"ab"
    assert as_bytes("x", np.arange(2, dtype=np.uint8)) == b"\0\1"
    with pytest.raises(ArgumentError, match="str, expected bytes"):
        as_bytes("x", "ab")


def test_a_record_longer_than_its_length_field_is_refused() -> None:
    class Long(bytes):
        def __len__(self) -> int:
            return MAX_LENGTH + 1

    with pytest.raises(ParamError, match="536870912 bytes, expected at most 536870911"):
        as_bytes("x", Long())
