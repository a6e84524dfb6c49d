"""The parameters of `ImageRecordIter`, with MXNet's names and defaults, in groups.

Source: ImageRecParserParam, ImageRecordParam, BatchParam, PrefetcherParam, ImageNormalizeParam, src/io, and
DefaultImageAugmentParam, src/io/image_aug_default.cc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from operad.errors import ParamError
from operad_image import pixels


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Source of images, their order, and the making of batches.

    Attributes:
        path_imgrec: The record file; a folder of such; or several, between `;`.
        data_shape: Channels (1, 3 or 4), height and width of an image.
        batch_size: Images in a batch.
        path_imgidx: Index of the file; saves reading the heads of its records.
        path_imglist: Labels by the number of an image, instead of those in the records.
        shuffle: Visit the images in another random order in each pass.
        seed: Of orders, and of augmentations where there is no `seed_aug`.
        seed_aug: Of augmentations.
        num_parts: Into how many parts the records are divided.
        part_index: The part that is read.
        round_batch: Whether the next pass begins behind the images that filled up the last batch; else every
            pass begins with the first image.
        preprocess_threads: Threads that decode. Results do not depend on their number.
        prefetch_buffer: Batches that are made ahead.
        dtype: Of images; None: float32, or that of the iterator's name.
        data_name: Of the images' variable.
        label_name: Of the labels' variable.
        ctx: Accepted and without effect: batches are made on the default context.
        device_id: Likewise.
        verbose: Accepted and without effect: nothing is printed.
        shuffle_chunk_size: Accepted and without effect: everything is shuffled, not a chunk at a time.
        shuffle_chunk_seed: Likewise.
    """

    path_imgrec: str
    data_shape: tuple[int, ...]
    batch_size: int
    path_imgidx: str = ""
    path_imglist: str = ""
    shuffle: bool = False
    seed: int = 0
    seed_aug: int | None = None
    num_parts: int = 1
    part_index: int = 0
    round_batch: bool = True
    preprocess_threads: int = 4
    prefetch_buffer: int = 4
    dtype: Any = None
    data_name: str = "data"
    label_name: str = "softmax_label"
    ctx: str = "gpu"
    device_id: int = 0
    verbose: bool = True
    shuffle_chunk_size: int = 0
    shuffle_chunk_seed: int = 0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """Labels of an image.

    Attributes:
        label_width: Labels of an image.
    """

    label_width: int = 1


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Geometry:
    """Changes to the positions of pixels, in this order.

    Attributes:
        resize: Resize the shorter edge to this; -1: do not.
        random_resized_crop: Take a part of random area and ratio, and resize it to `data_shape`.
        max_random_area: Largest area of that part, of 1.
        min_random_area: Least area.
        max_aspect_ratio: Largest width over height of that part; without `random_resized_crop`, of the image.
            Where `min_aspect_ratio` is None, the ratio is up to this from 1.
        min_aspect_ratio: Least width over height.
        max_rotate_angle: Turn by up to so many degrees, either way.
        rotate: Turn by so many degrees; -1: do not.
        max_shear_ratio: Shear by up to so much, either way.
        max_random_scale: Largest factor of a random size.
        min_random_scale: Least factor.
        max_img_size: Largest width and height after that.
        min_img_size: Least width and height.
        fill_value: Of pixels that come from outside the image, and of `pad`.
        pad: Pixels of border on each side.
        max_crop_size: Longest edge of a square part, which is resized to `data_shape`; -1: take no such part.
        min_crop_size: Its shortest edge.
        rand_crop: Take a part of `data_shape` somewhere, not the middle.
        inter_method: 0 nearest, 1 bilinear, 2 cubic, 3 by area, 4 Lanczos, 9 by the sizes, 10 random.
        aug_seq: `aug_default`; there is no other.
    """

    resize: int = -1
    random_resized_crop: bool = False
    max_random_area: float = 1.0
    min_random_area: float = 1.0
    max_aspect_ratio: float = 0.0
    min_aspect_ratio: float | None = None
    max_rotate_angle: int = 0
    rotate: int = -1
    max_shear_ratio: float = 0.0
    max_random_scale: float = 1.0
    min_random_scale: float = 1.0
    max_img_size: float = 1e10
    min_img_size: float = 0.0
    fill_value: int = 255
    pad: int = 0
    max_crop_size: int = -1
    min_crop_size: int = -1
    rand_crop: bool = False
    inter_method: int = 1
    aug_seq: str = "aug_default"

    @property
    def ratios(self) -> tuple[float, float]:
        """Least and largest width over height."""
        if self.min_aspect_ratio is not None:
            return self.min_aspect_ratio, self.max_aspect_ratio
        return 1 - self.max_aspect_ratio, 1 + self.max_aspect_ratio

    @property
    def bends(self) -> bool:
        """True if images are turned, sheared or scaled."""
        factors = (self.min_random_scale, self.max_random_scale, *self.ratios)
        turns = self.max_rotate_angle > 0 or self.rotate > 0 or self.max_shear_ratio > 0
        return turns or any(factor != 1 for factor in factors) or self.is_bounded

    @property
    def is_bounded(self) -> bool:
        """True if an image's size has bounds."""
        return self.max_img_size < 1e10 or self.min_img_size > 0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Colour:
    """Changes to colours, in this order.

    Attributes:
        brightness: Multiply by a number up to so far from 1.
        contrast: Mix with the mean gray by a number up to so far from 1.
        saturation: Mix with gray likewise. These three come in random order.
        pca_noise: Add a colour drawn along the main axes of ImageNet's colours; its standard deviation.
        random_h: Add up to so much to the hue, from 0 to 180.
        random_s: To the saturation, from 0 to 255.
        random_l: To the lightness, from 0 to 255.
    """

    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    pca_noise: float = 0.0
    random_h: int = 0
    random_s: int = 0
    random_l: int = 0

    @property
    def is_any(self) -> bool:
        """True if some colour is changed."""
        return any(getattr(self, name) for name in self.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalization:
    """Conversion of pixels to numbers of a batch: `(pixel - mean) / std * scale`.

    Attributes:
        mean_img: A file of one array, the mean image, (channels, height, width); instead of the next four.
        mean_r: Subtracted from red, or from gray.
        mean_g: From green.
        mean_b: From blue.
        mean_a: From the fourth channel.
        std_r: Divisor of red, or of gray; 0: do not divide.
        std_g: Of green.
        std_b: Of blue.
        std_a: Of the fourth channel.
        scale: Factor of all.
    """

    mean_img: str = ""
    mean_r: float = 0.0
    mean_g: float = 0.0
    mean_b: float = 0.0
    mean_a: float = 0.0
    std_r: float = 0.0
    std_g: float = 0.0
    std_b: float = 0.0
    std_a: float = 0.0
    scale: float = 1.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finish(Normalization):
    """Conversion of pixels to numbers of a batch: `(pixel - mean) * scale * contrast / std + illumination`.

    Attributes that are not named here are as of `Normalization`, but no divisor is 0.

    Attributes:
        mirror: Mirror every image.
        rand_mirror: Mirror every other image, at random.
        max_random_contrast: `contrast` is up to so far from 1.
        max_random_illumination: `illumination` is up to so far from 0, in units of `scale`.
    """

    mirror: bool = False
    rand_mirror: bool = False
    std_r: float = 1.0
    std_g: float = 1.0
    std_b: float = 1.0
    std_a: float = 1.0
    max_random_contrast: float = 0.0
    max_random_illumination: float = 0.0


def check_choices(who: str, aug_seq: str, expected: str, inter_method: int) -> None:
    """Refuse other augmenters than the default ones, and unknown interpolations.

    Raises:
        ParamError: There is another.
    """
    if aug_seq != expected:
        raise ParamError(f"{who}: aug_seq is {aug_seq!r}, expected {expected!r}: there is no other")
    if inter_method not in (0, 1, 2, 3, 4, pixels.AUTO, pixels.ANY):
        raise ParamError(f"{who}: inter_method is {inter_method}, expected 0 to 4, 9 or 10")


GROUPS: Final = (Source, Labels, Geometry, Colour, Finish)
