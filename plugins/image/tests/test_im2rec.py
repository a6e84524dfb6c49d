from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import operad as od
from operad.errors import FormatError, ParamError
from operad_image.command import im2rec
from operad_image.listing import Listed, read_listed, write_lists
from operad_image.packing import Packing, pack_list
from operad_image.parts import join_parts

NAMES = ["b/1.jpg", "b/2.JPG", "a/x.jpeg", "a/y.jpg", "c/d/z.jpg", "c/d/zz.jpg", "top.jpg"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Small images in folders, the same bytes wherever the tests run, and a file that is no image."""
    root = tmp_path / "photos"
    for number, name in enumerate(NAMES):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(od.image.codec.encode(np.full((8, 12, 3), 30 * number, np.uint8)))
    (root / "notes.txt").write_text("no image")
    return root


def run(*arguments: object) -> str:
    done = CliRunner().invoke(im2rec, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def paths(name: Path) -> list[str]:
    return [image.path for image in read_listed(str(name))]


def test_lists_are_those_of_mxnet(folder: Path, tmp_path: Path) -> None:
    run("--list", "--recursive", "--no-shuffle", tmp_path / "all", folder)
    # What MXNet 1.9.1's im2rec.py writes of these names.
    assert (tmp_path / "all.lst").read_text().splitlines() == [
        "0\t0.000000\ttop.jpg",
        "1\t1.000000\ta/x.jpeg",
        "2\t1.000000\ta/y.jpg",
        "3\t2.000000\tb/1.jpg",
        "4\t2.000000\tb/2.JPG",
        "5\t3.000000\tc/d/z.jpg",
        "6\t3.000000\tc/d/zz.jpg",
    ]
    run("--list", tmp_path / "flat", folder / "a")
    assert (tmp_path / "flat.lst").read_text() == "1\t0.000000\ty.jpg\n0\t0.000000\tx.jpeg\n"
    run("--list", "--recursive", tmp_path / "mixed", folder)
    assert [image.number for image in read_listed(str(tmp_path / "mixed.lst"))] == [0, 4, 2, 6, 5, 3, 1]


def test_lists_are_divided_as_in_mxnet(folder: Path, tmp_path: Path) -> None:
    output = run(
        "--list",
        "--recursive",
        "--chunks",
        2,
        "--train-ratio",
        0.5,
        "--test-ratio",
        0.3,
        tmp_path / "part",
        folder,
    )
    counts = {Path(line).name: len(paths(Path(line))) for line in output.splitlines()}
    assert counts == {
        "part_0_test.lst": 1,
        "part_0_val.lst": 1,
        "part_0_train.lst": 2,
        "part_1_test.lst": 1,
        "part_1_val.lst": 0,
        "part_1_train.lst": 2,
    }


def test_parts_larger_than_the_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamError, match="a sum of 1 at most"):
        write_lists(str(tmp_path / "a"), [], train_ratio=0.9, test_ratio=0.2)


@pytest.mark.parametrize("threads", [1, 3])
def test_files_are_packed_as_they_are_in_the_order_of_the_list(
    folder: Path, tmp_path: Path, threads: int
) -> None:
    run("--list", "--recursive", tmp_path / "all", folder)
    assert run("--pass-through", "--num-thread", threads, tmp_path / "all", folder).endswith(
        "all.rec: 7 records\n"
    )
    images = read_listed(str(tmp_path / "all.lst"))
    with od.recordio.MXIndexedRecordIO(tmp_path / "all.idx", tmp_path / "all.rec", "r") as records:
        assert records.keys == [image.number for image in images]
        for image in images:
            header, content = od.recordio.unpack(records.read_idx(image.number))
            assert (header.id, header.label) == (image.number, image.labels[0])
            assert content == (folder / image.path).read_bytes()
    assert sorted(path.name for path in tmp_path.glob("all*")) == ["all.idx", "all.lst", "all.rec"]


def test_images_are_cut_resized_and_encoded_as_asked(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
    run("--list", tmp_path / "a", folder / "a")
    run("--resize", 4, "--center-crop", "--encoding", ".png", "--color", 0, tmp_path / "a", folder / "a")
    _, pixels = od.recordio.unpack_img(next(iter(od.recordio.RecordPart(tmp_path / "a.rec"))))
    assert pixels.shape == (4, 4, 1)


def test_all_labels_of_an_image_are_packed_where_asked(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.lst").write_text("4\t1.5\t2.5\ttop.jpg\n")
    for option, label in (("--pack-label", [1.5, 2.5]), ("--pass-through", 1.5)):
        run(option, tmp_path / "a", folder)
        header, _ = od.recordio.unpack(next(iter(od.recordio.RecordPart(tmp_path / "a.rec"))))
        assert np.asarray(header.label).tolist() == label


def packed_once(folder: Path, tmp_path: Path) -> tuple[str, Packing, bytes, bytes]:
    run("--list", "--recursive", tmp_path / "all", folder)
    name, packing = str(tmp_path / "all.lst"), Packing(str(folder))
    assert pack_list(name, packing)[0] == 7
    return name, packing, (tmp_path / "all.rec").read_bytes(), (tmp_path / "all.idx").read_bytes()


def interrupted(name: str, packing: Packing, after: int) -> None:
    """Pack, and be interrupted after so many images."""
    seen: list[str] = []

    def advance(path: str) -> None:
        seen.append(path)
        if len(seen) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_list(name, packing, 2, advance)


@pytest.mark.parametrize("lost", [0, 1, 7, 9])
def test_interrupted_packing_goes_on_and_gives_the_same_files(
    folder: Path, tmp_path: Path, lost: int
) -> None:
    name, packing, records, index = packed_once(folder, tmp_path)
    interrupted(name, packing, 4)
    assert not (tmp_path / "all.idx").exists()
    content = (tmp_path / "all.rec").read_bytes()
    (tmp_path / "all.rec").write_bytes(content[: len(content) - lost])
    (folder / paths(Path(name))[0]).unlink()  # it has been packed, and is not read again
    steps: list[str] = []
    assert pack_list(name, packing, 2, steps.append) == (7, [])
    assert steps == paths(Path(name))
    assert ((tmp_path / "all.rec").read_bytes(), (tmp_path / "all.idx").read_bytes()) == (records, index)


@pytest.mark.parametrize("what", ["options", "list", "overwrite"])
def test_packing_something_else_begins_anew(folder: Path, tmp_path: Path, what: str) -> None:
    name, packing, records, _ = packed_once(folder, tmp_path)
    interrupted(name, packing, 4)
    other = Packing(str(folder), quality=50) if what == "options" else packing
    if what == "list":
        Path(name).write_text(Path(name).read_text().replace("2.000000", "5.000000"))
    else:
        (folder / paths(Path(name))[0]).write_bytes(od.image.codec.encode(np.zeros((8, 12, 3), np.uint8)))
    pack_list(name, other, begin_anew=what == "overwrite")
    assert (tmp_path / "all.rec").read_bytes() != records


def test_an_image_that_cannot_be_read_stops_packing_or_is_left_out(folder: Path, tmp_path: Path) -> None:
    run("--list", "--recursive", tmp_path / "all", folder)
    (folder / "a" / "x.jpeg").write_bytes(b"\xff\xd8 no picture")
    (folder / "b" / "1.jpg").unlink()
    packing = Packing(str(folder))
    with pytest.raises((FormatError, FileNotFoundError)):
        pack_list(str(tmp_path / "all.lst"), packing, 2)
    count, failures = pack_list(str(tmp_path / "all.lst"), Packing(str(folder), skips_errors=True), 2)
    assert count == 5
    assert sorted(name for name in ("a/x.jpeg", "b/1.jpg") if any(name in text for text in failures)) == [
        "a/x.jpeg",
        "b/1.jpg",
    ]


@pytest.mark.parametrize("num_parts", [3, pytest.param(8, marks=pytest.mark.more)])
def test_parts_of_workers_are_joined_to_the_files_of_one_call(
    folder: Path, tmp_path: Path, num_parts: int
) -> None:
    name, packing, records, index = packed_once(folder, tmp_path)
    counts = [pack_list(name, packing, num_parts=num_parts, part_index=part)[0] for part in range(num_parts)]
    assert (sum(counts), max(counts) - min(counts)) == (7, int(7 % num_parts > 0))
    assert join_parts(name) == 7
    assert ((tmp_path / "all.rec").read_bytes(), (tmp_path / "all.idx").read_bytes()) == (records, index)
    assert sorted(path.name for path in tmp_path.glob("all*")) == ["all.idx", "all.lst", "all.rec"]


def test_workers_know_their_part_from_their_launcher(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--list", "--recursive", tmp_path / "all", folder)
    monkeypatch.setenv("OPERAD_KV_NUM_WORKERS", "2")
    for rank, count in (("0", 3), ("1", 4)):
        monkeypatch.setenv("OPERAD_KV_RANK", rank)
        assert run(tmp_path / "all", folder).endswith(f"all.rec, part {rank} of 2: {count} records\n")
    assert run("--join", tmp_path / "all", folder).endswith("all.rec: 7 records\n")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("none packed", "no parts"),
        ("failed", "part 1 of 2 .* is not whole.*--num-parts 2 --part-index 1"),
        ("options", "part 1 of 2 .* by other options"),
        ("list", "part 0 of 2 .* from another list"),
        ("divisions", "of-2 and -of-3, expected one number of parts"),
    ],
)
def test_parts_that_do_not_fit_are_not_joined_and_what_was_there_stays(
    folder: Path, tmp_path: Path, harm: str, message: str
) -> None:
    name, packing, records, index = packed_once(folder, tmp_path)
    other = Packing(str(folder), quality=50) if harm == "options" else packing
    if harm != "none packed":
        pack_list(name, packing, num_parts=2, part_index=0)
        pack_list(name, other, num_parts=2, part_index=1)
    if harm == "failed":
        (folder / paths(Path(name))[-1]).unlink()
        with pytest.raises(FileNotFoundError):
            pack_list(name, packing, begin_anew=True, num_parts=2, part_index=1)
    if harm == "list":
        Path(name).write_text(Path(name).read_text().replace("2.000000", "5.000000"))
    if harm == "divisions":
        pack_list(name, packing, num_parts=3, part_index=1)
    with pytest.raises(FormatError, match=message):
        join_parts(name)
    assert ((tmp_path / "all.rec").read_bytes(), (tmp_path / "all.idx").read_bytes()) == (records, index)


def test_a_part_that_is_not_there_is_refused(folder: Path, tmp_path: Path) -> None:
    name, packing, *_ = packed_once(folder, tmp_path)
    with pytest.raises(ParamError, match="part 2 of 2"):
        pack_list(name, packing, num_parts=2, part_index=2)


def test_without_a_list_the_command_says_how_to_make_one(folder: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(im2rec, [str(tmp_path / "none"), str(folder)])
    assert done.exit_code == 2
    assert "write one with --list" in done.output


@pytest.mark.parametrize("line", ["1\ta.jpg", "x\t1\ta.jpg", "1\tx\ta.jpg"])
def test_a_damaged_list_names_the_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.lst").write_text(f"0\t1\ta.jpg\n{line}\n")
    with pytest.raises(FormatError, match="line 2 is"):
        read_listed(str(tmp_path / "a.lst"))


def test_a_listed_image_is_its_line(tmp_path: Path) -> None:
    images = [Listed(3, "a b.jpg", (1.0, 2.5))]
    (name,) = write_lists(str(tmp_path / "a"), images)
    assert read_listed(name) == images
    assert Path(name).read_text() == "3\t1.000000\t2.500000\ta b.jpg\n"


def test_what_is_packed_is_what_the_iterator_reads(folder: Path, tmp_path: Path) -> None:
    run("--list", "--recursive", "--no-shuffle", tmp_path / "all", folder)
    run(tmp_path / "all", folder)
    batches: Any = od.io.ImageRecordIter(
        path_imgrec=str(tmp_path / "all.rec"),
        path_imgidx=str(tmp_path / "all.idx"),
        path_imglist=str(tmp_path / "all.lst"),
        data_shape=(3, 8, 12),
        batch_size=7,
    )
    assert batches.next().label[0].asnumpy().tolist() == [0, 1, 1, 2, 2, 3, 3]
