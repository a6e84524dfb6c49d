"""Parameters of ImageRecordIter: none of MXNet's is missing, and help shows them."""

from __future__ import annotations

import inspect

import pytest

import operad as od
from operad.errors import ParamError

MXNET_NAMES = """
path_imglist path_imgrec path_imgidx aug_seq label_width data_shape preprocess_threads verbose
num_parts part_index device_id shuffle_chunk_size shuffle_chunk_seed seed_aug shuffle seed
batch_size round_batch prefetch_buffer ctx dtype resize rand_crop random_resized_crop
max_rotate_angle max_aspect_ratio min_aspect_ratio max_shear_ratio max_crop_size min_crop_size
max_random_scale min_random_scale max_random_area min_random_area max_img_size min_img_size
brightness contrast saturation pca_noise random_h random_s random_l rotate fill_value inter_method
pad mirror rand_mirror mean_img mean_r mean_g mean_b mean_a std_r std_g std_b std_a scale
max_random_contrast max_random_illumination
"""


def test_missing_parameters_are_named() -> None:
    with pytest.raises(ParamError, match="missing path_imgrec, data_shape, batch_size"):
        od.io.ImageRecordIter()


def test_every_parameter_of_mxnet_is_one_of_ours_and_help_shows_it() -> None:
    ours = inspect.signature(od.io.ImageRecordIter).parameters
    assert set(MXNET_NAMES.split()) <= set(ours)
    assert ours["resize"].default == -1
