from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError, ParamError, ShapeError

pytest.importorskip("cv2", reason="resizing needs operad-image[opencv]")

SHAPE = (3, 32, 48)
SIZES = [(48, 64), (60, 40), (30, 30)]
LABELS = [
    [2, 5, 0, 0.1, 0.2, 0.5, 0.7],
    [4, 5, 99, 98, 1, 0.1, 0.1, 0.5, 0.5, 2, 0.25, 0.5, 0.75, 1],
    [2, 6, 3, 0, 0, 1, 1, 7],
]


def record(path: Path, labels: Any, images: Any) -> Path:
    with od.recordio.MXRecordIO(path, "w") as out:
        for number, (label, pixels) in enumerate(zip(labels, images, strict=True)):
            content = od.image.codec.encode(pixels, ".png", 3)
            out.write(od.recordio.pack(od.recordio.IRHeader(0, label, number, 0), content))
    return path


@pytest.fixture
def images(part_of: Any) -> list[Any]:
    return [part_of(number, *size) for number, size in enumerate(SIZES)]


@pytest.fixture
def pictures(tmp_path: Path, images: Any) -> Path:
    """Three images of other sizes, with one and two objects, and one of six numbers."""
    return record(tmp_path / "objects.rec", LABELS, images)


def iterator(path: Path, **given: Any) -> Any:
    options = {"data_shape": SHAPE, "batch_size": 3, "preprocess_threads": 2, **given}
    return od.io.ImageDetRecordIter(path_imgrec=str(path), **options)


def first(path: Path, **given: Any) -> tuple[Any, Any]:
    """Images and labels of the first batch."""
    batch = iterator(path, **given).next()
    return batch.data[0].asnumpy(), batch.label[0].asnumpy()


def test_a_label_says_the_shape_how_many_labels_and_the_labels(pictures: Path) -> None:
    # As MXNet 1.9.1 gives it for such records.
    _, labels = first(pictures)
    expected = [[3, 32, 48, len(label), *label, *[-1] * (14 - len(label))] for label in LABELS]
    np.testing.assert_array_equal(labels, np.array(expected, np.float32))
    assert iterator(pictures).provide_label == [("softmax_label", (3, 18))]


def test_labels_are_filled_up_as_asked(pictures: Path) -> None:
    _, labels = first(pictures, label_pad_width=20, label_pad_value=-7)
    assert labels.shape == (3, 24)
    assert labels[0, 11:].tolist() == [-7] * 13


@pytest.mark.parametrize(
    ("mode", "shape", "sizes"),
    [  # as MXNet 1.9.1 gives them
        ("force", SHAPE, [(32, 48)] * 3),
        ("fit", SHAPE, [(32, 42), (32, 21), (32, 32)]),
        ("fit", (3, 130, 140), [(105, 140), (130, 86), (130, 130)]),
        ("shrink", SHAPE, [(32, 42), (32, 21), (30, 30)]),
        ("shrink", (3, 130, 140), SIZES),
    ],
)
def test_images_are_fitted_into_the_shape_as_asked(
    pictures: Path, images: Any, mode: str, shape: Any, sizes: Any
) -> None:
    found, labels = first(pictures, resize_mode=mode, data_shape=shape)
    assert [tuple(label[1:3].astype(int)) for label in labels] == sizes
    for image, (height, width), made in zip(images, sizes, found, strict=True):
        expected = np.zeros(shape, np.float32)
        expected[:, :height, :width] = od.image.imresize(image, width, height).transpose(2, 0, 1)
        np.testing.assert_array_equal(made, expected)


def test_black_around_an_image_is_normalized_as_the_image_is(pictures: Path) -> None:
    plain, _ = first(pictures, resize_mode="fit")
    found, _ = first(pictures, resize_mode="fit", mean_r=10, mean_g=20, std_g=4, scale=0.5)
    expected = plain - np.float32([10, 20, 0])[:, None, None]
    np.testing.assert_array_equal(found, expected * np.float32([0.5, 0.125, 0.5])[:, None, None])


def test_a_mirrored_image_has_mirrored_boxes(pictures: Path) -> None:
    plain, _ = first(pictures)
    found, labels = first(pictures, rand_mirror_prob=1)
    np.testing.assert_array_equal(found, plain[..., ::-1])
    np.testing.assert_allclose(labels[0, 4:11], [2, 5, 0, 0.5, 0.2, 0.9, 0.7], rtol=1e-6)


BOX = np.array([1, 0.25, 0.5, 0.75, 0.8])
HEIGHT, WIDTH = 100, 200


