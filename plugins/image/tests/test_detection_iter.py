from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, FormatError, ShapeError

pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")

# Header length, numbers of an object, objects: one, two, and one of three that has no area.
LABELS = [
    [2, 5, 0, 0.1, 0.2, 0.5, 0.7],
    [4, 5, 99, 99, 1, 0.1, 0.1, 0.5, 0.5, 2, 0.25, 0.5, 0.75, 1],
    [2, 5, 3, 0, 0, 1, 1, 4, 0.5, 0.5, 0.5, 0.9],
]


@pytest.fixture
def pictures(tmp_path: Path, part_of: Any) -> Path:
    """Three photographs of 64x48 pixels, with objects."""
    path = tmp_path / "objects.rec"
    with od.recordio.MXRecordIO(path, "w") as out:
        for number, label in enumerate(LABELS):
            content = od.image.codec.encode(part_of(number))
            out.write(od.recordio.pack(od.recordio.IRHeader(0, label, number, 0), content))
    return path


def iterator(pictures: Path, **options: Any) -> Any:
    return od.image.ImageDetIter(
        **{"batch_size": 3, "data_shape": (3, 48, 64), "path_imgrec": str(pictures), **options}
    )


def test_labels_are_the_objects_of_each_image_and_rows_of_minus_one(pictures: Path) -> None:
    made = iterator(pictures)
    assert (made.label_shape, made.provide_label) == ((2, 5), [("label", (3, 2, 5))])
    batch = made.next()
    np.testing.assert_allclose(
        batch.label[0].asnumpy(),
        [
            [[0, 0.1, 0.2, 0.5, 0.7], [-1] * 5],
            [[1, 0.1, 0.1, 0.5, 0.5], [2, 0.25, 0.5, 0.75, 1]],
            [[3, 0, 0, 1, 1], [-1] * 5],
        ],
        rtol=1e-6,
    )
    assert (batch.data[0].shape, batch.pad) == ((3, 3, 48, 64), 0)


def test_images_and_boxes_are_changed_together(pictures: Path) -> None:
    plain, mirrored = (
        iterator(pictures, aug_list=[image]).next()
        for image in (od.image.DetHorizontalFlipAug(0), od.image.DetHorizontalFlipAug(1))
    )
    np.testing.assert_array_equal(mirrored.data[0].asnumpy(), plain.data[0].asnumpy()[..., ::-1])
    np.testing.assert_allclose(mirrored.label[0].asnumpy()[0, 0], [0, 0.5, 0.2, 0.9, 0.7], rtol=1e-6)


def test_iterators_for_training_and_validation_get_labels_of_one_shape(pictures: Path) -> None:
    large, small = iterator(pictures), iterator(pictures, num_parts=3, part_index=2, batch_size=1)
    assert small.label_shape == (1, 5)
    assert small.sync_label_shape(large) is large
    assert (small.label_shape, small.next().label[0].shape) == ((2, 5), (1, 2, 5))
    large.reshape((3, 48, 64), (4, 5))
    assert large.next().label[0].shape == (3, 4, 5)
    with pytest.raises(ShapeError, match=r"label_shape is \(1, 5\), expected \(4, 5\) or more rows"):
        large.reshape(label_shape=(1, 5))
    with pytest.raises(ArgumentError, match="got list"):
        large.sync_label_shape([])


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1], "1 numbers"),
        ([2, 5, 0, 0, 0, 1], "6 numbers"),
        ([2, 4, 0, 0, 0, 1], "6 numbers"),
        ([1, 5, 0, 0, 0, 1, 1], "7 numbers"),
        ([2, 5, 0, 0.5, 0, 0.5, 1], "no object"),
        ([2, 6, 0, 0, 0, 1, 1, 7], "have 6 numbers, those before 5"),
    ],
)
def test_labels_that_are_no_objects_name_the_record(pictures: Path, label: list[float], message: str) -> None:
    with od.recordio.MXRecordIO(pictures, "a") as out:
        offset = out.tell()
        out.write(od.recordio.pack(od.recordio.IRHeader(0, label, 9, 0), b""))
    with pytest.raises(FormatError, match=rf"ImageDetIter: the record at byte {offset} of .*{message}"):
        iterator(pictures)


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_labels_that_are_no_numbers_are_refused_by_the_record(
    tmp_path: Path, part_of: Any, place: int, value: float
) -> None:
    label = [*LABELS[0][:place], value, *LABELS[0][place + 1 :]]
    with od.recordio.MXRecordIO(tmp_path / "a.rec", "w") as out:
        out.write(od.recordio.pack(od.recordio.IRHeader(0, label, 0, 0), od.image.codec.encode(part_of(0))))
    with pytest.raises(FormatError, match=r"a\.rec.*its labels have (nan|inf|-inf)"):
        iterator(tmp_path / "a.rec")
    with pytest.raises(FormatError, match=r"a\.rec.*its labels have (nan|inf|-inf)"):
        od.io.ImageDetRecordIter(
            path_imgrec=str(tmp_path / "a.rec"), data_shape=(3, 48, 64), batch_size=1
        ).next()
