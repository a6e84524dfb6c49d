"""Faults of long axes: tiles, blocks, places in narrow types; each along one axis, or in one pass."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import BatchedProduct, RowsPlusBias, RunningSum


class _Product(InFloat64):
    spec = "data:(N, D), weight:(M, D) -> output:(N, M)"

    def forward(data, weight):
        return data @ weight.T

    def data_grad(output_grad, weight):
        return output_grad @ weight

    def weight_grad(output_grad, data):
        return output_grad.T @ data


@operator("zoo_last_tile_of_rows")
class LastTileOfRows(_Product):
    """A product whose weight gradient is added up in tiles of 64 rows."""

    def weight_grad(output_grad, data):
        total = 0
        for begin in range(0, max(len(data), 1), 64):
            part = output_grad[begin : begin + 64].T @ data[begin : begin + 64]
            total = part if begin else total + part
        return total


@operator("zoo_last_tile_of_units")
class LastTileOfUnits(_Product):
    """A product whose data gradient is added up in tiles of 48 units."""

    def data_grad(output_grad, weight):
        units = len(weight)
        whole = units - units % 48 if units > 48 else units
        return output_grad[:, :whole] @ weight[:whole]


@operator("zoo_lost_inner_rest")
class LostInnerRest(_Product):
    """A product in blocks of the inner axis."""

    def forward(data, weight):
        inner = data.shape[1]
        whole = inner - inner % 4 if inner > 60 else inner
        return data[:, :whole] @ weight[:, :whole].T


@operator("zoo_bias_of_some")
class BiasOfSome(RowsPlusBias, InFloat64):
    """Rows plus a bias."""

    def data_grad(output_grad):
        return output_grad

    def bias_grad(output_grad):
        return output_grad[:64].sum(0)


@operator("zoo_carry_of_gradient")
class CarryOfGradient(RunningSum, InFloat64):
    """Cumulative sums of rows."""

    def data_grad(output_grad):
        width = output_grad.shape[1]
        blocks = [output_grad[:, begin : begin + 64] for begin in range(0, width, 64)]
        sums = [np.cumsum(block[:, ::-1], 1)[:, ::-1] for block in blocks]
        return np.concatenate(sums, 1) if sums else output_grad


@operator("zoo_narrow_place_of_largest")
class NarrowPlaceOfLargest(Floating):
    """The largest of each row."""

    spec = "data:(N, D + 1) -> output:(N), hidden place:int8(N)"

    def forward(data, output, place):
        place[...] = data.argmax(1).astype(np.int8)
        output[...] = data.max(1)

    def data_grad(output_grad, place, data_grad):
        data_grad[...] = 0
        data_grad[np.arange(len(place)), place] = output_grad


@operator("zoo_mean_of_hundred")
class MeanOfHundred(InFloat64):
    """Mean of each column."""

    spec = "data:(N + 1, D) -> output:(D)"

    def forward(data):
        return data.mean(0)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad / min(len(data_grad), 100)


@operator("zoo_batched_by_sixteen")
class BatchedBySixteen(BatchedProduct, InFloat64):
    """Products of matrices, one for each item."""

    def rhs_grad(output_grad, lhs):
        found = lhs.swapaxes(1, 2) @ output_grad
        found[64:] = 0
        return found


@operator("zoo_third_axis_in_blocks")
class ThirdAxisInBlocks(InFloat64):
    """Sums over the last of three axes."""

    spec = "data:(A, B, C) -> output:(A, B)"

    def forward(data):
        length = data.shape[2]
        return data[:, :, : length - length % 8].sum(2) if length > 64 else data.sum(2)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, :, None]
        length = data_grad.shape[2]
        if length > 64:
            data_grad[:, :, length - length % 8 :] = 0


@operator("zoo_embedding_of_bytes")
class EmbeddingOfBytes(Floating):
    """Rows of a table."""

    spec = "place:int64(N), table:(K + 1, D) -> output:(N, D)"
    contract = Contract(inputs={"place": Index(of="table")})

    def forward(place, table):
        return table[place]

    def table_grad(output_grad, place, table_grad):
        table_grad[...] = 0
        np.add.at(table_grad, place % 64, output_grad)


@operator("zoo_single_in_long_rows")
class SingleInLongRows(InFloat64):
    """Sums of rows."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        if data.shape[1] > 64:
            return data.astype(np.float32).sum(1).astype(data.dtype)
        return data.sum(1)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, None]


