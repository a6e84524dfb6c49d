"""An iterator over images that loads the state of another one goes on where that one was, bit by bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError
from plugins.iterators.tests import passes

SHAPE = (3, 30, 40)
CHANGES = {
    "rand_crop": True, "rand_mirror": True, "brightness": 0.3, "contrast": 0.3, "saturation": 0.3,
    "pca_noise": 0.1,
}  # fmt: skip
Make = Callable[[Path, int], Any]


def of_records(records: Path, threads: int, **given: Any) -> Any:
    options = {"data_shape": SHAPE, "batch_size": 4, "seed": 5, "shuffle": True, **CHANGES, **given}
    return od.io.ImageRecordIter(path_imgrec=str(records), preprocess_threads=threads, **options)


def with_augmenters(records: Path, _: int, **given: Any) -> Any:
    return od.image.ImageIter(4, SHAPE, path_imgrec=str(records), **{"shuffle": True, **CHANGES, **given})


def with_boxes(records: Path, _: int) -> Any:
    pytest.importorskip("cv2", reason="resizing needs operad-image[opencv]")
    boxes = [[2, 5, number, 0.1, 0.2, 0.8, 0.9] for number in range(10)]
    path = records.with_name("boxes.rec")
    with od.recordio.MXRecordIO(records, "r") as plain, od.recordio.MXRecordIO(path, "w") as out:
        for label, content in zip(boxes, plain, strict=True):
            header, image = od.recordio.unpack(content)
            out.write(od.recordio.pack(header._replace(flag=0, label=label), image))
    crops = {"rand_crop": 0.7, "rand_pad": 0.5, "min_object_covered": [0.1, 0.5, 0.9]}
    colours = {name: value for name, value in CHANGES.items() if name != "rand_crop"}
    return od.image.ImageDetIter(4, SHAPE, path_imgrec=str(path), shuffle=True, **crops, **colours)


ITERATORS: dict[str, Make] = {
    "ImageRecordIter": of_records,
    "ImageRecordIter in order": lambda *given: of_records(*given, shuffle=False),
    "ImageRecordIter without rounds": lambda *given: of_records(*given, round_batch=False),
    "ImageRecordIter of a part": lambda *given: of_records(*given, num_parts=2, part_index=1),
    "ImageIter": with_augmenters,
    "ImageIter that rolls over": lambda *given: with_augmenters(*given, last_batch_handle="roll_over"),
    "ImageDetIter": with_boxes,
    "PrefetchingIter": lambda *given: od.io.PrefetchingIter(of_records(*given)),
    "ResizeIter": lambda *given: od.io.ResizeIter(of_records(*given), 7, reset_internal=False),
}


def held(batch: Any) -> Any:
    return batch.data[0].asnumpy().tobytes(), batch.label[0].asnumpy().tolist(), batch.pad


def taken(iterator: Any, count: int) -> list[Any]:
    return passes.taken(iterator, count, held)


@pytest.mark.parametrize("done", [0, 2, 3, 4, 9])
@pytest.mark.parametrize("make", ITERATORS.values(), ids=ITERATORS)
def test_a_state_leads_to_the_same_batches(make: Make, done: int, records: Path) -> None:
    iterator, other = make(records, 2), make(records, 5)
    taken(iterator, done)
    state, drawn = iterator.state_dict(), (random.getstate(), np.random.get_state())
    expected = taken(iterator, 9)
    other.load_state_dict(state)
    random.setstate(drawn[0])
    np.random.set_state(drawn[1])
    assert taken(other, 9) == expected


def test_passes_that_were_left_in_the_middle_are_part_of_a_state(records: Path) -> None:
    iterator, other = of_records(records, 2, shuffle=False), of_records(records, 1, shuffle=False)
    taken(iterator, 3)  # the whole pass, so that the next one begins with its third image
    for _ in range(2):
        iterator.reset()
        taken(iterator, 1)
    other.load_state_dict(iterator.state_dict())
    assert taken(other, 9) == taken(iterator, 9)


def test_a_state_is_loaded_in_the_middle_of_a_pass(records: Path) -> None:
    iterator = of_records(records, 2)
    taken(iterator, 1)
    state = iterator.state_dict()
    expected = taken(iterator, 9)
    iterator.load_state_dict(state)
    assert taken(iterator, 9) == expected


def test_a_state_counts_a_damaged_batch_as_taken(records: Path) -> None:
    offset = od.recordio.RecordPart(records).offsets()[0][1]
    content = bytearray(records.read_bytes())
    content[offset] = 0
    records.write_bytes(content)
    iterator, other = (of_records(records, 2, shuffle=False) for _ in range(2))
    with pytest.raises(FormatError, match="damaged"):
        iterator.next()
    other.load_state_dict(iterator.state_dict())
    assert taken(other, 1) == taken(iterator, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seed": 6}, "with seed=5, and this one has 6"),
        ({"shuffle": False}, "with shuffle=True, and this one has False"),
        ({"seed_aug": 1}, "with seed_aug=None, and this one has 1"),
        ({"batch_size": 5}, "with batch_size 4, and this one has 5"),
        ({"num_parts": 2}, "with num_parts=1, and this one has 2"),
    ],
)
def test_the_state_of_another_iterator_is_refused(records: Path, given: Any, message: str) -> None:
    with pytest.raises(FormatError, match=f"ImageRecordIter: the state is of an iterator {message}"):
        of_records(records, 1, **given).load_state_dict(of_records(records, 1).state_dict())


def test_the_state_of_other_augmenters_is_refused(records: Path) -> None:
    state = with_augmenters(records, 1).state_dict()
    with pytest.raises(FormatError, match="state belongs to other augmenters than CastAug"):
        with_augmenters(records, 1, aug_list=[od.image.CastAug()]).load_state_dict(state)
    with pytest.raises(FormatError, match="with shuffle=True, and this one has False"):
        with_augmenters(records, 1, shuffle=False).load_state_dict(state)


@pytest.mark.parametrize("make", [of_records, with_augmenters])
def test_what_is_no_state_is_refused(make: Any, records: Path) -> None:
    with pytest.raises(FormatError, match="expected a state with"):
        make(records, 1).load_state_dict({"cur": 3})
