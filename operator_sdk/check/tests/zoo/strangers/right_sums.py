"""Right operators of running results, windows and other types."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Real, blocked_cumsum, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Right


def _sums(data, exclusive, reverse):
    rows = data[:, ::-1] if reverse else data
    found = blocked_cumsum(rows, 1)
    if exclusive:
        found = np.concatenate([np.zeros_like(found[:, :1]), found[:, :-1]], axis=1)
    return found[:, ::-1] if reverse else found


@operator("zoo_right_sum_so_far")
class RunningSum(InFloat32):
    """The sum of each element and those before it in a row, or after it; without itself if `exclusive`."""

    exclusive = param(bool, False, doc="Leave the element itself out.")
    reverse = param(bool, False, doc="Sum from the end.")
    spec = "data:(N, T) -> output:(N, T)"

    def _reference(data, exclusive, reverse):
        output = np.zeros_like(data)
        length = data.shape[1]
        for step in range(length):
            part = slice(step + exclusive, length) if reverse else slice(0, step + 1 - exclusive)
            output[:, step] = data[:, part].sum(axis=1)
        return output

    contract = Contract(reference=_reference, nan_policy="the last element is in no sum if `exclusive`")

    def forward(data, exclusive, reverse):
        return _sums(data, exclusive, reverse)

    def data_grad(output_grad, exclusive, reverse):
        return _sums(output_grad, exclusive, not reverse)


@operator("zoo_right_product_so_far")
class RunningProduct(InFloat32):
    """The product of each element of a row and of those before it; zeros have gradients too."""

    spec = "data:(N, T) -> output:(N, T)"

    def _reference(data):
        output = data.copy()
        for step in range(1, data.shape[1]):
            output[:, step] = data[:, step] * output[:, step - 1]
        return output

    contract = Contract(reference=_reference, inputs={"data": Real(above=-1.5, below=1.5)})

    def forward(data):
        return np.cumprod(data, axis=1)

    def data_grad(output_grad, data, data_grad):
        length = data.shape[1]
        before = np.ones_like(data)
        before[:, 1:] = np.cumprod(data[:, :-1], axis=1)
        tail = np.zeros(len(data), data.dtype)  # sum over later places of g times the factors after this one
        for step in range(length - 1, -1, -1):
            after = data[:, step + 1] * tail if step + 1 < length else 0
            tail = output_grad[:, step] + after
            data_grad[:, step] = before[:, step] * tail


def _places(data):
    """Where each running maximum was found first."""
    found = np.maximum.accumulate(data, axis=1)
    steps = np.broadcast_to(np.arange(data.shape[1]), data.shape)
    risen = np.ones(data.shape, bool)
    risen[:, 1:] = found[:, 1:] > found[:, :-1]
    return np.maximum.accumulate(np.where(risen, steps, 0), axis=1)


@operator("zoo_right_maximum_so_far")
class RunningMaximum(Floating):
    """The largest of each element and those before it; the first of equal ones has the gradient."""

    spec = "data:(N, T) -> output:(N, T)"
    contract = Contract(
        reference=lambda data: (
            np.stack([data[:, : step + 1].max(axis=1) for step in range(data.shape[1])], axis=1)
            if data.shape[1]
            else data
        )
    )

    def forward(data):
        return np.maximum.accumulate(data, axis=1)

    def data_grad(output_grad, data, data_grad):
        sums = np.zeros(data.shape)
        np.add.at(sums, (np.arange(len(data))[:, None], _places(data)), output_grad)
        data_grad[...] = sums


@operator("zoo_right_to_bytes")
class ToBytes(InFloat32):
    """`round(data / scale) + 128` between 0 and 255, as a byte; 128 for NaN."""

    scale = param(float, 0.125, gt=0, doc="The length of a step.")
    spec = "data:(*S) -> output:uint8(*S)"

    def _reference(data, scale):
        steps = np.clip(np.rint(data / scale) + 128, 0, 255)
        return np.where(np.isnan(steps), 128, steps).astype(np.uint8)

    contract = Contract(
        reference=_reference,
        nan_policy="bytes have no NaN",
        params={"scale": [0.125, 0.5]},
        narrowed={"scale": "powers of two, by which division is exact"},
    )

    def forward(data, scale):
        steps = np.clip(np.rint(data / scale) + 128, 0, 255)
        return np.nan_to_num(steps, nan=128).astype(np.uint8)


@operator("zoo_right_is_near")
class IsNear(InFloat32):
    """Whether `|lhs - rhs| <= atol`; equal infinities are near, and NaN is near nothing."""

    atol = param(float, 0.25, ge=0, doc="The largest distance.")
    spec = "lhs:(*A), rhs:(*B) -> output:bool(*broadcast(A, B))"
    contract = Contract(
        reference=lambda lhs, rhs, atol: np.isclose(lhs, rhs, rtol=0, atol=atol),
        nan_policy="truth has no NaN",
        params={"atol": [0.25, 0.0]},
        narrowed={"atol": "distances that numbers can have"},
    )

    def forward(lhs, rhs, atol):
        with np.errstate(invalid="ignore"):
            return (lhs == rhs) | ((np.abs(lhs - rhs) <= atol) & np.isfinite(lhs) & np.isfinite(rhs))


@operator("zoo_right_unfold")
class Unfold(Floating):
    """All windows of each row: `kernel` elements, `dilate` apart, from each `stride`-th place on."""

    kernel = param(int, 2, ge=1, le=3, doc="Elements of a window.")
    stride = param(int, 1, ge=1, le=3, doc="Distance of two windows.")
    dilate = param(int, 1, ge=1, le=3, doc="Distance of two elements.")
    spec = (
        "data:(N, W) -> output:(N, (W - (kernel - 1)*dilate - 1)//stride + 1, kernel)"
        "; W >= (kernel - 1)*dilate + 1"
    )
    linear_in = ("data",)

    def _reference(data, kernel, stride, dilate):
        span = (kernel - 1) * dilate + 1
        starts = range(0, data.shape[1] - span + 1, stride)
        return np.stack([data[:, at : at + span : dilate] for at in starts], axis=1)

    contract = Contract(reference=_reference)

    def forward(data, stride, dilate, output):
        count, kernel = output.shape[1:]
        for tap in range(kernel):
            first = tap * dilate
            output[:, :, tap] = data[:, first : first + (count - 1) * stride + 1 : stride]

    def data_grad(output_grad, stride, dilate, data_grad):
        count, kernel = output_grad.shape[1:]
        data_grad.fill(0)
        for tap in range(kernel):
            first = tap * dilate
            data_grad[:, first : first + (count - 1) * stride + 1 : stride] += output_grad[:, :, tap]


ZOO = [
    Right(RunningSum, "sums without the element itself, and from the end"),
    Right(RunningProduct, "products whose gradient does not divide"),
    Right(RunningMaximum, "maxima so far, of equal ones the first"),
    Right(ToBytes, "bytes that saturate"),
    Right(IsNear, "truths with a jump, infinities that are near themselves"),
    Right(Unfold, "windows that overlap, and ends that none reaches"),
]