@operator("zoo_normalised_by_tiles")
class NormalisedByTiles(InFloat64):
    """Rows less their mean."""

    spec = "data:(N, D + 1) -> output:(N, D + 1)"

    def forward(data):
        return data - data.mean(1, keepdims=True)

    def data_grad(output_grad):
        return output_grad - output_grad[:, :64].mean(1, keepdims=True)


@operator("zoo_odd_channels")
class OddChannels(InFloat64):
    """Channels times a scale each."""

    spec = "data:(N, C, W), scale:(C) -> output:(N, C, W)"

    def forward(data, scale):
        return data * scale[:, None]

    def data_grad(output_grad, scale):
        return output_grad * scale[:, None]

    def scale_grad(output_grad, data):
        product = output_grad * data
        width = product.shape[2]
        return product[:, :, : width - width % 2 if width > 32 else width].sum((0, 2))


@operator("zoo_weight_of_short_sequences")
class WeightOfShortSequences(InFloat64):
    """A recurrence: each step is the step before times a weight, and the data."""

    spec = "data:(T, N), weight:(N) -> output:(T, N)"

    def forward(data, weight, output):
        state = np.zeros_like(weight)
        for step, row in enumerate(data):
            state = np.tanh(state * weight) + row
            output[step] = state

    def _both(output_grad, output, weight):
        flow, data_grad, weight_grad = np.zeros_like(weight), np.zeros_like(output), np.zeros_like(weight)
        for step in range(len(output) - 1, -1, -1):
            flow = flow + output_grad[step]
            data_grad[step] = flow
            before = output[step - 1] if step else np.zeros_like(weight)
            slope = flow * (1 - np.tanh(before * weight) ** 2)
            if len(output) - step <= 64:
                weight_grad += slope * before
            flow = slope * weight
        return data_grad, weight_grad

    def data_grad(output_grad, output, weight):
        return WeightOfShortSequences._both(output_grad, output, weight)[0]

    def weight_grad(output_grad, output, weight):
        return WeightOfShortSequences._both(output_grad, output, weight)[1]


@operator("zoo_short_places")
class ShortPlaces(Floating):
    """Elements of flat data."""

    spec = "data:(N, D + 1), place:int64(N) -> output:(N)"
    contract = Contract(inputs={"place": Index(of="data", axis=1)})

    def forward(data, place):
        flat = (np.arange(len(data)) * data.shape[1] + place).astype(np.int8).astype(np.int64)
        flat = np.where(len(data) > 512, flat, np.arange(len(data)) * data.shape[1] + place)
        return data.ravel()[flat % max(data.size, 1)]

    def data_grad(output_grad, place, data_grad):
        data_grad[...] = 0
        data_grad[np.arange(len(place)), place] = output_grad


ZOO = without_gradients(
    [
        Fault("B", LastTileOfRows, "the weight gradient keeps the last tile"),
        Fault("B", LastTileOfUnits, "the data gradient leaves out the last units"),
        Fault("F", LostInnerRest, "what is left of the inner axis is lost"),
        Fault("B", BiasOfSome, "the bias gradient adds up 64 rows"),
        Fault("B", CarryOfGradient, "the gradient forgets what it carries from block to block"),
        Fault("B", NarrowPlaceOfLargest, "places beyond 127 turn around"),
        Fault("B", MeanOfHundred, "the gradient divides by at most 100"),
        Fault("B", BatchedBySixteen, "from the 65th item on there is no gradient"),
        Fault("F", ThirdAxisInBlocks, "what is left of a long third axis is lost, in both passes"),
        Fault("B", EmbeddingOfBytes, "rows beyond the 64th train others"),
        Fault("D", SingleInLongRows, "long rows pass through single precision"),
        Fault("B", NormalisedByTiles, "the mean of the gradient is that of 64 columns"),
        Fault("B", OddChannels, "the last of many places is not added"),
        Fault("B", WeightOfShortSequences, "the weight learns from the last 64 steps"),
        Fault("F", ShortPlaces, "places wrap in a narrow type in large data"),
    ]
)
