"""Operators that write or keep what they should not, or leave out what they should write."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Index, OperatorProperty, Real, gradient, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_softmax")
class Softmax(InFloat32):
    """`exp(data)` over the sum of its row."""

    spec = "data:(N, D) -> output:(N, D); D >= 1"

    def _reference(data):
        output = np.empty_like(data)
        for place, row in enumerate(data):
            powers = np.exp(row - row.max())
            output[place] = powers / powers.sum()
        return output

    contract = Contract(reference=_reference)

    def forward(data, output):
        data -= data.max(axis=1, keepdims=True)
        np.exp(data, out=output)
        output /= output.sum(axis=1, keepdims=True)

    def data_grad(output_grad, output):
        return output * (output_grad - (output_grad * output).sum(axis=1, keepdims=True))


@operator("zoo_clip")
class Clip(Floating):
    """The nearest number between `a_min` and `a_max`."""

    a_min = param(float, -1.0, le=0, doc="The smallest result.")
    a_max = param(float, 1.0, ge=0, doc="The largest result.")
    spec = "data:(*S) -> output:(*S)"
    inplace = "data -> output"
    contract = Contract(reference=lambda data, a_min, a_max: np.clip(data, a_min, a_max))

    def forward(data, a_min, a_max, output):
        np.clip(data, a_min, a_max, out=output)

    def data_grad(output_grad, data, a_min, a_max, data_grad):
        output_grad[(data < a_min) | (data > a_max)] = 0
        data_grad[...] = output_grad


@operator("zoo_steps")
class Steps(Floating):
    """Each row less the one before it; the first is left as it is."""

    spec = "data:(T, D) -> output:(T, D)"
    inplace = "data -> output"

    def _reference(data):
        output = data.copy()
        output[1:] = data[1:] - data[:-1]
        return output

    contract = Contract(reference=_reference)

    def forward(data, output):
        if not len(data):
            return
        output[0] = data[0]
        for step in range(1, len(data)):
            output[step] = data[step] - data[step - 1]

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad
        data_grad[:-1] -= output_grad[1:]


@operator("zoo_pair_sum")
class PairSum(Floating):
    """Each element plus the one on its left; the first is left as it is."""

    spec = "data:(N, T) -> output:(N, T)"

    def _reference(data):
        output = data.copy()
        output[:, 1:] += data[:, :-1]
        return output

    contract = Contract(reference=_reference)

    def forward(data, output):
        output[...] = data
        output[:, 1:] += data[:, :-1]

    @gradient(inplace="output_grad -> data_grad")
    def data_grad(output_grad, data_grad):
        last = output_grad.shape[1] - 1
        for step in range(last, -1, -1):
            if step < last:
                data_grad[:, step] = output_grad[:, step] + output_grad[:, step + 1]
            else:
                data_grad[:, step] = output_grad[:, step]


_TABLES = {}


def _waves(length, width, base):
    places = np.arange(length)[:, None]
    rates = float(base) ** (-np.arange(width) / max(width, 1))
    return np.sin(places * rates)


def _table(length, width, base):
    """Waves of that many places, which are computed once."""
    key = (length, width)
    if key not in _TABLES:
        _TABLES[key] = _waves(length, width, base)
    return _TABLES[key]


@operator("zoo_add_positions")
class AddPositions(InFloat32):
    """`data[t, d] + sin(t base^(-d / D))`."""

    base = param(float, 10000.0, gt=1, doc="Ratio of the slowest wave to the fastest.")
    spec = "data:(T, D) -> output:(T, D)"
    contract = Contract(
        reference=lambda data, base: data + _waves(*data.shape, base),
        params={"base": [100.0, 10000.0]},
        narrowed={"base": "waves of any base are alike"},
    )

    def forward(data, base):
        return data + _table(*data.shape, base).astype(data.dtype)

    def data_grad(output_grad):
        return output_grad


def _places(index, count):
    """Numbers of columns that there are: one beyond either end means the one at that end."""
    return np.clip(index, 0, count - 1).astype(np.intp)


@operator("zoo_take_columns")
class TakeColumns(OperatorProperty):
    """The columns of a table that an index names; beyond the table, its first or last."""

    spec = "table:(N, D), index:int64(K) -> output:(N, K); D >= 1"
    accepts = {"table": "floating"}
    contract = Contract(
        inputs={"index": Index("table", axis=1)},
        reference=lambda table, index: np.take(table, index.astype(int), axis=1, mode="clip"),
    )

    def forward(table, index):
        return table[:, _places(index, table.shape[1])]

    def table_grad(output_grad, index, table_grad):
        places = _places(index, table_grad.shape[1])
        table_grad[:, places] = 0
        np.add.at(table_grad, (slice(None), places), output_grad)


@operator("zoo_swap_last")
class SwapLast(Floating):
    """`data` with its last two axes exchanged, times 2."""

    spec = "data:(B, N, D) -> output:(B, D, N)"
    contract = Contract(reference=lambda data: 2 * data.transpose(0, 2, 1))

    def forward(data):
        return 2 * data.swapaxes(1, 2)

    @gradient(accumulate=True)
    def data_grad(output_grad, data_grad):
        data_grad[...] = 2 * output_grad.swapaxes(1, 2)


@operator("zoo_less_moving_mean")
class Centre(InFloat32):
    """Each column less its mean: the batch's in training, else the running one."""

    momentum = param(float, 0.9, ge=0, le=1, doc="Share of the running mean that one step leaves.")
    spec = "data:(N, C), state moving_mean:(C) -> output:(N, C)"

    def _reference(data, moving_mean, is_train, momentum):
        if not is_train or len(data) == 0:
            return data - moving_mean, moving_mean
        mean = data.sum(axis=0) / len(data)
        return data - mean, momentum * moving_mean + (1 - momentum) * mean

    contract = Contract(reference=_reference)

    def forward(is_train, data, moving_mean, momentum):
        if len(data) == 0:
            return data - moving_mean
        mean = data.mean(axis=0)
        found = data - (mean if is_train else moving_mean)
        moving_mean += (1 - momentum) * (mean - moving_mean)
        return found

    def data_grad(is_train, output_grad):
        return output_grad - output_grad.mean(axis=0) if is_train and len(output_grad) else output_grad


