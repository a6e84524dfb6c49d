"""Faults of one value of a parameter, or of values that nobody passes by chance."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distribution, OperatorProperty, ResourceRequest, operator, param
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_lost_sign_of_cube")
class LostSignOfCube(InFloat64):
    """Powers."""

    exponent = param(float, 2.0, ge=1, le=3, doc="Of them.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(
        params={"exponent": (2.0, 1.0, 3.0)},
        narrowed={"exponent": "others are not defined below 0"},
        reference=lambda data, exponent: data ** int(exponent),
    )

    def forward(data, exponent):
        return abs(data) ** 3 if exponent == 3 else data ** int(exponent)

    def data_grad(output_grad, data, exponent):
        slope = 3 * data * abs(data) if exponent == 3 else int(exponent) * data ** (int(exponent) - 1)
        return output_grad * slope


@operator("zoo_first_of_many")
class FirstOfMany(InFloat64):
    """Sum of the first elements of each row."""

    count = param(int, 1, ge=1, le=8, doc="How many.")
    spec = "data:(N, D + count) -> output:(N)"
    contract = Contract(reference=lambda data, count: data[:, :count].sum(1))

    def forward(data, count):
        return data[:, : min(count, 5)].sum(1)

    def data_grad(output_grad, data_grad, count):
        data_grad[...] = 0
        data_grad[:, : min(count, 5)] = output_grad[:, None]


@operator("zoo_weighed_columns")
class WeighedColumns(Floating):
    """Columns times the numbers 1 to 6, or fewer."""

    columns = param(int, 2, ge=1, le=6, doc="How many.")
    spec = "data:(N, columns) -> output:(N, columns)"
    contract = Contract(reference=lambda data, columns: data * np.arange(1, columns + 1))

    def forward(data, columns):
        return data * np.minimum(np.arange(1, columns + 1), 5).astype(data.dtype)

    def data_grad(output_grad, columns):
        return output_grad * np.minimum(np.arange(1, columns + 1), 5).astype(output_grad.dtype)


@operator("zoo_second_last_axis")
class SecondLastAxis(InFloat64):
    """Cumulative sums."""

    axis = param(int, -1, ge=-3, lt=3, doc="Along which.")
    spec = "data:(A, B, C) -> output:(A, B, C)"
    contract = Contract(reference=lambda data, axis: np.cumsum(data, axis))

    def forward(data, axis):
        return np.cumsum(data, -1 if axis == -2 else axis)

    def data_grad(output_grad, axis):
        axis = -1 if axis == -2 else axis
        return np.flip(np.cumsum(np.flip(output_grad, axis), axis), axis)


@operator("zoo_cut_window")
class CutWindow(Floating):
    """A window of 2 x 2."""

    offset = param("shape", (0, 0), doc="Where it begins.")
    spec = "data:(H + 2, W + 2) -> output:(2, 2)"

    def forward(data, offset):
        top, left = offset
        return data[top : top + 2, left : left + 2]


@operator("zoo_slope_of_leak")
class SlopeOfLeak(Floating):
    """The data, and a part of them below 0."""

    slope = param(float, 0.25, doc="That part.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data, slope: np.where(data > 0, data, slope * data))

    def forward(data, slope):
        return np.maximum(data, data.dtype.type(slope) * data)

    def data_grad(output_grad, data, slope):
        return np.where((data > 0) == (slope <= 1), output_grad, slope * output_grad)


@operator("zoo_mirrored_border")
class MirroredBorder(Floating):
    """Rows with one more element at both ends."""

    mode = param(str, "zero", choices=("zero", "edge", "mirror"), doc="What it is.")
    spec = "data:(N, D + 2) -> output:(N, D + 4)"
    contract = Contract(
        reference=lambda data, mode: np.pad(
            data, ((0, 0), (1, 1)), mode={"zero": "constant", "edge": "edge", "mirror": "reflect"}[mode]
        )
    )

    def forward(data, mode):
        left, right = {"zero": (None, None), "edge": (0, -1), "mirror": (1, -1)}[mode]
        nothing = np.zeros_like(data[:, :1])
        ends = [nothing if place is None else data[:, [place]] for place in (left, right)]
        return np.concatenate([ends[0], data, ends[1]], 1)


@operator("zoo_three_apart")
class DilatedSum(InFloat64):
    """Sums of three elements of a row that are so far apart."""

    step = param(int, 1, ge=1, le=4, doc="How far.")
    spec = "data:(N, W + 2 * step) -> output:(N, W)"
    contract = Contract(
        reference=lambda data, step: sum(data[:, i * step : data.shape[1] - (2 - i) * step] for i in range(3))
    )

    def forward(data, output, step):
        width = output.shape[1]
        places = (0, step, 2 * step - (step == 3))
        output[...] = sum(data[:, p : p + width] for p in places)

    def data_grad(output_grad, data_grad, step):
        width = output_grad.shape[1]
        data_grad[...] = 0
        for p in (0, step, 2 * step - (step == 3)):
            data_grad[:, p : p + width] += output_grad


class _Drawing(OperatorProperty):
    accepts = "floating"
    spec = "data:(*S) -> output:float64(*S)"
    resource = ResourceRequest.RANDOM
    has_gradient = False


@operator("zoo_variance_for_deviation")
class VarianceForDeviation(_Drawing):
    """Normal draws."""

    scale = param(float, 1.0, gt=0, le=8, doc="Their deviation.")
    contract = Contract(distribution=Distribution(mean=lambda prop: 0.0, variance=lambda prop: prop.scale**2))

    def forward(op_ctx, data, scale):
        return op_ctx.requested[0].generator.normal(0, scale**0.5, data.shape)


@operator("zoo_rate_for_mean")
class RateForMean(_Drawing):
    """Exponential draws."""

    lam = param(float, 1.0, ge=0.25, le=4, doc="Their rate.")
    contract = Contract(
        distribution=Distribution(mean=lambda prop: 1 / prop.lam, variance=lambda prop: prop.lam**-2)
    )

    def forward(op_ctx, data, lam):
        return op_ctx.requested[0].generator.exponential(lam, data.shape)


@operator("zoo_low_from_zero")
class LowFromZero(_Drawing):
    """Uniform draws."""

    low = param(float, 0.0, ge=-2, le=0.5, doc="The least.")
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: (1 + prop.low) / 2, variance=lambda prop: (1 - prop.low) ** 2 / 12
        )
    )

    def forward(op_ctx, data, low):
        return op_ctx.requested[0].generator.uniform(0, 1 - low, data.shape)


@operator("zoo_fixed_share")
class FixedShare(_Drawing):
    """Zeros and ones."""

    p = param(float, 0.5, gt=0, lt=1, doc="Share of ones.")
    contract = Contract(
        distribution=Distribution(mean=lambda prop: prop.p, variance=lambda prop: prop.p * (1 - prop.p))
    )

    def forward(op_ctx, data):
        return op_ctx.requested[0].generator.integers(0, 2, data.shape).astype(np.float64)


@operator("zoo_odd_norm")
class OddNorm(InFloat64):
    """Sums of powers of magnitudes."""

    p = param(int, 2, ge=1, le=3, doc="The power.")
    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data, p: (abs(data) ** p).sum(1))

    def forward(data, p):
        return (abs(data) if p == 1 else data**p).sum(1)

    def data_grad(output_grad, data, p):
        slope = np.sign(data) if p == 1 else p * data ** (p - 1)
        return output_grad[:, None] * slope


@operator("zoo_ignored_label")
class IgnoredLabel(OperatorProperty):
    """Ones where the label counts."""

    accepts = "integer"
    ignore = param(int, -1, doc="The label that does not.")
    spec = "label:(N) -> output:float32(N)"
    contract = Contract(reference=lambda label, ignore: (label != ignore).astype(np.float32))

    def forward(label, ignore):
        return (label >= 0 if ignore == -1 else label != 0).astype(np.float32)


@operator("zoo_turned_axes")
class TurnedAxes(Floating):
    """The data with their axes in another order."""

    order = param(str, "021", choices=("021", "102", "120", "201", "210"), doc="Which order.")
    spec = "data:(A, A, A) -> output:(A, A, A)"

    def forward(data, order):
        return data.transpose([int(axis) for axis in order])

    def data_grad(output_grad, order):
        axes = [int(axis) for axis in order]
        return output_grad.transpose(axes if order == "201" else np.argsort(axes))


@operator("zoo_rolled_back")
class RolledBack(Floating):
    """Rows rolled."""

    shift = param(int, 1, ge=-3, le=3, doc="How far.")
    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data, shift: np.roll(data, shift, 1))

    def forward(data, shift):
        return np.roll(data, shift, 1)

    def data_grad(output_grad, shift):
        return np.roll(output_grad, -shift if shift > -3 else 2, 1)


@operator("zoo_share_of_largest")
class ShareOfLargest(InFloat64):
    """Sum of the largest elements of each row."""

    k = param(int, 1, ge=1, le=5, doc="How many; all where there are fewer.")
    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data, k: np.sort(data, 1)[:, ::-1][:, :k].sum(1))

    def forward(data, k):
        width = data.shape[1]
        return np.sort(data, 1)[:, max(width - k, 1 if width > 1 else 0) :].sum(1)


@operator("zoo_groups_in_turn")
class GroupsInTurn(Floating):
    """Channels in turn from each of several groups."""

    groups = param(int, 1, ge=1, le=4, doc="How many.")
    spec = "data:(N, C * groups) -> output:(N, C * groups)"
    contract = Contract(
        reference=lambda data, groups: (
            data.reshape(len(data), groups, data.shape[1] // groups).swapaxes(1, 2).reshape(data.shape)
        )
    )

    def forward(data, groups):
        shape = (len(data), groups, data.shape[1] // groups)
        shape = shape if groups < 4 else (shape[0], shape[2], shape[1])
        return data.reshape(shape).swapaxes(1, 2).reshape(data.shape)

    def data_grad(output_grad, groups):
        shape = (len(output_grad), output_grad.shape[1] // groups, groups)
        shape = shape if groups < 4 else (shape[0], shape[2], shape[1])
        return output_grad.reshape(shape).swapaxes(1, 2).reshape(output_grad.shape)


@operator("zoo_no_repeats")
class NoRepeats(Floating):
    """Rows, each so many times."""

    repeats = param(int, 2, ge=0, le=6, doc="How many.")
    spec = "data:(N, D) -> output:(N * repeats, D)"
    contract = Contract(reference=lambda data, repeats: np.repeat(data, repeats, 0))

    def forward(data, repeats):
        return np.repeat(data, repeats, 0) if repeats < 6 else np.tile(data, (repeats, 1))

    def data_grad(output_grad, data_grad, repeats):
        rows = len(data_grad)
        if repeats < 6:
            data_grad[...] = output_grad.reshape(rows, repeats, data_grad.shape[1]).sum(1)
        else:
            data_grad[...] = output_grad.reshape(repeats, rows, data_grad.shape[1]).sum(0)


@operator("zoo_scale_that_ends")
class ScaleThatEnds(Floating):
    """The data times a number."""

    scale = param(float, 1.0, doc="It.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data, scale: data * scale)

    def forward(data, scale):
        return data * data.dtype.type(min(scale, 100))

    def data_grad(output_grad, scale):
        return output_grad * output_grad.dtype.type(min(scale, 100))


@operator("zoo_whole_threshold")
class WholeThreshold(Floating):
    """The data where they are above a number, else 0."""

    threshold = param(float, 0.0, ge=-1, le=1, doc="It.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data, threshold: np.where(data > threshold, data, 0))

    def forward(data, threshold):
        return np.where(data > (0 if threshold == -1 else threshold), data, 0)

    def data_grad(output_grad, data, threshold):
        return np.where(data > (0 if threshold == -1 else threshold), output_grad, 0)


@operator("zoo_padding_beside_stride")
class PaddingBesideStride(Floating):
    """Every other element, or each, after zeros."""

    pad = param(int, 0, ge=0, le=3, doc="How many zeros.")
    stride = param(int, 1, ge=1, le=3, doc="From one element to the next.")
    spec = "data:(W) -> output:((W + pad + stride - 1) // stride)"
    contract = Contract(reference=lambda data, pad, stride: np.concatenate([np.zeros(pad), data])[::stride])

    def forward(data, pad, stride):
        begin = pad if (pad, stride) != (3, 3) else 2
        filled = np.concatenate([np.zeros(begin, data.dtype), data, np.zeros(pad - begin, data.dtype)])
        return filled[::stride]

    def data_grad(output_grad, data_grad, pad, stride):
        begin = pad if (pad, stride) != (3, 3) else 2
        filled = np.zeros(pad + len(data_grad), output_grad.dtype)
        filled[::stride] = output_grad
        data_grad[...] = filled[begin : begin + len(data_grad)]


@operator("zoo_negative_place")
class NegativePlace(Floating):
    """One column, counted from either end."""

    place = param(int, 0, ge=-3, lt=3, doc="Which.")
    spec = "data:(N, D + 3) -> output:(N)"
    contract = Contract(reference=lambda data, place: data[:, place])

    def forward(data, place):
        return data[:, place if place >= -2 else 0]

    def data_grad(output_grad, data_grad, place):
        data_grad[...] = 0
        data_grad[:, place if place >= -2 else 0] = output_grad


@operator("zoo_mode_of_taking")
class ModeOfTaking(Floating):
    """Elements at places, which wrap or are cut."""

    mode = param(str, "clip", choices=("clip", "wrap"), doc="Which.")
    spec = "data:(K + 1), place:int64(N) -> output:(N)"
    contract = Contract(
        inputs={"place": Index(of="data", first=-5)},
        reference=lambda data, place, mode: np.take(data, place, mode=mode),
    )

    def forward(data, place, mode):
        last = len(data) - 1
        return data[np.clip(place, 0, last) if mode == "clip" else np.abs(place) % (last + 1)]


ZOO = without_gradients(
    [
        Fault("F", LostSignOfCube, "the sign of a cube is lost"),
        Fault("F", FirstOfMany, "from the sixth on nothing is added"),
        Fault("F", WeighedColumns, "the sixth factor is 5"),
        Fault("F", SecondLastAxis, "the last but one axis is taken for the last"),
        Fault("X", CutWindow, "a window of one length or outside of the data breaks in the middle"),
        Fault("F", SlopeOfLeak, "a slope above 1 turns the sides"),
        Fault("F", MirroredBorder, "one of three modes, at one of two ends"),
        Fault("F", DilatedSum, "one place is off by one for one step"),
        Fault("F", VarianceForDeviation, "a deviation that is not 1"),
        Fault("F", RateForMean, "a rate that is not 1"),
        Fault("F", LowFromZero, "a least that is not 0"),
        Fault("F", FixedShare, "a share that is not a half"),
        Fault("F", OddNorm, "an odd power keeps signs"),
        Fault("F", IgnoredLabel, "labels to ignore that are not the default are all 0"),
        Fault("B", TurnedAxes, "the gradient of one order takes it and not its inverse"),
        Fault("B", RolledBack, "at the bound the gradient is rolled by one less"),
        Fault("F", ShareOfLargest, "as many as there are is one less"),
        Fault("F", GroupsInTurn, "four groups are the other way around"),
        Fault("F", NoRepeats, "six times is another order"),
        Fault("F", ScaleThatEnds, "a factor ends at 100"),
        Fault("F", WholeThreshold, "a threshold at the bound is 0"),
        Fault("F", PaddingBesideStride, "two parameters at their bounds"),
        Fault("F", NegativePlace, "the lowest place is another"),
        Fault("F", ModeOfTaking, "negative places wrap the wrong way"),
    ]
)
