from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, EngineError, FormatError, ParamError, ShapeError

SHAPE = (3, 48, 64)
RANDOM = {
    "rand_crop": True,
    "rand_mirror": True,
    "brightness": 0.2,
    "contrast": 0.2,
    "saturation": 0.2,
    "pca_noise": 0.1,
    "max_random_contrast": 0.1,
    "max_random_illumination": 3,
    "mean_r": 10,
    "std_b": 3,
    "scale": 0.5,
}


def iterator(records: Path, **options: Any) -> Any:
    return od.io.ImageRecordIter(
        **{
            "path_imgrec": str(records),
            "data_shape": SHAPE,
            "batch_size": 4,
            "preprocess_threads": 2,
            **options,
        }
    )


def labels(batches: Any) -> list[tuple[list[float], int]]:
    return [(batch.label[0].asnumpy().tolist(), batch.pad) for batch in batches]


def images(batches: Any) -> np.ndarray[Any, Any]:
    return np.stack([batch.data[0].asnumpy() for batch in batches])


def test_images_are_cut_mirrored_and_normalized_as_asked(records: Path, part_of: Any) -> None:
    made = iterator(
        records,
        data_shape=(3, 40, 50),
        mirror=True,
        mean_r=1,
        mean_g=2,
        mean_b=3,
        std_r=2,
        std_g=4,
        std_b=8,
        scale=0.5,
    )
    pixels = od.image.codec.decode(od.image.codec.encode(part_of(1)))[4:44, 7:57][:, ::-1].astype(np.float32)
    expected = (pixels - np.float32([1, 2, 3])) * np.float32([0.25, 0.125, 0.0625])
    np.testing.assert_array_equal(made.next().data[0].asnumpy()[1], expected.transpose(2, 0, 1))


@pytest.mark.parametrize(("name", "limit"), [("ImageRecordUInt8Iter", 255), ("ImageRecordInt8Iter", 127)])
def test_pixels_may_stay_integers(records: Path, name: str, limit: int) -> None:
    floats = iterator(records).next().data[0].asnumpy()
    found = getattr(od.io, name)(path_imgrec=str(records), data_shape=SHAPE, batch_size=4).next().data[0]
    assert found.dtype == np.dtype("uint8" if limit == 255 else "int8")
    np.testing.assert_array_equal(found.asnumpy(), np.minimum(floats, limit))


def test_gray_images_and_other_types_are_made_as_asked(records: Path, part_of: Any) -> None:
    gray = iterator(records, data_shape=(1, 48, 64), mean_r=5, dtype="float64").next().data[0].asnumpy()
    assert gray.dtype == np.float64
    expected = od.image.codec.decode(od.image.codec.encode(part_of(0)), 1).transpose(2, 0, 1) - 5.0
    np.testing.assert_array_equal(gray[0], expected)


def test_a_mean_image_is_mirrored_with_the_image(records: Path, tmp_path: Path) -> None:
    mean = np.random.default_rng(0).random(SHAPE, np.float32)
    od.nd.save(str(tmp_path / "mean.nd"), {"mean_img": od.nd.array(mean)})
    plain = images(iterator(records))
    found = images(iterator(records, mean_img=str(tmp_path / "mean.nd"), mirror=True, scale=2))
    np.testing.assert_allclose(found, ((plain - mean) * 2)[..., ::-1], rtol=1e-6)
    with pytest.raises(ShapeError, match=r"mean_img .* has shape \(3, 48, 64\)"):
        iterator(records, mean_img=str(tmp_path / "mean.nd"), data_shape=(3, 8, 8))


# Ten images in batches of four: as MXNet 1.9.1, but for the pad of `round_batch=False`, which is 0 there.
ROUND = [
    [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0), ([8, 9, 0, 1], 2)],
    [([2, 3, 4, 5], 0), ([6, 7, 8, 9], 0)],
    [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0), ([8, 9, 0, 1], 2)],
]


