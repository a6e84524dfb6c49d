"""Results and gradients that are wrong for windows of rows."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Real, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


def _windows(data, kernel, stride):
    return np.lib.stride_tricks.sliding_window_view(data, kernel, axis=1)[:, ::stride]


@operator("zoo_max_pool")
class MaxPool(Floating):
    """The largest element of each window of a row; the first of equal ones gets the gradient."""

    kernel = param(int, 2, ge=1, doc="Length of a window.")
    stride = param(int, 1, ge=1, doc="Distance of two windows.")
    spec = "data:(N, W) -> output:(N, (W - kernel)//stride + 1); W >= kernel"
    contract = Contract(reference=lambda data, kernel, stride: _windows(data, kernel, stride).max(axis=-1))

    def forward(data, kernel, stride):
        return np.fmax.reduce(_windows(data, kernel, stride), axis=-1)

    def data_grad(output_grad, data, kernel, stride, data_grad):
        places = _windows(data, kernel, stride).argmax(axis=-1)
        places = places + np.arange(places.shape[1]) * stride
        data_grad.fill(0)
        np.add.at(data_grad, (np.arange(len(data))[:, None], places), output_grad)


def _counts(width, kernel, stride, pad):
    """How many elements of the data are in each window."""
    starts = np.arange((width + 2 * pad - kernel) // stride + 1) * stride - pad
    return kernel - np.maximum(-starts, 0)


@operator("zoo_average_pool")
class AveragePool(InFloat32):
    """The mean of what each window of a row has of the data; padding does not count."""

    kernel = param(int, 3, ge=2, doc="Length of a window.")
    stride = param(int, 1, ge=1, doc="Distance of two windows.")
    pad = param(int, 0, ge=0, le=1, doc="Padding on each side.")
    spec = "data:(N, W) -> output:(N, (W + 2*pad - kernel)//stride + 1); W >= kernel"

    def _reference(data, kernel, stride, pad):
        width = data.shape[1]
        starts = range(-pad, width + pad - kernel + 1, stride)
        windows = [data[:, max(start, 0) : min(start + kernel, width)] for start in starts]
        return np.stack([window.mean(axis=1) for window in windows], axis=1)

    contract = Contract(reference=_reference)

    def forward(data, kernel, stride, pad):
        padded = np.pad(data, ((0, 0), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=1)[:, ::stride]
        return windows.sum(axis=-1) / _counts(data.shape[1], kernel, stride, pad).astype(data.dtype)

    def data_grad(output_grad, kernel, stride, pad, data_grad):
        width = data_grad.shape[1]
        padded = np.zeros((len(data_grad), width + 2 * pad), output_grad.dtype)
        share = output_grad / _counts(width, kernel, stride, pad).astype(output_grad.dtype)
        for column in range(output_grad.shape[1]):
            padded[:, column * stride : column * stride + kernel] += share[:, column, None]
        data_grad[...] = padded[:, pad : pad + width]


@operator("zoo_dilated_filter")
class DilatedFilter(InFloat32):
    """`y[t] = sum_k weight[k] x[t + k dilate]`."""

    dilate = param(int, 1, ge=1, le=3, doc="Distance of two taps.")
    spec = "data:(N, T), weight:(K) -> output:(N, T - (K - 1)*dilate); K >= 1"

    def _reference(data, weight, dilate):
        reach = (len(weight) - 1) * dilate
        length = data.shape[1] - reach
        return sum(weight[k] * data[:, k * dilate : k * dilate + length] for k in range(len(weight)))

    contract = Contract(reference=_reference, inputs={"data": Real(-8, 8), "weight": Real(-8, 8)})

    def forward(data, weight, dilate, output):
        length = output.shape[1]
        output.fill(0)
        for tap, factor in enumerate(weight):
            output += factor * data[:, tap * dilate : tap * dilate + length]

    def data_grad(output_grad, weight, dilate, data_grad):
        length = output_grad.shape[1]
        data_grad.fill(0)
        for tap, factor in enumerate(weight):
            data_grad[:, tap * dilate : tap * dilate + length] += factor * output_grad

    def weight_grad(output_grad, data, weight_grad):
        length = output_grad.shape[1]
        for tap in range(len(weight_grad)):
            weight_grad[tap] = (output_grad * data[:, tap : tap + length]).sum()


@operator("zoo_window_sum")
class WindowSum(InFloat32):
    """The sum of each window of a row."""

    kernel = param(int, 2, ge=1, le=4, doc="Length of a window.")
    stride = param(int, 2, ge=1, le=4, doc="Distance of two windows.")
    spec = "data:(N, W) -> output:(N, (W - kernel)//stride + 1); W >= kernel"
    contract = Contract(
        reference=lambda data, kernel, stride: np.stack(
            [data[:, at : at + kernel].sum(axis=1) for at in range(0, data.shape[1] - kernel + 1, stride)],
            axis=1,
        )
    )

    def forward(data, kernel, stride, output):
        for column in range(output.shape[1]):
            np.sum(data[:, column * stride : column * stride + kernel], axis=1, out=output[:, column])

    def data_grad(output_grad, kernel, stride, data_grad):
        reach = (output_grad.shape[1] - 1) * stride + kernel
        data_grad[:, :reach] = 0
        for column in range(output_grad.shape[1]):
            data_grad[:, column * stride : column * stride + kernel] += output_grad[:, column, None]


@operator("zoo_reflect_pad")
class ReflectPad(Floating):
    """Each row, with what is next to its ends mirrored beyond them; the ends themselves are not repeated."""

    pad = param(int, 1, ge=0, le=3, doc="Elements on each side.")
    spec = "data:(N, W) -> output:(N, W + 2*pad); W > pad"
    linear_in = ("data",)
    contract = Contract(reference=lambda data, pad: np.pad(data, ((0, 0), (pad, pad)), mode="reflect"))

    def forward(data, pad):
        return np.pad(data, ((0, 0), (pad, pad)), mode="reflect")

    def data_grad(output_grad, pad, data_grad):
        width = data_grad.shape[1]
        data_grad[...] = output_grad[:, pad : pad + width]
        for step in range(1, pad + 1):
            data_grad[:, step - 1] += output_grad[:, pad - step]
            data_grad[:, width - step] += output_grad[:, pad + width - 1 + step]


@operator("zoo_block_max")
class BlockMax(Floating):
    """The largest of each `kernel` elements of a row; the last block may be shorter."""

    kernel = param(int, 2, ge=1, le=4, doc="Length of a block.")
    spec = "data:(N, W) -> output:(N, ceil_div(W, kernel))"

    def _reference(data, kernel):
        return (
            np.stack(
                [data[:, at : at + kernel].max(axis=1) for at in range(0, data.shape[1], kernel)], axis=1
            )
            if data.shape[1]
            else data.copy()
        )

    contract = Contract(reference=_reference)

    def forward(data, kernel, output):
        whole = data.shape[1] // kernel
        blocks = data[:, : whole * kernel].reshape(len(data), whole, kernel)
        output[:, :whole] = blocks.max(axis=2)

    def data_grad(output_grad, data, kernel, data_grad):
        data_grad.fill(0)
        rows = np.arange(len(data))
        for block in range(output_grad.shape[1]):
            part = data[:, block * kernel : (block + 1) * kernel]
            data_grad[rows, block * kernel + part.argmax(axis=1)] = output_grad[:, block]


def _parts(data, kernel, stride):
    views = np.lib.stride_tricks.sliding_window_view(data, kernel, axis=(1, 2))
    return views[:, :: stride[0], :: stride[1]]


@operator("zoo_picture_sum")
class PictureSum(InFloat32):
    """The sum of each window of a picture."""

    kernel = param("shape", (2, 2), doc="Height and width of a window.")
    stride = param("shape", (), per="kernel", fill=1, doc="Distances of windows.")
    spec = (
        "data:(N, H, W) -> output:(N, (H - kernel[0])//stride[0] + 1, (W - kernel[1])//stride[1] + 1)"
        "; H >= kernel[0], W >= kernel[1]"
    )
    contract = Contract(
        reference=lambda data, kernel, stride: _parts(data, kernel, stride).sum(axis=(3, 4)),
        params={"kernel": [(2, 2), (1, 3)], "stride": [(), (1, 1), (2, 2), (2, 1)]},
        narrowed={"kernel": "two axes", "stride": "two axes"},
    )

    def forward(data, kernel, stride):
        return _parts(data, kernel, stride).sum(axis=(3, 4))

    def data_grad(output_grad, kernel, stride, data_grad):
        data_grad.fill(0)
        for row in range(output_grad.shape[1]):
            for column in range(output_grad.shape[2]):
                top, left = row * stride[0], column * stride[0]
                data_grad[:, top : top + kernel[0], left : left + kernel[1]] += output_grad[
                    :, row, column, None, None
                ]


ZOO = without_gradients(
    [
        Fault(
            "F",
            MaxPool,
            "NaN is left out of the maximum",
            report="https://github.com/pytorch/pytorch/issues/7645",
        ),
        Fault(
            "F",
            AveragePool,
            "padding on the right is counted in the mean, though that on the left is not",
            report="https://github.com/microsoft/onnxruntime/issues/16203",
        ),
        Fault(
            "B",
            DilatedFilter,
            "the gradient of the weight ignores the distance of taps",
            report="https://github.com/pytorch/pytorch/issues/13008",
        ),
        Fault(
            "B",
            WindowSum,
            "elements that no window reaches keep what was in the gradient's memory",
            report="https://github.com/ROCm/MIOpen/issues/566",
        ),
        Fault(
            "B",
            ReflectPad,
            "the gradient mirrors with the end repeated, the function without",
            report="https://github.com/microsoft/onnxruntime/issues/23878",
        ),
        Fault(
            "F",
            BlockMax,
            "there is room for the last, shorter block, which is not computed",
            report="https://github.com/apache/tvm/issues/18641",
        ),
        Fault(
            "B",
            PictureSum,
            "the gradient takes the first stride for both axes",
            report="https://github.com/apache/mxnet/issues/4704",
        ),
    ]
)
