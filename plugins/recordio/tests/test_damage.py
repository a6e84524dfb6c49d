"""Files cut and changed at every offset: an error or the undamaged records, never anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad.errors import FormatError

MAGIC = (0xCED7230A).to_bytes(4, "little")
PAYLOADS = [
    b"first",
    b"",
    b"1234" + MAGIC + b"5678" + MAGIC + b"9",
    b"x" + MAGIC,
    MAGIC + MAGIC,
    b"y" * 8,
    b"the last one",
]


@pytest.fixture
def intact(tmp_path: Path) -> Path:
    path = tmp_path / "small.rec"
    with od.recordio.MXRecordIO(path, "w", checksums=True) as out:
        for payload in PAYLOADS:
            out.write(payload)
    return path


def starts() -> list[int]:
    """The offset of each record, and the end of the file."""
    found = [0]
    for payload in PAYLOADS:
        parts = payload.count(MAGIC) if payload[:1] != b"x" else 0
        length = sum(-(-len(part) // 4) * 4 for part in payload.split(MAGIC)) if parts else len(payload)
        found.append(found[-1] + 8 * (parts + 1) + -(-length // 4) * 4)
    return found


def read(path: Path, **options: Any) -> tuple[list[bytes], str | None]:
    """What is read before the end or an error, and the error."""
    found = []
    with od.recordio.MXRecordIO(path, "r", **options) as records:
        try:
            for payload in records:
                found.append(payload)  # noqa: PERF402 - those before an error count
        except FormatError as error:
            return found, str(error)
    return found, None


def hit(at: int) -> int:
    """The number of the record that has the byte `at`."""
    return max(number for number, start in enumerate(starts()[:-1]) if start <= at)


def flipped(file: Path) -> Iterator[int]:
    """The place of each byte, again for each of its bits, with the file's other bits as they were."""
    content = file.read_bytes()
    for at in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[at] ^= 1 << bit
            file.write_bytes(changed)
            yield at


def test_the_records_stand_where_these_tests_think(intact: Path) -> None:
    assert starts()[-1] == intact.stat().st_size
    assert od.recordio.RecordPart(intact).offsets()[0].tolist() == starts()[:-1]


def test_with_checksums_any_flipped_bit_gives_an_error_or_the_undamaged_records(intact: Path) -> None:
    for at in flipped(intact):
        found, error = read(intact, checksums=True)
        if error is None:
            assert found == PAYLOADS  # a padding byte
        else:
            assert found == PAYLOADS[: hit(at)]
            assert f"record at byte {starts()[hit(at)]} is damaged" in error
            rest, error = read(intact, checksums=True, on_error="skip")
            assert (rest, error) == (PAYLOADS[: hit(at)] + PAYLOADS[hit(at) + 1 :], None)


def test_without_checksums_a_flipped_bit_touches_no_record_but_its_own_and_its_neighbours(
    intact: Path,
) -> None:
    for at in flipped(intact):
        before, behind = PAYLOADS[: max(hit(at) - 1, 0)], PAYLOADS[hit(at) + 2 :]
        found, error = read(intact)
        assert found[: len(before)] == before
        assert error is not None or found[len(found) - len(behind) :] == behind
        rest, error = read(intact, on_error="skip")
        assert error is None
        assert rest[: len(before)] == before
        assert rest[len(rest) - len(behind) :] == behind


@pytest.mark.parametrize("checksums", [False, True])
def test_a_file_that_is_cut_gives_the_whole_records_and_an_error(intact: Path, checksums: bool) -> None:
    content = intact.read_bytes()
    for size in range(len(content)):
        intact.write_bytes(content[:size])
        whole = PAYLOADS[: sum(end <= size for end in starts()[1:])]
        found, error = read(intact, checksums=checksums)
        assert found == whole
        # Without checksums a file that ends between two records is a shorter file.
        assert (error is None) == (not checksums and size in starts())
        rest, error = read(intact, checksums=checksums, on_error="skip")
        assert (rest, error) == (whole, None)


@given(
    content=st.binary(max_size=200)
    | st.lists(
        st.sampled_from([MAGIC, b"\0\0\0\0", b"\4\0\0\0", b"\4\0\0\x20", b"\0\0\0\x40", b"\0\0\0\x60"]),
        max_size=40,
    ).map(b"".join)
)
def test_any_bytes_are_records_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "any.rec"
    path.write_bytes(content)
    read(path)
    _, error = read(path, on_error="skip")
    assert error is None
    part = od.recordio.RecordPart(path)
    assert all(0 <= offset < len(content) for offset in part.offsets()[0])
    part.close()


def test_an_error_names_the_file_the_offset_and_what_was_expected(intact: Path) -> None:
    with intact.open("r+b") as file:
        file.seek(starts()[1])
        file.write(b"\0")
    with od.recordio.MXRecordIO(intact, "r") as records:
        assert records.read() == PAYLOADS[0]
        for _ in range(2):
            with pytest.raises(FormatError) as caught:
                records.read()
            assert str(caught.value) == (
                f"{str(intact)!r}: the record at byte 16 is damaged: expected the magic word 0xced7230a "
                "at byte 16, got 0xced72300; on_error='skip' goes on with the next record"
            )


def test_what_was_skipped_is_told_and_may_be_bounded(intact: Path) -> None:
    content = bytearray(intact.read_bytes())
    for number in (1, 4):
        content[starts()[number]] = 0
    intact.write_bytes(content)
    with od.recordio.MXRecordIO(intact, "r", on_error="skip") as records:
        assert list(records) == [PAYLOADS[number] for number in (0, 2, 3, 5, 6)]
        assert [
            f"byte {starts()[number]}" in text for number, text in zip((1, 4), records.skipped, strict=True)
        ]
    found, error = read(intact, on_error="skip", skip_limit=1)
    assert found == [PAYLOADS[number] for number in (0, 2, 3)]
    assert error is not None
    assert error.endswith("more damaged places than skip_limit=1 allows")


def test_missing_and_damaged_checksums_are_errors_that_say_what_to_do(intact: Path) -> None:
    sidecar = intact.with_name(intact.name + ".crc")
    content = sidecar.read_bytes()
    for at in range(len(content)):
        sidecar.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(FormatError, match="make it again"):
            od.recordio.MXRecordIO(intact, "r", checksums=True)
    sidecar.unlink()
    with pytest.raises(FormatError, match="write the file with checksums=True"):
        od.recordio.MXRecordIO(intact, "r", checksums=True)


def test_checksums_of_a_longer_file_are_noticed_at_its_end(intact: Path) -> None:
    intact.write_bytes(intact.read_bytes()[: starts()[-2]])
    _, error = read(intact, checksums=True)
    assert error is not None
    assert error.endswith("1 records are missing")


def test_writing_without_checksums_removes_those_of_the_file_before(intact: Path) -> None:
    with od.recordio.MXRecordIO(intact, "w") as out:
        out.write(b"new")
    assert not intact.with_name(intact.name + ".crc").exists()
