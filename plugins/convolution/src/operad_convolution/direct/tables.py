"""Records that kernels read, word by word: texts load words by these names, and callers fill tables by them.

The fields stand in the order that memory has. A name of one thing says where it begins, or how far it is to
the next, in bytes; a plural says how many there are. Arrays begin at 0 until a call knows their addresses.
"""

from collections import namedtuple

Image = namedtuple("Image", "data stride channels channel rows row copied_channel copied_row first_row zeros")
"""Images and their copies, at the beginning of a table; the `Part`s of a copied row follow.

Channels and rows are those that are copied, from `first_row` of a copied channel on; `zeros` bytes are
cleared before.
"""
Part = namedtuple("Part", "first column length")
"""Part of a copied row, in elements: where the image begins in it, with which column, and how many."""

ForwardTable = namedtuple(
    "ForwardTable",
    "weight bias out is_in_scratch out_image out_channel groups filters rests channels tiles "
    "tap_offsets tile_offsets",
)
"""Correlation, behind the image.

The output may be counted from scratch memory. Filters and channels are those of a group, in `ForwardText`
whole blocks of filters, beside `rests` of those that are left over. Offsets are addresses of arrays, those of
taps from a copied channel on.
"""
TapRows = namedtuple("TapRows", "first end")
"""Rows of taps of which a tile of `ForwardText` sees more than zeros; its offsets follow."""
TileOutput = namedtuple("TileOutput", "first pixels")
"""Output of a tile of `AcrossText`, behind its offsets: where it begins in a channel, and how many pixels."""

WeightTable = namedtuple(
    "WeightTable",
    "gradient sums gradient_image gradient_channel copied_gradient filters pixels together groups "
    "filter_blocks position_blocks group positions vectors vector_offsets fewer fewer_offsets sums_bytes",
)
"""Gradient by the weights with pixels in vectors, behind the image.

`together` images are copied at once, and their gradients to a place in scratch memory. `positions` and
offsets are addresses of arrays. Vectors are those of an image, `fewer` those that hold fewer pixels: each has
the offsets of its runs in the copied image, and of the first in the gradient.
"""
AcrossWeightTable = namedtuple(
    "AcrossWeightTable",
    "gradient sums gradient_image gradient_channel groups filters padded turned turned_pixel turned_group "
    "group position_blocks positions pixel_offsets pixels together sums_bytes",
)
"""The same with filters in vectors: gradients are turned to a place in scratch memory.

The filters of a group are `padded` to whole vectors there. Offsets are for the pixels of all images that are
copied together.
"""

SumsTable = namedtuple("SumsTable", "sums target units part row blocks")
"""Sums of parts in blocks: a row is a filter of the gradient, and has so many whole blocks."""
SumsUnit = namedtuple("SumsUnit", "sums target filters block")
"""Row of blocks."""
AcrossSumsTable = namedtuple("AcrossSumsTable", "sums target units part positions position row")
"""Sums of parts with the filters of a position side by side."""
AcrossSumsUnit = namedtuple("AcrossSumsUnit", "sums target filters")
"""Vector of filters."""

PackingTable = namedtuple("PackingTable", "weight row matrix target chunks count")
"""Weights to be packed, and the address of so many chunks."""
Chunk = namedtuple("Chunk", "weight rows")
"""Rows that lie side by side in the target; the `Cell`s of all columns follow."""
Cell = namedtuple("Cell", "target matrix written")
"""Column of a chunk in the target, and how many numbers are written; those behind the rows are zeros."""

PlacesTable = namedtuple(
    "PlacesTable",
    "calls call_count rows row_count channels out out_image out_channel out_row columns bias fill "
    "fill_channel",
)
"""Gradient of all places; calls, rows, and the tables of the calls follow.

Places without taps are filled from scratch memory.
"""
PlacesCall = namedtuple("PlacesCall", "kernel table")
"""Correlation of a place; its table is part of this one."""
PlacesRow = namedtuple("PlacesRow", "out rows")
"""Rows of the gradient that have the same places; the `Place` of each column follows."""
Place = namedtuple("Place", "begin channel row")
"""Output of a place's correlation in scratch memory."""
