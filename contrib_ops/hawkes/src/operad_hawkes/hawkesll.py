"""`_contrib_hawkesll`: the likelihood of events that excite one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_hawkes.process import Process, gradients, likelihood, run
from operad_sdk import (
    Array,
    Contract,
    Index,
    InferredShapes,
    OpContext,
    OperatorProperty,
    PartialShape,
    Real,
    ShapeError,
    gradient,
    operator,
    positive,
)


def _reference(
    lda: Array, alpha: Array, beta: Array, state: Array, lags: Array, marks: Array, valid_length: Array,
    max_time: Array,
) -> tuple[Array, Array]:  # fmt: skip
    """By definition: every intensity is a sum over all earlier events of its mark."""
    found, left = np.zeros(len(lda)), np.zeros(state.shape)
    for n, length in enumerate(valid_length.astype(int)):
        times = np.cumsum(lags[n, :length])
        for k in range(lda.shape[1]):
            own = [time for time, mark in zip(times, marks[n], strict=False) if int(mark) == k]
            past = [(0.0, state[n, k])]
            for time in own:
                excited = sum(weight * np.exp(-beta[k] * (time - then)) for then, weight in past)
                found[n] += np.log(lda[n, k] + alpha[k] * beta[k] * excited)
                past.append((time, 1.0))
            integral = sum(w * (1 - np.exp(-beta[k] * (max_time[n] - then))) for then, w in past)
            found[n] -= lda[n, k] * max_time[n] + alpha[k] * integral
            left[n, k] = sum(w * np.exp(-beta[k] * (max_time[n] - then)) for then, w in past)
    return found, left


@operator("_contrib_hawkesll")
class hawkesll(OperatorProperty):
    """Logarithm of the likelihood of sequences of events under a Hawkes process, and its state at the end.

    An event of a mark makes further ones of that mark more likely: their rate is
    `lda + alpha beta sum exp(-beta (t - t_i))` over the earlier ones. After Hawkes, "Spectra of some
    self-exciting and mutually exciting point processes", 1971.

    Shapes:
        lda: (N, K), the rate of each mark without earlier events.
        alpha: (K,), how many events one event excites.
        beta: (K,), how fast that fades.
        state: (N, K), the memory of what happened before the sequence began.
        lags: (N, T), times between events, padded.
        marks: (N, T), the mark of each event, from 0 to K - 1, padded.
        valid_length: (N,), how many events there are.
        max_time: (N,), when the observation ends; the last event at the latest.
        output: (N,).
        out_state: (N, K), the memory at `max_time`.

    Example:
        >>> import operad as od
        >>> one = od.nd.ones((1,))
        >>> rates, state, lags = od.nd.array([[0.5]]), od.nd.zeros((1, 1)), od.nd.array([[1, 2]])
        >>> marks = od.nd.zeros((1, 2), dtype="int32")
        >>> found, left = od.nd.contrib.hawkesll(rates, one, one, state, lags, marks, one * 2, one * 4)
        >>> found.asnumpy().round(4), left.asnumpy().round(4)
        (array([-4.7291], dtype=float32), array([[0.4177]], dtype=float32))

    Source: HawkesLL, src/operator/contrib/hawkes_ll-inl.h. Differs: the gradient of `out_state` counts;
    `state`, `lags` and `max_time` have one; marks and lengths out of range are errors.
    """

    spec = (
        "lda:(N, K), alpha:(K), beta:(K), state:(N, K), lags:(N, T), marks:int32(N, T), valid_length:(N), "
        "max_time:(N) -> output:(N), out_state:(N, K)"
    )
    accepts = {"lda": "floating"}
    compute_dtype = "float32"
    contract = Contract(
        inputs={
            **dict.fromkeys(("lda", "alpha", "beta", "state"), positive()),
            "lags": positive(0.5),
            "marks": Index("lda", axis=1),
            "valid_length": Index("lags", axis=1, inclusive=True),
            "max_time": Real(4, 6),
        },
        reference=_reference,
        nan_policy="lags behind a sequence's length are padding",
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; there must be a mark for events to have."""
        (lda, *others), outputs, states = super().infer_shape(in_shapes)
        lags = others[3]
        if lda is not None and lda[1] == 0 and lags is not None and lags[1] != 0:
            raise ShapeError(f"{self.name}: lda has shape {lda}, expected at least one mark: axis 1 is 0")
        return [lda, *others], outputs, states

    @staticmethod
    def forward(
        op_ctx: OpContext, lda: Array, alpha: Array, beta: Array, state: Array, lags: Array, marks: Array,
        valid_length: Array, max_time: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Event by event."""
        of = Process(lda, alpha, beta)
        numbers = _checked(marks, valid_length, lda.shape[1])
        steps, end = run(op_ctx.xp, of, state, lags, numbers, valid_length, max_time)
        return likelihood(of, steps, end), end.memory * end.decay

    @staticmethod
    @gradient("lda", "alpha", "beta", "state", "lags", "max_time")
    def gradients(
        op_ctx: OpContext, output_grad: Array, out_state_grad: Array, lda: Array, alpha: Array, beta: Array,
        state: Array, lags: Array, marks: Array, valid_length: Array, max_time: Array,
    ) -> Any:  # fmt: skip
        """The same steps, then back from the last one; see `operad_hawkes.process`."""
        of = Process(lda, alpha, beta)
        numbers = marks.astype(np.intp)
        steps, end = run(op_ctx.xp, of, state, lags, numbers, valid_length, max_time)
        return gradients(op_ctx.xp, of, steps, end, output_grad, out_state_grad, lags.shape)


def _checked(marks: Array, valid_length: Array, count: int) -> Array:
    """The marks as indices.

    Raises:
        IndexOutOfRangeError: A length, or the mark of an event that counts, is out of range.
    """
    length = marks.shape[1]
    if valid_length.size and not bool(((valid_length >= 0) & (valid_length <= length)).all()):
        raise IndexOutOfRangeError(
            f"_contrib_hawkesll: valid_length has elements between {valid_length.min():g} and "
            f"{valid_length.max():g}, expected 0 to {length}, the length of lags"
        )
    counts = np.arange(length, like=valid_length) < valid_length[:, None]
    inside = (marks >= 0) & (marks < count)
    if not bool((inside | ~counts).all()):
        raise IndexOutOfRangeError(
            f"_contrib_hawkesll: marks has elements between {marks.min():g} and {marks.max():g}, expected 0 "
            f"to {count - 1}, the marks of lda"
        )
    return np.where(inside, marks, 0).astype(np.intp)
