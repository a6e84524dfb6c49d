"""Augmenters of images with boxes around objects.

A label is one row per object: (class, left, top, right, bottom, ...), in parts of the image's width and
height.

Source: python/mxnet/image/detection.py. Differs: a call gives a new label and leaves the old one as it is;
ranges that nothing lies in are refused.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from operad.errors import ArgumentError, ParamError, UnsupportedError
from operad_image import boxes, functions, pixels
from operad_image.augmenters import Augmenter, Described, ShuffledOrder, load_states, states_of


class DetAugmenter(Described):
    """Changes an image and its label.

    Args:
        kwargs: What `dumps` tells.
    """

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """The changed image, an array of the same kind, and its label."""
        raise UnsupportedError(f"{type(self).__name__} does not define __call__(src, label)")


class DetBorrowAug(DetAugmenter):
    """An augmenter of images that leaves boxes where they are."""

    def __init__(self, augmenter: Any) -> None:
        if not isinstance(augmenter, Augmenter):
            raise ArgumentError(f"DetBorrowAug: got {type(augmenter).__name__}, expected an Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """The name, and what the augmenter tells."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """See the class."""
        return self.augmenter(src), label

    def state_dict(self) -> dict[str, Any]:
        """State of the augmenter."""
        return {"augmenter": states_of([self.augmenter])}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        load_states([self.augmenter], state["augmenter"])


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters, drawn again for every image; none of them with probability `skip_prob`."""

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        chosen = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        for one in chosen:
            if not isinstance(one, DetAugmenter):
                raise ArgumentError(f"DetRandomSelectAug: got {type(one).__name__}, expected a DetAugmenter")
        super().__init__(skip_prob=skip_prob)
        self.aug_list = chosen
        self.skip_prob = skip_prob if chosen else 1
        self._order = ShuffledOrder()

    def dumps(self) -> Any:
        """The name, and what all augmenters tell."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.aug_list]]

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """See the class."""
        if random.random() < self.skip_prob:
            return src, label
        first, *_ = self._order.next(len(self.aug_list))
        changed: tuple[Any, Any] = self.aug_list[first](src, label)
        return changed

    def state_dict(self) -> dict[str, Any]:
        """The order that the next one is drawn from, and what the augmenters remember."""
        return {"aug_list": states_of(self.aug_list), "order": list(self._order.numbers)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        load_states(self.aug_list, state["aug_list"])
        self._order.numbers = list(state["order"])


class DetHorizontalFlipAug(DetAugmenter):
    """The mirror image, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """See the class."""
        if random.random() >= self.p:
            return src, label
        return functions.like(src, functions.as_pixels(src)[:, ::-1]), boxes.mirrored(label)


class DetRandomCropAug(DetAugmenter):
    """A part somewhere in the image, with the objects that are in it.

    Args:
        min_object_covered: Of every object that is in the part at all, more than this is.
        aspect_ratio_range: Least and largest width over height.
        area_range: Least and largest area, of the image's.
        min_eject_coverage: Objects of which no more than this is in the part are left out of the label.
        max_attempts: After so many the image stays as it is.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        self.aspect_ratio_range = _range("DetRandomCropAug", "aspect_ratio_range", aspect_ratio_range)
        self.area_range = _range("DetRandomCropAug", "area_range", area_range)
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        self.max_attempts = max_attempts

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """See the class."""
        height, width = src.shape[:2]
        for window in boxes.windows_inside(
            height, width, self.area_range, self.aspect_ratio_range, self.max_attempts
        ):
            if boxes.covers(label, window, height, width, self.min_object_covered):
                kept = boxes.within(label, window, height, width, self.min_eject_coverage)
                if len(kept):
                    return functions.fixed_crop(src, *window), kept
        return src, label


class DetRandomPadAug(DetAugmenter):
    """The image somewhere in a larger one of one colour.

    Args:
        aspect_ratio_range: Least and largest width over height.
        area_range: Least and largest area, of the image's; where the largest is not above 1, nothing is done.
        max_attempts: After so many the image stays as it is.
        pad_val: The colour.
    """

    def __init__(
        self,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        self.aspect_ratio_range = _range("DetRandomPadAug", "aspect_ratio_range", aspect_ratio_range)
        self.area_range = _range("DetRandomPadAug", "area_range", area_range)
        super().__init__(
            aspect_ratio_range=self.aspect_ratio_range,
            area_range=self.area_range,
            max_attempts=max_attempts,
            pad_val=pad_val,
        )
        self.max_attempts = max_attempts
        self.pad_val = pad_val

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:
        """See the class."""
        if self.area_range[1] <= 1:
            return src, label
        image = functions.as_pixels(src)
        height, width = image.shape[:2]
        window = boxes.window_around(
            height, width, self.area_range, self.aspect_ratio_range, self.max_attempts
        )
        if window is None:
            return src, label
        x, y, new_width, new_height = window
        padded = pixels.border(
            image, -y, new_height + y - height, -x, new_width + x - width, values=self.pad_val
        )
        return functions.like(src, padded), boxes.moved(label, window, height, width)


def _range(who: str, what: str, given: Any) -> tuple[float, float]:
    low, high = given if isinstance(given, (list, tuple)) else (given, given)
    if high <= 0 or low > high or (what == "aspect_ratio_range" and low <= 0):
        raise ParamError(f"{who}: {what} is {given!r}, expected a least and a largest positive number")
    return low, high
