"""Places: elements by number, lengths, sorts, windows."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Index, Integers
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_one_hot")
class OneHotRows(OperatorProperty):
    """A row for each number, of zeros and one 1; of zeros where the number is out of bounds."""

    accepts = {"data": "integer"}
    depth = param(int, 3, ge=1, le=6, doc="Length of a row.")
    spec = "data:any(N) -> output:float32(N, depth)"
    contract = Contract(
        inputs={"data": Integers(-1, 6)},
        reference=lambda data, depth: np.vstack([np.zeros(depth), np.eye(8, depth)])[data.astype(int) + 1],
    )

    def forward(data, depth):
        return (data[:, None] == np.arange(depth)).astype(np.float32)


@operator("zoo_right_picked_element")
class PickedElement(OperatorProperty):
    """An element of each row, by number."""

    accepts = {"data": "floating"}
    spec = "data:(N, D + 1), index:any(N) -> output:(N)"
    contract = Contract(inputs={"index": Index("data", axis=1)})

    def forward(data, index):
        return np.take_along_axis(data, index.astype(np.intp)[:, None], 1)[:, 0]

    def data_grad(output_grad, index, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, index.astype(np.intp)[:, None], output_grad[:, None], 1)


@operator("zoo_right_clipped_pick")
class ClippedPick(OperatorProperty):
    """Elements by number; numbers out of bounds mean the first or the last."""

    accepts = {"data": "floating", "index": "integer"}
    spec = "data:(V + 1), index:any(*S) -> output:(*S)"
    contract = Contract(inputs={"index": Integers(-3, 6)})

    def forward(data, index):
        return data[np.clip(index.astype(np.int64), 0, len(data) - 1)]

    def data_grad(output_grad, index, data_grad):
        data_grad[...] = 0
        np.add.at(data_grad, np.clip(index.astype(np.int64), 0, len(data_grad) - 1), output_grad)


@operator("zoo_right_cut_rows")
class CutRows(OperatorProperty):
    """The first elements of each row, as many as a length says; zeros after them."""

    accepts = {"data": "floating"}
    spec = "data:(N, W), length:any(N) -> output:(N, W)"
    contract = Contract(inputs={"length": Index("data", axis=1, inclusive=True)})

    def forward(data, length):
        return np.where(np.arange(data.shape[1]) < length[:, None], data, 0).astype(data.dtype)

    def data_grad(output_grad, length):
        return np.where(np.arange(output_grad.shape[1]) < length[:, None], output_grad, 0)


@operator("zoo_right_shaped_like")
class ShapedLike(OperatorProperty):
    """The first elements of a row, as many as another one has."""

    accepts = {"data": "floating"}
    spec = "data:(N + M), like:any(M) -> output:(M)"

    def forward(data, output):
        output[...] = data[: len(output)]

    def data_grad(output_grad, data_grad):
        data_grad[...] = 0
        data_grad[: len(output_grad)] = output_grad


@operator("zoo_right_ramp")
class Ramp(OperatorProperty):
    """Integers from 0 on."""

    length = param(int, 3, ge=0, le=6, doc="How many.")
    spec = "-> output:float32(length)"
    contract = Contract(reference=lambda length: np.cumsum(np.ones(length)) - 1)

    def forward(length):
        return np.arange(length, dtype=np.float32)


@operator("zoo_right_blocks")
class Blocks(OperatorProperty):
    """Squares of a picture as rows."""

    block = param(int, 2, ge=1, le=3, doc="Length of a side.")
    spec = "data:(H*block, W*block) -> output:(H, W, block*block)"

    def _parts(data, block):
        rows, columns = data.shape[0] // block, data.shape[1] // block
        return data.reshape(rows, block, columns, block).transpose(0, 2, 1, 3)

    def forward(data, output, block):
        output[...] = Blocks._parts(data, block).reshape(output.shape)

    def data_grad(output_grad, data_grad, block):
        rows, columns = output_grad.shape[:2]
        parts = output_grad.reshape(rows, columns, block, block).transpose(0, 2, 1, 3)
        data_grad[...] = parts.reshape(data_grad.shape)


ZOO = [
    Right(OneHotRows, "integers in, ones and zeros out"),
    Right(PickedElement, "one element of each row has a gradient"),
    Right(ClippedPick, "numbers out of bounds count from the nearest end"),
    Right(CutRows, "lengths as numbers of any type"),
    Right(ShapedLike, "an argument of which the shape alone is read"),
    Right(Ramp, "no arguments at all"),
    Right(Blocks, "blocks become channels"),
]
