"""A recurrence whose decay and inputs depend on what is read."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, operator, positive


def _states(data: Array, delta: Array, rate: Array, write: Array) -> tuple[Array, Array]:
    kept = np.exp(delta[..., None] * rate)
    added = (delta * data)[..., None] * write[:, :, None]
    states = np.empty_like(kept)
    state = 0
    for t in range(data.shape[1]):
        state = kept[:, t] * state + added[:, t]
        states[:, t] = state
    return states, kept


def _reference(data: Array, delta: Array, rate: Array, write: Array, read: Array) -> Array:
    output = np.zeros_like(data)
    passed = delta.cumsum(axis=1)
    for t in range(data.shape[1]):  # what is left of what each step up to this one has added
        left = np.exp((passed[:, t, None] - passed[:, : t + 1])[..., None] * rate)
        added = delta[:, : t + 1] * data[:, : t + 1]
        output[:, t] = np.einsum("btd,btdn,btn,bn->bd", added, left, write[:, : t + 1], read[:, t])
    return output


@operator("author_selective_scan")
class SelectiveScan(OperatorProperty):
    """`h_t = exp(delta_t rate) h_(t-1) + delta_t data_t write_t` and `output_t = h_t . read_t`.

    Source: Gu and Dao, Mamba, algorithm 2.
    """

    spec = "data:(B, T, D), delta:(B, T, D), rate:(D, N), write:(B, T, N), read:(B, T, N) -> output:(B, T, D)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(reference=_reference, inputs={"delta": positive(), "rate": Real(-2, 0)})

    def forward(data: Array, delta: Array, rate: Array, write: Array, read: Array) -> Array:
        """The definition."""
        states, _ = _states(data, delta, rate, write)
        return (states * read[:, :, None]).sum(axis=-1)

    def backward(
        output_grad: Array, data: Array, delta: Array, rate: Array, write: Array, read: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """Of all five; `dh_t = g_t read_t + exp(delta_(t+1) rate) dh_(t+1)`, from the last step on."""
        states, kept = _states(data, delta, rate, write)
        slopes = output_grad[..., None] * read[:, :, None]
        for t in reversed(range(data.shape[1] - 1)):
            slopes[:, t] += kept[:, t + 1] * slopes[:, t + 1]
        before = np.zeros_like(states)
        before[:, 1:] = states[:, :-1]
        decay = slopes * before * kept  # by delta_t rate
        added = (slopes * write[:, :, None]).sum(axis=-1)  # by delta_t data_t
        return (
            added * delta,
            added * data + (decay * rate).sum(axis=-1),
            (decay * delta[..., None]).sum(axis=(0, 1)),
            (slopes * (delta * data)[..., None]).sum(axis=2),
            (output_grad[..., None] * states).sum(axis=2),
        )