@pytest.fixture
def coordinates(tmp_path: Path) -> Path:
    """An image whose red is its column and whose green is its row, with one object, twelve times."""
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[..., 0], image[..., 1] = np.arange(WIDTH), np.arange(HEIGHT)[:, None]
    return record(tmp_path / "coordinates.rec", [[2, 5, *BOX]] * 12, [image] * 12)


def parts(path: Path, **given: Any) -> Any:
    """For each image its corner, its size, and its box: pixels of the image that it was."""
    options = {"data_shape": (3, 300, 600), "resize_mode": "shrink", "batch_size": 12, **given}
    for image, label in zip(*first(path, **options), strict=True):
        size = label[2:0:-1]
        shown = image[:, : int(size[1]), : int(size[0])]
        inside = shown[2] == 0  # what surrounds an image is no black
        top, left = np.argwhere(inside)[0]
        corner = shown[:2, top, left] - [left, top]
        yield corner, size, label[7:11].reshape(2, 2) * size + corner


CROP = {"rand_crop_prob": 1, "min_crop_scales": 0.3, "max_crop_scales": 0.6, "max_crop_aspect_ratios": 3}


def test_boxes_move_with_the_part_that_is_taken_and_are_cut_by_it(coordinates: Path) -> None:
    whole = BOX[1:].reshape(2, 2) * [WIDTH, HEIGHT]
    sizes = set()
    for corner, size, box in parts(coordinates, **CROP):
        np.testing.assert_allclose(box, np.clip(whole, corner, corner + size), atol=1e-3)
        center = whole.mean(0)
        assert (corner <= center).all()
        assert (center < corner + size).all()
        assert 0.25 <= np.sqrt(size.prod() / (WIDTH * HEIGHT)) <= 0.65
        sizes.add(tuple(size))
    assert len(sizes) > 6


@pytest.mark.parametrize(
    ("measure", "bounds"),
    [("object", {"min_crop_object_coverages": 0.8}), ("sample", {"max_crop_sample_coverages": 0.4}),
     ("overlap", {"min_crop_overlaps": 0.4})],
)  # fmt: skip
def test_parts_suit_the_object_as_asked(coordinates: Path, measure: str, bounds: Any) -> None:
    own = (BOX[3] - BOX[1]) * (BOX[4] - BOX[2]) * WIDTH * HEIGHT
    options = {**CROP, **bounds, "max_crop_trials": 1000, "seed": 4}
    for _, size, box in parts(coordinates, **options):
        shared, taken = np.diff(box, axis=0).prod(), size.prod()
        if measure == "object":
            assert shared / own > 0.8 - 1e-3
        elif measure == "sample":
            assert shared / taken < 0.4 + 1e-3
        else:
            assert shared / (own + taken - shared) > 0.4 - 1e-3


def test_objects_that_hardly_overlap_a_part_are_left_out(tmp_path: Path, part_of: Any) -> None:
    label = [2, 5, 0, 0.0, 0.0, 0.6, 1.0, 1, 0.4, 0.0, 1.0, 1.0]
    path = record(tmp_path / "two.rec", [label] * 12, [part_of(0)] * 12)
    mode = {"crop_emit_mode": "overlap", "emit_overlap_thresh": 0.5}
    _, labels = first(path, batch_size=12, **mode, **CROP)
    counts = labels[:, 3]
    assert set(counts) == {7, 12}
    for row, count in zip(labels, counts, strict=True):
        assert (row[4 + int(count) :] == -1).all()


def test_boxes_move_with_an_image_that_is_padded(coordinates: Path) -> None:
    whole = BOX[1:].reshape(2, 2) * [WIDTH, HEIGHT]
    grown = []
    for _, size, box in parts(coordinates, rand_pad_prob=1, max_pad_scale=2.5):
        np.testing.assert_allclose(box, whole, atol=1e-2)
        grown.append(size / (WIDTH, HEIGHT))
    assert np.min(grown) >= 1
    assert 1.3 < np.max(grown) <= 2.5