@pytest.mark.parametrize("ahead", [0, 1, 8])
def test_a_pass_begins_behind_the_images_that_filled_up_the_last_batch(records: Path, ahead: int) -> None:
    made = iterator(records, prefetch_buffer=ahead)
    for expected in ROUND:
        assert labels(made) == expected
        made.reset()
    made = iterator(records, prefetch_buffer=ahead, round_batch=False)
    for _ in range(2):
        assert labels(made) == ROUND[0]
        made.reset()


@pytest.mark.parametrize("ahead", [0, 1, 8])
def test_a_reset_in_the_middle_begins_with_the_first_image(records: Path, ahead: int) -> None:
    made = iterator(records, prefetch_buffer=ahead)
    made.next()
    made.next()
    made.reset()
    assert made.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]


def test_results_do_not_depend_on_threads_and_batches_made_ahead(records: Path) -> None:
    options = {**RANDOM, "shuffle": True, "seed": 3, "data_shape": (3, 30, 30)}
    found = []
    for threads, ahead in ((1, 0), (2, 1), (5, 8)):
        made = iterator(records, preprocess_threads=threads, prefetch_buffer=ahead, **options)
        first = images(made)
        made.reset()
        found.append((first, images(made)))
    for first, second in found[1:]:
        np.testing.assert_array_equal(first, found[0][0])
        np.testing.assert_array_equal(second, found[0][1])
    assert not np.array_equal(found[0][0][0], found[0][1][0])


def test_another_seed_gives_other_images_and_seed_aug_the_same_order(records: Path) -> None:
    options = {**RANDOM, "shuffle": True, "data_shape": (3, 30, 30)}
    one, other = iterator(records, seed=1, **options), iterator(records, seed=1, seed_aug=2, **options)
    pairs = list(zip(one, other, strict=True))
    assert all(np.array_equal(a.label[0].asnumpy(), b.label[0].asnumpy()) for a, b in pairs)
    assert not any(np.array_equal(a.data[0].asnumpy(), b.data[0].asnumpy()) for a, b in pairs)
    assert labels(iterator(records, seed=2, shuffle=True)) != labels(iterator(records, seed=1, shuffle=True))


def test_shuffled_passes_have_every_image_once(records: Path) -> None:
    made = iterator(records, shuffle=True, batch_size=5)
    orders = []
    for _ in range(3):
        orders.append([label for batch, _ in labels(made) for label in batch])
        made.reset()
    assert [sorted(order) for order in orders] == [list(range(10))] * 3
    assert orders[0] != orders[1] != orders[2]


@pytest.mark.parametrize("place", [(0, 0), (0, 2), (1, 1), (3, 0)])
def test_seek_goes_on_as_the_iterator_would_have(records: Path, place: tuple[int, int]) -> None:
    options = {**RANDOM, "shuffle": True, "data_shape": (3, 30, 30)}
    made = iterator(records, **options)
    for _ in range(place[0]):
        list(made)
        made.reset()
    for _ in range(place[1]):
        made.next()
    assert made.tell() == place
    other = iterator(records, **options)
    other.next()
    other.seek(*place)
    for _ in range(2):
        np.testing.assert_array_equal(images(other), images(made))
        other.reset()
        made.reset()


def test_seeking_a_batch_that_is_none_is_an_error(records: Path) -> None:
    with pytest.raises(ParamError, match="seek to batch 4 of a pass that has fewer"):
        iterator(records).seek(0, 4)


@pytest.mark.parametrize("index", ["", "photos.idx"])
def test_every_image_is_in_one_part(records: Path, index: str) -> None:
    path = str(records.with_name(index)) if index else ""
    parts = [
        iterator(records, batch_size=1, num_parts=3, part_index=part, path_imgidx=path) for part in range(3)
    ]
    assert [label for part in parts for batch, _ in labels(part) for label in batch] == list(range(10))


