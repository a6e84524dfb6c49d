"""Windows of convolutions and pools."""

from __future__ import annotations

from typing import NamedTuple, final


@final
class Windows(NamedTuple):
    """Windows that go over the axes behind the channels.

    Attributes:
        kernel: Their size.
        stride: The distance of neighbours.
        dilate: The distance of a window's elements.
        before: What is added before each axis.
        after: What is added behind each axis, so that all windows are whole.
        given_after: Padding behind each axis, without what only completes the last window.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilate: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    given_after: tuple[int, ...]

    @property
    def is_even(self) -> bool:
        """True if as much is added before as behind."""
        return self.before == self.after

    @property
    def is_plain(self) -> bool:
        """True if it is even, only padding, and not dilated."""
        return self.is_even and self.after == self.given_after and set(self.dilate) == {1}