@pytest.mark.parametrize(
    "change",
    [
        {"max_random_hue": 30, "random_hue_prob": 1},
        {"max_random_saturation": 60, "random_saturation_prob": 1},
        {"max_random_illumination": 60, "random_illumination_prob": 1},
        {"max_random_contrast": 0.5, "random_contrast_prob": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_colours_are_changed_and_boxes_are_not(pictures: Path, change: Any) -> None:
    plain, expected = first(pictures)
    found, labels = first(pictures, **change)
    np.testing.assert_array_equal(labels, expected)
    assert (found != plain).any(axis=(1, 2, 3)).all()


EVERYTHING = {
    **CROP, "rand_pad_prob": 0.5, "max_pad_scale": 2, "rand_mirror_prob": 0.5, "max_random_hue": 30,
    "random_hue_prob": 0.5, "max_random_contrast": 0.4, "random_contrast_prob": 0.5, "inter_method": 10,
    "num_crop_sampler": 2, "min_crop_overlaps": (0.1, 0.3), "shuffle": True, "batch_size": 5,
}  # fmt: skip


def test_threads_change_nothing_and_a_state_leads_to_the_same_batches(coordinates: Path) -> None:
    def taken(batches: Any) -> list[Any]:
        return [(one.data[0].asnumpy().tobytes(), one.label[0].asnumpy().tolist()) for one in batches]

    one, other = (iterator(coordinates, preprocess_threads=count, **EVERYTHING) for count in (1, 3))
    one.next()
    other.load_state_dict(one.state_dict())
    for _ in range(2):
        assert taken(other) == taken(one)
        one.reset()
        other.reset()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"rand_crop": 1}, ParamError, "unknown parameter 'rand_crop'; did you mean 'rand_crop_prob'"),
        ({"resize_mode": "cut"}, ParamError, "resize_mode is 'cut', expected one of force, shrink, fit"),
        ({"crop_emit_mode": "edge"}, ParamError, "crop_emit_mode is 'edge', expected one of center, overlap"),
        ({"aug_seq": "aug_default"}, ParamError, "expected 'det_aug_default'"),
        ({"inter_method": 7}, ParamError, "inter_method is 7, expected 0 to 4, 9 or 10"),
        ({"std_g": -4}, ParamError, "std_g is -4.0, expected 0, which does not divide, or more"),
        ({"num_crop_sampler": 0}, ParamError, "num_crop_sampler is 0"),
        ({"min_crop_scales": (0.1, 0.2)}, ParamError, "has 2 values, expected 1 or num_crop_sampler=1"),
        ({"min_crop_scales": "(2,)"}, ParamError, "min_crop_scales is 2.0 and max_crop_scales 1.0"),
        ({"min_crop_aspect_ratios": 0}, ParamError, "min_crop_aspect_ratios is 0.0"),
        ({"data_shape": (2, 8, 8)}, ShapeError, "1, 3 or 4 channels"),
        ({"label_width": 7}, FormatError, "it has 14 labels, expected label_width=7"),
        ({"label_pad_width": 8}, FormatError, "it has 14 labels, expected at most label_pad_width=8"),
    ],
)
def test_what_cannot_be_meant_is_refused(pictures: Path, given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"ImageDetRecordIter: .*{message}"):
        iterator(pictures, **given).next()


def test_labels_that_are_no_objects_name_the_record(tmp_path: Path, images: Any) -> None:
    path = record(tmp_path / "bad.rec", [LABELS[0], [2, 5, 1], LABELS[2]], images)
    offset = od.recordio.RecordPart(path).offsets()[0][1]
    with pytest.raises(FormatError, match=rf"the record at byte {offset} of .*its labels are 3 numbers"):
        iterator(path).next()


# Of `ImageDetRecordIter` in MXNet 1.9.1.
MXNET_NAMES = """
path_imglist path_imgrec aug_seq label_width data_shape preprocess_threads verbose num_parts part_index
shuffle_chunk_size shuffle_chunk_seed label_pad_width label_pad_value shuffle seed batch_size round_batch
prefetch_buffer ctx dtype resize rand_crop_prob min_crop_scales max_crop_scales min_crop_aspect_ratios
max_crop_aspect_ratios min_crop_overlaps max_crop_overlaps min_crop_sample_coverages
max_crop_sample_coverages min_crop_object_coverages max_crop_object_coverages num_crop_sampler
crop_emit_mode emit_overlap_thresh max_crop_trials rand_pad_prob max_pad_scale max_random_hue
random_hue_prob max_random_saturation random_saturation_prob max_random_illumination
random_illumination_prob max_random_contrast random_contrast_prob rand_mirror_prob fill_value inter_method
resize_mode mean_img mean_r mean_g mean_b mean_a std_r std_g std_b std_a scale
"""


def test_every_parameter_of_mxnet_is_one_of_ours() -> None:
    assert set(MXNET_NAMES.split()) <= set(inspect.signature(od.io.ImageDetRecordIter).parameters)