def test_an_index_of_a_longer_file_is_an_error(records: Path) -> None:
    records.with_suffix(".idx").write_text("0\t0\n1\t99999996\n")
    with pytest.raises(FormatError, match="leads to byte 99999996 of"):
        iterator(records, path_imgidx=str(records.with_suffix(".idx")))


def test_the_parts_of_the_current_batch_can_be_asked_for(records: Path) -> None:
    made = iterator(records)
    with pytest.raises(ArgumentError, match="no current batch; call iter_next first"):
        made.getdata()
    steps = 0
    while made.iter_next():
        steps += 1
        assert (made.getdata().shape, made.getlabel().shape) == ((4, *SHAPE), (4,))
        assert (made.getpad(), len(made.getindex())) == (2 * (steps == 3), 4)
    assert steps == 3


def test_several_files_and_a_folder_of_them_are_one(records: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("b.rec", "a.rec"):
        (folder / name).write_bytes(records.read_bytes())
    twice = [*range(10), *range(10)]
    for path in (folder, f"{folder / 'a.rec'};{folder / 'b.rec'}"):
        found = labels(od.io.ImageRecordIter(path_imgrec=str(path), data_shape=SHAPE, batch_size=10))
        assert [label for batch, _ in found for label in batch] == twice


def test_batches_stay_as_they_are_while_others_are_made(records: Path) -> None:
    made = iterator(records, prefetch_buffer=1)
    kept = [batch.data[0] for batch in made]
    made.reset()
    kept += [batch.data[0] for batch in made]
    copies = [array.asnumpy().copy() for array in kept]
    kept[0][:] = -1
    for _ in range(3):
        list(made)
        made.reset()
    for array, copy in zip(kept[1:], copies[1:], strict=True):
        np.testing.assert_array_equal(array.asnumpy(), copy)


def test_the_memory_of_a_batch_is_used_again_once_it_is_dropped(records: Path) -> None:
    made = iterator(records, prefetch_buffer=1)
    addresses = set()
    for _ in range(6):
        for batch in made:
            addresses.add(np.from_dlpack(batch.data[0]).__array_interface__["data"][0])
        del batch
        made.reset()
    assert len(addresses) <= 6 * 3


def test_a_damaged_image_is_an_error_of_its_batch_and_the_others_come(records: Path) -> None:
    whole = bytearray(records.read_bytes())
    with od.recordio.MXIndexedRecordIO(records.with_suffix(".idx"), records, "r") as file:
        place, content = file.idx[5], file.read_idx(5)
    whole[place + 80 : place + 8 + len(content)] = bytes(len(content) - 72)
    records.write_bytes(whole)
    made = iterator(records)
    for _ in range(2):
        assert made.next().label[0].asnumpy().tolist() == [0, 1, 2, 3]
        with pytest.raises(
            FormatError, match=rf"ImageRecordIter: the record at byte {place} of '.*photos.rec'"
        ):
            made.next()
        assert made.next().label[0].asnumpy()[0] == 8
        made.reset()
        if made.tell()[0]:
            made.seek(0, 0)


def test_a_damaged_frame_is_an_error_of_its_batch(records: Path) -> None:
    offset = od.recordio.RecordPart(records).offsets()[0][6]
    with records.open("r+b") as file:
        file.seek(offset)
        file.write(b"\0")
    made = iterator(records)
    made.next()
    with pytest.raises(FormatError, match=f"record at byte {offset} is damaged: expected the magic word"):
        made.next()


def test_an_image_that_is_too_small_says_what_to_do(records: Path) -> None:
    with pytest.raises(
        ShapeError, match=r"height 48 and width 64, expected at least 50 and 50.*give resize=50"
    ):
        iterator(records, data_shape=(3, 50, 50)).next()


GEOMETRY = [
    {"resize": 40, "rand_crop": True},
    {"random_resized_crop": True, "min_random_area": 0.3, "min_aspect_ratio": 0.8, "max_aspect_ratio": 1.2},
    {"max_rotate_angle": 20, "fill_value": 0},
    {"rotate": 90},
    {"max_shear_ratio": 0.2},
    {"max_random_scale": 1.5, "min_random_scale": 1.1},
    {"max_aspect_ratio": 0.1, "max_random_scale": 1.3, "min_random_scale": 1.3},
    {"min_img_size": 80, "rand_crop": True},
    {"pad": 5, "rand_crop": True},
    {"max_crop_size": 40, "min_crop_size": 30, "rand_crop": True},
    {"random_h": 20, "random_s": 20, "random_l": 20},
    {"inter_method": 10, "resize": 40},
]


@pytest.mark.parametrize("options", GEOMETRY, ids=lambda options: next(iter(options)))
def test_every_kind_of_augmentation_gives_changed_images_that_the_seed_repeats(
    records: Path, options: Any
) -> None:
    pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
    shape = {"data_shape": (3, 32, 32), "dtype": "uint8"}
    found = images(iterator(records, **shape, **options))
    np.testing.assert_array_equal(found, images(iterator(records, **shape, **options)))
    assert not np.array_equal(found, images(iterator(records, **shape)))


def test_a_half_turn_turns_the_image(records: Path) -> None:
    pytest.importorskip("cv2", reason="resizing and turning need operad-image[opencv]")
    plain = iterator(records).next().data[0].asnumpy()
    found = iterator(records, rotate=180, inter_method=0).next().data[0].asnumpy()
    np.testing.assert_array_equal(found[:, :, 1:, 1:], plain[:, :, :0:-1, :0:-1])


def test_without_numba_the_numbers_are_the_same(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    from operad_image import finish

    compiled = images(iterator(records, **RANDOM, data_shape=(3, 40, 40)))
    monkeypatch.setattr(type(finish._LOOPS), "pay", lambda *_: False)
    np.testing.assert_array_equal(images(iterator(records, **RANDOM, data_shape=(3, 40, 40))), compiled)


@pytest.mark.serial
def test_in_a_forked_child_the_iterator_works_after_reset(records: Path) -> None:
    made = iterator(records)
    made.next()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            made.next()
        except EngineError:
            made.reset()
            code = int(labels(made) != ROUND[0])
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert made.next().label[0].asnumpy().tolist() == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rand_corp": True}, ParamError, "unknown parameter 'rand_corp'; did you mean 'rand_crop'"),
        ({"resize": "wide"}, ParamError, "resize is 'wide', expected int"),
        ({"shuffle": "perhaps"}, ParamError, "shuffle is 'perhaps', expected bool"),
        ({"aug_seq": "aug_mine"}, ParamError, "expected 'aug_default'"),
        ({"data_shape": (2, 8, 8)}, ShapeError, r"expected \(1, 3 or 4 channels, height, width\)"),
        ({"preprocess_threads": 0}, ParamError, "preprocess_threads is 0, expected 1 or more"),
        ({"max_crop_size": 10}, ParamError, "min_crop_size is -1 and max_crop_size 10, expected both"),
        ({"inter_method": 7}, ParamError, "inter_method is 7"),
        ({"dtype": "uint8", "mean_r": 3}, ParamError, "need a floating dtype, got uint8"),
        ({"std_g": 0}, ParamError, "expected none of 0"),
        ({"num_parts": 2, "part_index": 2}, ParamError, "0 <= part_index < num_parts"),
        ({"label_width": 2}, FormatError, "has 1 labels, expected label_width=2"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(
    records: Path, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        iterator(records, **options).next()


def test_texts_are_read_as_mxnet_does(records: Path) -> None:
    assert labels(iterator(records, shuffle="False", batch_size="4")) == ROUND[0]


# Of `ImageRecordIter` in MXNet 1.9.1.
