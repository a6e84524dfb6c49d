from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad import config
from operad.errors import ArgumentError, FormatError, ParamError, ShapeError
from operad_image.listing import read_listed
from operad_image.packing import Packing, pack_list

SHAPE = (3, 48, 64)


def labels(iterator: Any) -> list[tuple[list[float], int]]:
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in iterator]


def test_batches_have_the_images_of_a_record_file(records: Path, part_of: Any) -> None:
    iterator = od.image.ImageIter(4, SHAPE, path_imgrec=str(records))
    assert (iterator.provide_data, iterator.provide_label) == (
        [("data", (4, *SHAPE))],
        [("softmax_label", (4,))],
    )
    batch = iterator.next()
    expected = od.image.codec.decode(od.image.codec.encode(part_of(2))).transpose(2, 0, 1)
    np.testing.assert_array_equal(batch.data[0].asnumpy()[2], expected)
    assert batch.index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("handle", "passes"),
    [
        ("pad", [[([0, 1, 2, 3, 4, 5], 0), ([6, 7, 8, 9, 0, 1], 2)]] * 2),
        ("discard", [[([0, 1, 2, 3, 4, 5], 0)]] * 2),
        ("roll_over", [[([0, 1, 2, 3, 4, 5], 0)], [([6, 7, 8, 9, 0, 1], 0), ([2, 3, 4, 5, 6, 7], 0)]]),
    ],
)
def test_images_that_fill_no_batch_are_handled_as_asked(records: Path, handle: str, passes: Any) -> None:
    iterator = od.image.ImageIter(6, SHAPE, path_imgrec=str(records), last_batch_handle=handle)
    for expected in passes:
        assert labels(iterator) == expected
        iterator.reset()
    iterator.hard_reset()
    assert iterator.next().label[0].asnumpy()[0] == 0


def test_a_subclass_rewinds_by_setting_where_it_is(records: Path) -> None:
    class Rewound(od.image.ImageIter):
        def reset(self) -> None:
            self.cur = 0

    iterator = Rewound(5, SHAPE, path_imgrec=str(records))
    for _ in range(2):
        assert labels(iterator) == [([0, 1, 2, 3, 4], 0), ([5, 6, 7, 8, 9], 0)]
        iterator.reset()
    iterator.cur = 3
    assert iterator.next().label[0].asnumpy().tolist() == [3, 4, 5, 6, 7]
    assert iterator.cur == 8


def test_orders_are_those_of_pythons_random(records: Path) -> None:
    random.seed(5)
    iterator = od.image.ImageIter(5, SHAPE, path_imgrec=str(records), shuffle=True)
    found = [label for batch, _ in labels(iterator) for label in batch]
    iterator.reset()
    again = [label for batch, _ in labels(iterator) for label in batch]
    random.seed(5)
    expected = list(range(10))
    random.shuffle(expected)
    assert found == expected
    random.shuffle(expected)
    assert again == expected


@pytest.mark.parametrize("index", [None, "photos.idx"])
def test_every_image_is_in_one_part_with_an_index_and_without(records: Path, index: str | None) -> None:
    options = {"path_imgrec": str(records), "num_parts": 3}
    if index:
        options["path_imgidx"] = str(records.with_name(index))
    found = [
        label
        for part in range(3)
        for batch, _ in labels(od.image.ImageIter(1, SHAPE, part_index=part, **options))
        for label in batch
    ]
    assert found == list(range(10))


def test_images_come_from_files_of_a_list_or_of_a_file(tmp_path: Path, part_of: Any) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jpg").write_bytes(od.image.codec.encode(part_of(number)))
    (tmp_path / "a.lst").write_text("".join(f"{n}\t{n + 0.5}\t7\t{n}.jpg\n" for n in range(3)))
    named = {"path_root": str(tmp_path), "label_width": 2}
    by_file = od.image.ImageIter(3, SHAPE, path_imglist=str(tmp_path / "a.lst"), **named)
    by_list = od.image.ImageIter(3, SHAPE, imglist=[[n + 0.5, 7, f"{n}.jpg"] for n in range(3)], **named)
    for iterator in (by_file, by_list):
        batch = iterator.next()
        assert batch.label[0].asnumpy().tolist() == [[0.5, 7], [1.5, 7], [2.5, 7]]
        assert batch.data[0].shape == (3, *SHAPE)


def test_a_list_beside_a_record_file_gives_the_labels(records: Path) -> None:
    (records.parent / "other.lst").write_text("".join(f"{n}\t{100 + n}\tx.jpg\n" for n in range(10)))
    iterator = od.image.ImageIter(
        2, SHAPE, path_imgrec=str(records), path_imglist=str(records.parent / "other.lst")
    )
    assert iterator.next().label[0].asnumpy().tolist() == [100, 101]


def test_a_subclass_may_change_each_step(records: Path) -> None:
    class Mine(od.image.ImageIter):  # type: ignore[misc]  # a class of a plugin
        def augmentation_transform(self, data: Any) -> Any:
            assert isinstance(data, od.nd.NDArray)
            return super().augmentation_transform(data) + 1

    plain = od.image.ImageIter(2, SHAPE, path_imgrec=str(records)).next().data[0].asnumpy()
    np.testing.assert_array_equal(
        Mine(2, SHAPE, path_imgrec=str(records)).next().data[0].asnumpy(), plain + 1
    )


