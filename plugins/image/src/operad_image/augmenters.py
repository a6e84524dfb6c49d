"""Augmenters: changes of one image, often at random.

An augmenter of this module computes on NumPy arrays, in `change`; called with an `NDArray` it gives one. A
subclass of your own defines either `change` or, as in MXNet, `__call__`.

Source: python/mxnet/image/image.py. Differs: a call gives a new array and leaves the old one as it is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from operad import NDArray, nd
from operad.errors import FormatError, ParamError, UnsupportedError
from operad_image import functions
from operad_image.codec import Image


class Described:
    """Tells how it was made.

    Args:
        kwargs: What `dumps` tells.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {name: _plain(value) for name, value in kwargs.items()}

    def dumps(self) -> Any:
        """The augmenter as JSON: its name in small letters, and its arguments."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])


class Augmenter(Described):
    """Changes an image, (height, width, channels).

    One that remembers something from image to image has `state_dict` and `load_state_dict`.

    Args:
        kwargs: What `dumps` tells.
    """

    def __call__(self, src: Any) -> Any:
        """The changed image, an array of the same kind."""
        return functions.like(src, self.change(functions.as_pixels(src)))

    def change(self, image: Image) -> Image:
        """The changed image; the given one stays as it is."""
        raise UnsupportedError(f"{type(self).__name__} defines neither change(image) nor __call__(src)")


def augment(augmenters: Sequence[Any], image: Image) -> Image:
    """Image after all augmenters; augmenters that take only an `NDArray` get one."""
    for one in augmenters:
        if isinstance(one, Augmenter) and type(one).__call__ is Augmenter.__call__:
            image = one.change(image)
        else:
            image = functions.as_pixels(one(nd.array(image, dtype=image.dtype)))
    return image


def states_of(augmenters: Sequence[Any]) -> list[Any]:
    """States of augmenters from image to image; None for those without a state."""
    return [one.state_dict() if hasattr(one, "state_dict") else None for one in augmenters]


def load_states(augmenters: Sequence[Any], states: Sequence[Any]) -> None:
    """Put back what `states_of` gave.

    Raises:
        FormatError: It is that of other augmenters.
    """
    if [state is not None for state in states] != [hasattr(one, "state_dict") for one in augmenters]:
        names = [type(one).__name__ for one in augmenters]
        raise FormatError(
            f"the state belongs to other augmenters than {', '.join(names) or 'none'}; "
            "create the same augmenters as when it was saved"
        )
    for one, state in zip(augmenters, states, strict=True):
        if state is not None:
            one.load_state_dict(state)


@final
class ShuffledOrder:
    """Numbers from 0 that are shuffled again and again by Python's `random`: the orders of MXNet.

    Attributes:
        numbers: As they are now.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def next(self, count: int) -> list[int]:
        """The next order of `count` numbers."""
        if len(self.numbers) != count:
            self.numbers = list(range(count))
        random.shuffle(self.numbers)
        return self.numbers


class SequentialAug(Augmenter):
    """Augmenters one after another."""

    def __init__(self, ts: Sequence[Any]) -> None:
        super().__init__()
        self.ts = list(ts)

    def dumps(self) -> Any:
        """The name, and what all augmenters tell."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def change(self, image: Image) -> Image:
        """See the class."""
        return augment(self.ts, image)

    def state_dict(self) -> dict[str, Any]:
        """State of the augmenters."""
        return {"ts": states_of(self.ts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        load_states(self.ts, state["ts"])


class RandomOrderAug(SequentialAug):
    """Augmenters one after another, in an order that is drawn again for every image."""

    def __init__(self, ts: Sequence[Any]) -> None:
        super().__init__(ts)
        self._order = ShuffledOrder()

    def change(self, image: Image) -> Image:
        """See the class."""
        return augment([self.ts[number] for number in self._order.next(len(self.ts))], image)

    def state_dict(self) -> dict[str, Any]:
        """The order of the last image, which the next one is drawn from, and what the augmenters remember."""
        return {**super().state_dict(), "order": list(self._order.numbers)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called."""
        super().load_state_dict(state)
        self._order.numbers = list(state["order"])


class _Sized(Augmenter):
    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp


class ResizeAug(_Sized):
    """The shorter edge becomes `size`; see `imresize` for `interp`."""

    def change(self, image: Image) -> Image:
        """See the class."""
        return functions.as_pixels(functions.resize_short(image, self.size, self.interp))


class ForceResizeAug(_Sized):
    """Width and height become `size`, whatever the ratio."""

    def change(self, image: Image) -> Image:
        """See the class."""
        return functions.as_pixels(functions.imresize(image, self.size[0], self.size[1], self.interp))


class RandomCropAug(_Sized):
    """A part of width and height `size` somewhere in the image."""

    def change(self, image: Image) -> Image:
        """See the class."""
        return functions.as_pixels(functions.random_crop(image, self.size, self.interp)[0])


class CenterCropAug(_Sized):
    """The middle of the image, of width and height `size`."""

    def change(self, image: Image) -> Image:
        """See the class."""
        return functions.as_pixels(functions.center_crop(image, self.size, self.interp)[0])


class RandomSizedCropAug(Augmenter):
    """A part of random area and ratio, resized to `size`; see `random_size_crop`."""

    def __init__(self, size: Any, area: Any, ratio: Any, interp: int = 2, **kwargs: Any) -> None:
        area = kwargs.pop("min_area", area)  # MXNet's older name
        if kwargs:
            raise ParamError(f"RandomSizedCropAug: unknown arguments {sorted(kwargs)}")
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def change(self, image: Image) -> Image:
        """See the class."""
        found, _ = functions.random_size_crop(image, self.size, self.area, self.ratio, self.interp)
        return functions.as_pixels(found)


class HorizontalFlipAug(Augmenter):
    """The mirror image, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def change(self, image: Image) -> Image:
        """See the class."""
        return image[:, ::-1] if random.random() < self.p else image


class CastAug(Augmenter):
    """Another element type."""

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def change(self, image: Image) -> Image:
        """See the class."""
        return image.astype(self.typ)


def _plain(value: Any) -> Any:
    if isinstance(value, NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, np.ndarray) else value
