"""The sizes of a correlation with two spatial axes, said by its taps, and of its adjoints.

`out[f, i, j] = sum of weight[f, c, t] * image[c, i * stride + tap.row, j * stride + tap.column]` over
channels and taps, where the image is zero outside. Where a tap begins says all about padding and dilation,
so gradients by the data are correlations too: one, if windows touch, or else one for each place an element
can have in a stride.
"""

from __future__ import annotations

from typing import NamedTuple, final

from operad_convolution.direct.tables import Part

Pair = tuple[int, int]


class Tap(NamedTuple):
    """An element of the filters: where it stands, and where in the image its first product is."""

    place: Pair
    row: int
    column: int


@final
class Correlation:
    """Arrays that a correlation reads and writes for one image.

    Attributes:
        channels: Of the image, all groups together; `filters` likewise.
        size: The image's height and width; `out` the output's.
        stride: Distance of neighbouring windows.
        before: Rows above and columns left of the image that windows reach.
        reach: Rows and columns that windows reach, those before the image too.
    """

    def __init__(
        self, channels: int, filters: int, groups: int, size: Pair, out: Pair, stride: Pair, taps: list[Tap]
    ) -> None:
        self.channels, self.filters, self.groups = channels, filters, groups
        self.size, self.out, self.stride, self.taps = size, out, stride, taps
        self.before, self.reach = self._frame()

    # The image is copied to where its rows have room for windows that begin before it or end behind it.
    # Where windows are `s` columns apart, so are the columns that lie side by side: a row is `s` rows, each
    # of every `s`-th column.

    def _frame(self) -> tuple[Pair, Pair]:
        rows, columns = [tap.row for tap in self.taps], [tap.column for tap in self.taps]
        before = max(0, -min(rows)), max(0, -min(columns))
        high, wide = (
            before + (out - 1) * stride + last + 1
            for before, out, stride, last in zip(
                before, self.out, self.stride, (max(rows), max(columns)), strict=True
            )
        )
        return before, (high, wide)

    def share_copy(self, others: list[Correlation]) -> None:
        """Reach as far as all of them, so that an image that one copied serves the others; windows touch."""
        before = tuple(max(each.before[axis] for each in others) for axis in range(2))
        behind = tuple(max(each.reach[axis] - each.before[axis] for each in others) for axis in range(2))
        self.before = before[0], before[1]
        self.reach = before[0] + behind[0], before[1] + behind[1]

    @property
    def is_inside(self) -> bool:
        """Return whether windows reach all of the image and nothing beside it: its copy would be the same."""
        return self.stride == (1, 1) and self.before == (0, 0) and self.reach == self.size

    @property
    def part_columns(self) -> int:
        """Columns of each part of a row."""
        return -(-self.reach[1] // self.stride[1])

    @property
    def row_columns(self) -> int:
        """Elements of a row, all parts together."""
        return self.part_columns * self.stride[1]

    @property
    def channel_elements(self) -> int:
        """Elements of a channel."""
        return self.reach[0] * self.row_columns

    def tap_offset(self, tap: Tap) -> int:
        """Elements from the beginning of a channel to the first that a tap reads."""
        column = tap.column + self.before[1]
        row = (tap.row + self.before[0]) * self.row_columns
        return row + column % self.stride[1] * self.part_columns + column // self.stride[1]

    def parts(self) -> list[Part]:
        """Parts of a row."""
        found = []
        for part in range(self.stride[1]):
            first = -(
                -(self.before[1] - part) // self.stride[1]
            )  # the first at or behind the image's column 0
            column = first * self.stride[1] + part - self.before[1]
            last = min(self.size[1], self.reach[1] - self.before[1])
            length = max(0, -(-(last - column) // self.stride[1]))
            found.append(Part(first=part * self.part_columns + first, column=column, length=length))
        return found


def forward(
    channels: int,
    filters: int,
    groups: int,
    size: Pair,
    out: Pair,
    kernel: Pair,
    stride: Pair,
    dilate: Pair,
    pad: Pair,
) -> Correlation:
    """The correlation that a layer computes."""
    taps = [
        Tap((i, j), i * dilate[0] - pad[0], j * dilate[1] - pad[1])
        for i in range(kernel[0])
        for j in range(kernel[1])
    ]
    return Correlation(channels, filters, groups, size, out, stride, taps)


def by_data(given: Correlation) -> list[tuple[Pair, Correlation | None]]:
    """The gradient by the image, as correlations of the output's gradient.

    Returns:
        For each row and column of a stride that correlation which gives these elements of the gradient;
        None where it is zero. All copy the output's gradient alike.
    """
    found: list[tuple[Pair, Correlation | None]] = []
    for first_row in range(given.stride[0]):
        for first_column in range(given.stride[1]):
            taps = []
            for tap in given.taps:
                (row, row_off), (column, column_off) = (
                    divmod(first - at, stride)
                    for first, at, stride in zip(
                        (first_row, first_column), tap[1:], given.stride, strict=True
                    )
                )
                if not row_off and not column_off:
                    taps.append(Tap(tap.place, row, column))
            out = (
                -(-(given.size[0] - first_row) // given.stride[0]),
                -(-(given.size[1] - first_column) // given.stride[1]),
            )
            if min(out) > 0:
                sizes = given.filters, given.channels, given.groups, given.out, out, (1, 1)
                found.append(((first_row, first_column), Correlation(*sizes, taps) if taps else None))
    made = [each for _, each in found if each is not None]
    for each in made:
        each.share_copy(made)
    return found