def test_a_damaged_image_is_an_error_that_names_it_and_the_next_batch_comes(records: Path) -> None:
    damage(records, 3)
    iterator = od.image.ImageIter(2, SHAPE, path_imgrec=str(records))
    iterator.next()
    with pytest.raises(
        FormatError, match=r"the record at byte \d+ of '.*photos.rec': the image is a damaged JPEG"
    ):
        iterator.next()
    assert iterator.next().label[0].asnumpy().tolist() == [4, 5]


def damage(records: Path, number: int) -> None:
    """Spoil the picture of a record, whose frame stays whole."""
    with od.recordio.MXIndexedRecordIO(records.with_suffix(".idx"), records, "r") as file:
        place, content = file.idx[number], file.read_idx(number)
    whole = bytearray(records.read_bytes())
    whole[place + 8 + 24 + 40 : place + 8 + len(content)] = bytes(len(content) - 64)
    records.write_bytes(whole)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ArgumentError, "expected path_imgrec, path_imglist or imglist"),
        ({"last_batch_handle": "keep"}, ParamError, "expected one of pad, discard, roll_over"),
        ({"dtype": "int8"}, ParamError, "dtype is 'int8'"),
        ({"data_shape": (1, 8, 8)}, ShapeError, r"expected \(3, height, width\)"),
        ({"imglist": [[]]}, ArgumentError, "expected labels and a path"),
        (
            {"path_imgrec": "photos.rec", "label_width": 2},
            FormatError,
            "has 1 labels, expected label_width=2",
        ),
        (
            {"path_imgrec": "photos.rec", "aug_list": []},
            ShapeError,
            r"shape \(3, 48, 64\), expected \(3, 8, 8\)",
        ),
        (
            {"path_imgrec": "photos.rec", "num_parts": 2, "part_index": 2},
            ParamError,
            "part_index < num_parts",
        ),
    ],
)
def test_what_makes_no_batches_is_refused(
    records: Path, options: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(records.parent)
    with pytest.raises(error, match=message):
        od.image.ImageIter(**{"batch_size": 2, "data_shape": (3, 8, 8), **options}).next()


@pytest.mark.parametrize("line", ["x\t1\ta.jpg", "1\ta.jpg", "1\tx\ta.jpg", ""])
def test_a_damaged_list_is_an_error_that_names_the_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.lst").write_text(f"0\t1\ta.jpg\n{line}\n")
    with pytest.raises(FormatError, match=r"a.lst': line 2 is"):
        od.image.ImageIter(1, SHAPE, path_imglist=str(tmp_path / "a.lst"))


@pytest.mark.parametrize("path", ["../secret.jpg", "{root}/../secret.jpg", "link.jpg"])
def test_a_list_names_no_file_outside_its_root(
    path: str, tmp_path: Path, photographs: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.jpg").write_bytes(photographs["china.jpg"])
    (root / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    (tmp_path / "a.lst").write_text(f"0\t1.0\t{path.format(root=root)}\n")
    named = {"path_imglist": str(tmp_path / "a.lst"), "path_root": str(root)}
    for kind in (od.image.ImageIter, od.image.ImageDetIter):
        with pytest.raises(FormatError, match=r"a\.lst.*outside the folder.*OPERAD_OUTSIDE_ROOT=1"):
            kind(1, SHAPE, **named).next()
    packing = Packing(str(root), pass_through=True)
    with pytest.raises(FormatError, match=r"number 0.*outside the folder"):
        pack_list(str(tmp_path / "a.lst"), packing)
    monkeypatch.setenv("OPERAD_OUTSIDE_ROOT", "1")
    config.reload()
    try:
        assert od.image.ImageIter(1, SHAPE, **named).next().data[0].shape == (1, *SHAPE)
    finally:
        monkeypatch.undo()
        config.reload()


def test_absolute_paths_of_a_list_are_taken_below_a_root_of_slash(
    tmp_path: Path, photographs: dict[str, bytes]
) -> None:
    (tmp_path / "a.jpg").write_bytes(photographs["china.jpg"])
    (tmp_path / "a.lst").write_text(f"0\t1.0\t{tmp_path}/a.jpg\n")
    given = od.image.ImageIter(1, SHAPE, path_imglist=str(tmp_path / "a.lst"), path_root="/")
    assert given.next().data[0].shape == (1, *SHAPE)
    # A list that the program itself makes may name what it likes.
    given = od.image.ImageIter(1, SHAPE, imglist=[[1.0, str(tmp_path / "a.jpg")]])
    assert given.next().data[0].shape == (1, *SHAPE)


@pytest.mark.parametrize("content", [b"0\t1\t\xff.jpg\n", b"0\t1\n", b"9" * 5000 + b"\t1\ta.jpg\n", b"\0\n"])
def test_a_list_that_is_none_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.lst").write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.lst"):
        od.image.ImageIter(1, SHAPE, path_imglist=str(tmp_path / "a.lst"))
    with pytest.raises(FormatError, match=r"a\.lst"):
        read_listed(str(tmp_path / "a.lst"))