def _size(data, eps):
    return np.sqrt((data * data).sum(axis=0) / max(len(data), 1) + eps)


@operator("zoo_running_scale")
class RunningScale(InFloat32):
    """Each column over its root mean square: the batch's in training, else the running one."""

    momentum = param(float, 0.9, ge=0, le=1, doc="Share of the running size that one step leaves.")
    eps = param(float, 1e-2, gt=0, doc="Added to the mean square.")
    spec = "data:(N, C), state moving_size:(C) -> output:(N, C)"

    def _reference(data, moving_size, is_train, momentum, eps):
        if not is_train or len(data) == 0:
            return data / moving_size, moving_size
        size = np.sqrt(np.square(data).mean(axis=0) + eps)
        return data / size, momentum * moving_size + (1 - momentum) * size

    contract = Contract(
        reference=_reference,
        inputs={"data": Real(above=-16, below=16), "moving_size": Real(above=0.25, below=4)},
    )

    def forward(is_train, data, moving_size, momentum, eps):
        if not is_train or len(data) == 0:
            return data / moving_size
        size = _size(data, eps)
        moving_size += (1 - momentum) * (size - moving_size)
        return data / size

    def data_grad(output_grad, data, eps):
        size = _size(data, eps)
        normal = data / size
        along = (output_grad * normal).sum(axis=0) / max(len(data), 1)
        return (output_grad - normal * along) / size


_SCRATCH = {}


def _scratch(shape, dtype):
    """Memory that calls with one shape share, so that it is allocated once."""
    key = (shape, dtype)
    if key not in _SCRATCH:
        _SCRATCH[key] = np.empty(shape, dtype)
    return _SCRATCH[key]


@operator("zoo_smooth_magnitude")
class SmoothMagnitude(InFloat32):
    """`sqrt(1 + data^2)` of every element."""

    spec = "data:(N, D) -> output:(N, D)"
    by_numpy = True
    contract = Contract(reference=lambda data: np.hypot(1, data))

    def forward(data, output):
        work = _scratch(data.shape, data.dtype)
        np.abs(data, out=work)
        np.hypot(work, 1, out=work)
        output[...] = work

    def data_grad(output_grad, data, output):
        return output_grad * (data / output)


ZOO = without_gradients(
    [
        Fault(
            "F",
            Softmax,
            "the maximum is taken from the data themselves",
            report="https://github.com/linkedin/Liger-Kernel/issues/254",
        ),
        Fault(
            "B",
            Clip,
            "the gradient that arrives is masked in its own memory",
            report="https://github.com/pytorch/pytorch/issues/30454",
        ),
        Fault(
            "M",
            Steps,
            "a row may be overwritten, and is read afterwards",
            report="https://github.com/apache/mxnet/issues/14889",
        ),
        Fault(
            "M",
            PairSum,
            "the gradient may overwrite its argument, whose next element is read afterwards",
            report="https://github.com/apache/mxnet/issues/10651",
        ),
        Fault(
            "F",
            AddPositions,
            "tables are kept by their size alone, though a parameter changes them",
            report="https://github.com/lucidrains/rotary-embedding-torch/issues/11",
        ),
        Fault(
            "B",
            TakeColumns,
            "columns without a gradient keep what was in the memory",
            report="https://github.com/apache/mxnet/issues/20166",
        ),
        Fault(
            "B",
            SwapLast,
            "declared to add its gradient, which it writes",
            report="https://github.com/apache/mxnet/issues/9497",
        ),
        Fault("F", Centre, "the moving mean moves in predictions too"),
        Fault(
            "B",
            RunningScale,
            "in predictions the gradient is that of the batch's size",
            report="https://github.com/apache/mxnet/issues/1630",
        ),
        Fault(
            "R",
            SmoothMagnitude,
            "calls of one shape share their memory, in threads too",
            report="https://github.com/pytorch/executorch/issues/19734",
        ),
    ]
)
