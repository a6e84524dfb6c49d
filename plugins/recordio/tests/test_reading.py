from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import operad as od
from operad.errors import EngineError, FormatError, OperadError, ParamError, UnsupportedError
from operad_recordio.command import rec2idx

SIZES = [0, 3, 70_000, 8, 20_000, 300_000, 1, 5, 17_000]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """An index and records of many sizes, under the keys 0, 10, 20 and so on."""
    found = tmp_path / "a.idx", tmp_path / "a.rec"
    with od.recordio.MXIndexedRecordIO(*found, "w") as out:
        for number, size in enumerate(SIZES):
            out.write_idx(10 * number, bytes([number]) * size)
    return found


def expected(number: int) -> bytes:
    return bytes([number]) * SIZES[number]


def in_child(work: Callable[[], object]) -> str:
    """What `work` gives, as text, in a forked child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = repr(work())
        except OperadError as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading, "rb") as file:
        return file.read().decode()


def test_records_large_and_small_come_in_order_and_again_after_reset(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXRecordIO(paths[1], "r") as records:
        for _ in range(2):
            assert list(records) == [expected(number) for number in range(len(SIZES))]
            records.reset()


def test_keys_lead_to_their_records_in_any_order(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXIndexedRecordIO(*paths, "r") as records:
        assert records.keys == [10 * number for number in range(len(SIZES))]
        for number in (8, 0, 5, 5, 1, 2, 7, 3, 6, 4, 0):
            assert records.read_idx(10 * number) == expected(number)
        records.seek(30)
        assert [records.read(), records.read()] == [expected(3), expected(4)]


def test_tell_gives_what_seek_takes(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXRecordIO(paths[1], "r") as records:
        places = []
        while records.tell() < paths[1].stat().st_size:
            places.append(records.tell())
            records.read()
        for number in (4, 2, 3, 0, 8):
            records.seek(places[number])
            assert records.read() == expected(number)
        with pytest.raises(ParamError, match="seek to byte -1"):
            records.seek(-1)


@pytest.mark.parametrize("done", [0, 1, 4, len(SIZES)])
def test_a_reader_that_loads_a_state_goes_on_where_the_other_was(paths: tuple[Path, Path], done: int) -> None:
    with (
        od.recordio.MXRecordIO(paths[1], "r") as one,
        od.recordio.MXIndexedRecordIO(*paths, "r") as other,
    ):
        for _ in range(done):
            one.read()
        other.load_state_dict(one.state_dict())
        assert list(other) == [expected(number) for number in range(done, len(SIZES))]


@pytest.mark.parametrize("done", [0, 1, 7, 10])
def test_a_part_of_files_goes_on_where_the_state_was(paths: tuple[Path, Path], done: int) -> None:
    part = od.recordio.RecordPart([paths[1], paths[1]], num_parts=3, part_index=1)
    one, other = iter(part), iter(part)
    whole = list(part)
    assert [next(one) for _ in range(min(done, len(whole)))] == whole[:done]
    other.load_state_dict(one.state_dict())
    assert list(other) == whole[done:]


def test_the_state_of_another_file_is_refused(paths: tuple[Path, Path], tmp_path: Path) -> None:
    with od.recordio.MXRecordIO(tmp_path / "b.rec", "w") as out:
        out.write(b"other")
    with (
        od.recordio.MXRecordIO(tmp_path / "b.rec", "r") as other,
        od.recordio.MXRecordIO(paths[1], "r") as one,
        pytest.raises(FormatError, match="the state is of a file of 16 bytes, and '"),
    ):
        one.load_state_dict(other.state_dict())
    halves = [iter(od.recordio.RecordPart(paths[1], 5, part)) for part in (0, 4)]
    with pytest.raises(FormatError, match="RecordPart: the state is of a part with"):
        halves[0].load_state_dict(halves[1].state_dict())


def test_a_writer_tells_where_the_next_record_goes(tmp_path: Path) -> None:
    with od.recordio.MXRecordIO(tmp_path / "a.rec", "w") as out:
        told = []
        for size in (0, 3, 4, 5):
            told.append(out.tell())
            out.write(b"x" * size)
    assert told == [0, 8, 20, 32]


def test_records_are_appended_with_their_keys(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXIndexedRecordIO(*paths, "a") as out:
        out.write_idx(1, b"more")
    with od.recordio.MXIndexedRecordIO(*paths, "r") as records:
        assert (records.keys[-2:], records.read_idx(1), records.read_idx(80)) == (
            [80, 1],
            b"more",
            expected(8),
        )


def test_keys_may_be_texts(tmp_path: Path) -> None:
    names = tmp_path / "a.idx", tmp_path / "a.rec"
    with od.recordio.MXIndexedRecordIO(*names, "w", str) as out:
        out.write_idx("tulip", b"1")
        out.write_idx("rose", b"2")
    with od.recordio.MXIndexedRecordIO(*names, "r", key_type=str) as records:
        assert (records.keys, records.read_idx("rose")) == (["tulip", "rose"], b"2")
    with pytest.raises(FormatError, match=r"line 1 is 'tulip\\t0\\n', expected a key \(int\)"):
        od.recordio.MXIndexedRecordIO(*names, "r")


def test_an_unknown_key_is_a_key_error(paths: tuple[Path, Path]) -> None:
    with (
        od.recordio.MXIndexedRecordIO(*paths, "r") as records,
        pytest.raises(KeyError, match="has no key 7 among its 9"),
    ):
        records.read_idx(7)


def test_an_index_that_leads_nowhere_is_an_error(paths: tuple[Path, Path]) -> None:
    paths[0].write_text("0\t4\n1\t999999996\n")
    with od.recordio.MXIndexedRecordIO(*paths, "r") as records:
        with pytest.raises(FormatError, match="record at byte 4 is damaged"):
            records.read_idx(0)
        with pytest.raises(ParamError, match="seek to byte 999999996"):
            records.read_idx(1)


def test_an_index_is_built_from_the_records(paths: tuple[Path, Path]) -> None:
    written = [line.split("\t")[1] for line in paths[0].read_text().splitlines()]
    assert od.recordio.build_index(paths[1], checksums=True) == len(SIZES)
    assert paths[0].read_text() == "".join(f"{key}\t{at}\n" for key, at in enumerate(written))
    with od.recordio.MXIndexedRecordIO(*paths, "r", checksums=True) as records:
        assert records.read_idx(4) == expected(4)


def test_the_command_builds_the_index_and_checksums(paths: tuple[Path, Path]) -> None:
    paths[0].unlink()
    done = CliRunner().invoke(rec2idx, [str(paths[1]), "--checksums"])
    assert done.output == f"{paths[0]}: 9 records\n"
    assert paths[0].exists()
    assert paths[1].with_name("a.rec.crc").exists()


def test_the_wrong_flag_is_refused(paths: tuple[Path, Path], tmp_path: Path) -> None:
    with (
        od.recordio.MXRecordIO(paths[1], "r") as records,
        pytest.raises(UnsupportedError, match="expected 'w'"),
    ):
        records.write(b"")
    with (
        od.recordio.MXRecordIO(tmp_path / "b.rec", "w") as out,
        pytest.raises(UnsupportedError, match="flag 'w'"),
    ):
        out.read()
    with pytest.raises(ParamError, match="flag is 'x', expected 'r' to read, 'w' to write or 'a' to append"):
        od.recordio.MXRecordIO(paths[1], "x")
    with pytest.raises(ParamError, match="build_index"):
        od.recordio.MXRecordIO(paths[1], "a", checksums=True)
    with pytest.raises(ParamError, match="on_error is 'ignore'"):
        od.recordio.MXRecordIO(paths[1], "r", on_error="ignore")


def test_a_closed_file_says_so_and_reset_opens_it(paths: tuple[Path, Path]) -> None:
    records = od.recordio.MXRecordIO(paths[1], "r")
    records.close()
    records.close()
    with pytest.raises(EngineError, match="is closed"):
        records.read()
    records.reset()
    assert records.read() == expected(0)
    records.close()


def test_a_pickled_reader_begins_at_the_first_record(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXIndexedRecordIO(*paths, "r") as records:
        records.read_idx(20)
        with pickle.loads(pickle.dumps(records)) as other:
            assert (other.read(), other.read_idx(30)) == (expected(0), expected(3))
        assert records.read() == expected(3)


def test_a_writer_is_not_pickled(tmp_path: Path) -> None:
    with (
        od.recordio.MXRecordIO(tmp_path / "b.rec", "w") as out,
        pytest.raises(UnsupportedError, match="opening it again would empty it"),
    ):
        pickle.dumps(out)


@pytest.mark.serial
def test_in_a_forked_child_read_refuses_until_reset_and_keys_work(paths: tuple[Path, Path]) -> None:
    with od.recordio.MXIndexedRecordIO(*paths, "r") as records:
        records.read()

        def after_reset() -> Any:
            records.reset()
            return records.read()

        assert in_child(records.read).startswith("EngineError: MXIndexedRecordIO: read:")
        assert in_child(lambda: records.read_idx(10)) == repr(expected(1))
        assert in_child(after_reset) == repr(expected(0))
        assert records.read() == expected(1)


@pytest.mark.serial
def test_a_forked_child_writes_nothing_of_its_parent(tmp_path: Path) -> None:
    names = tmp_path / "b.idx", tmp_path / "b.rec"
    out = od.recordio.MXIndexedRecordIO(*names, "w")
    out.write_idx(0, b"parent")
    assert in_child(lambda: out.write(b"child")).startswith("EngineError")
    assert in_child(out.close) == "None"
    assert [name.stat().st_size for name in names] == [0, 0]
    out.close()
    assert list(od.recordio.MXRecordIO(names[1], "r")) == [b"parent"]
    assert names[0].read_text() == "0\t0\n"
