"""`RNN`: whole networks of recurrent layers over whole sequences, in one operator."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from operad_rnn.arrays import Saved
from operad_rnn.declaration import RecurrentProperty
from operad_rnn.network import Dropped, Network, backward_memory, forward_memory
from operad_rnn.reference import unrolled
from operad_rnn.scratch import Targets
from operad_rnn.ways import reason_against_vectors, vector_cost
from operad_sdk import (
    Array,
    Contract,
    Cost,
    DType,
    InferredTypes,
    Integers,
    OpContext,
    Real,
    ResourceRequest,
    Shape,
    Tolerance,
    as_dtype,
    gradient,
    operator,
)
from operad_sdk.vector import InVectorCode


@operator("RNN")
class RNN(RecurrentProperty):
    """Recurrent layers, one upon another, in one direction or both.

    The data has the time steps first. `parameters` holds all weights and then all biases, as
    `operad_rnn.PackedLayout` lays them out. With D = 2 directions if `bidirectional`, else 1, and R =
    `projection_size`, or `state_size` where there is none:

    Shapes:
        data: (T, N, I), steps, batch and features.
        parameters: As many as `PackedLayout(...).size`.
        state: (num_layers * D, N, R), the hidden states before the first step.
        state_cell: (num_layers * D, N, state_size), of an LSTM alone.
        sequence_length: (N,), with `use_sequence_length`.
        output: (T, N, D * R), the hidden states of the last layer; 0 where a sequence has ended.
        state_output: As state, after the last step, with `state_outputs`.
        statecell_output: As state_cell, likewise, of an LSTM alone.

    Example:
        >>> import operad as od
        >>> data, state = od.nd.array([[[1.0]], [[2.0]]]), od.nd.array([[[0.5]]])
        >>> parameters = od.nd.array([1, -1, 0.5, 0])  # i2h and h2h weights, i2h and h2h biases
        >>> od.nd.RNN(data, parameters, state, mode="rnn_relu", state_size=1, num_layers=1).asnumpy()
        array([[[1. ]],
        <BLANKLINE>
               [[1.5]]], dtype=float32)

    Source: RNNParam and RNNOp, src/operator/rnn-inl.h.
    Differs: sequences that end early and clipped states are computed, which MXNet does on GPUs alone.
    """

    spec = (
        "data:(T, N, I), parameters:(first_rows*I + other_parameters), state:(cells, N, recurrent_size), "
        "state_cell:(cells, N, state_size) if is_lstm, sequence_length:any(N) if use_sequence_length "
        "-> output:(T, N, directions*recurrent_size), "
        "state_output:(cells, N, recurrent_size) if state_outputs, "
        "statecell_output:(cells, N, state_size) if returns_state_cell, "
        "hidden gates:W(cells, T, N, gates_size) if is_gated, "
        "hidden inner:W(cells, T, N, state_size) if is_gated, "
        "hidden between:W(num_layers - 1, T, N, directions*recurrent_size) if num_layers > 1, "
        "hidden mask:uint8(num_layers - 1, T, N, directions*recurrent_size) if drops, "
        "hidden scale:W(1) if drops"
    )
    accepts = {"data": "floating", "sequence_length": "number"}
    compute_dtype = "float32"
    constant_outputs = ("scale",)
    contract = Contract(
        reference=unrolled,
        # Sums of large numbers overflow with both signs; they are anything then, of which a relu makes a
        # number that looks right.
        inputs={
            **dict.fromkeys(("data", "parameters", "state", "state_cell"), Real()),
            "sequence_length": Integers(0, 4),
        },
        params={
            "state_size": (2, 3, 1),
            "num_layers": (2, 1, 3),
            "projection_size": (None, 2, 1),
            "lstm_state_clip_min": (None, -0.5),
            "lstm_state_clip_max": (None, 0.75),
            "mode": ("lstm", "gru", "rnn_tanh", "rnn_relu"),
            "p": (0.0,),
            "lstm_state_clip_nan": (False,),
        },
        narrowed={
            "p": "dropped elements are drawn at random; tests/test_dropout.py has them",
            "lstm_state_clip_nan": "it is there to hide a NaN, which F212 wants to see",
        },
        # As of 1, which is added: exponentials, which would have them all, take half as long again.
        tolerances={
            "float32": Tolerance(2**-17, 2**-17, "sigmoids near 0 have the roundings of 1"),
            "float64": Tolerance(2**-46, 2**-46, "sigmoids near 0 have the roundings of 1"),
        },
    )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Infer types; what forward leaves for backward is float32 for float16: a GRU's products overflow."""
        arguments, outputs, states = super().infer_type(in_types)
        common = arguments[0]
        if common is not None:
            wide = as_dtype("float32") if common == as_dtype("float16") else common
            hidden = self.list_outputs()[self.num_visible_outputs :]
            outputs[self.num_visible_outputs :] = [
                as_dtype("uint8") if name == "mask" else wide for name in hidden
            ]
        return arguments, outputs, states

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory, and random numbers where something may be dropped."""
        return [ResourceRequest.TEMP_SPACE, ResourceRequest.RANDOM] if self.drops else []

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory."""
        return [ResourceRequest.TEMP_SPACE]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Multiplications and additions: each weight is used once for every step of every row."""
        return Cost(flops=2.0 * prod(in_shapes[0][:2]) * prod(in_shapes[1]))

    def _network(
        self, op_ctx: OpContext, sequence_length: Array | None, in_vectors: bool, **arrays: Any
    ) -> Network:
        data = arrays["data"]
        layout, runs = self.layout(data.shape[2]), None
        if sequence_length is not None:  # (steps, rows, 1), whether each row has not ended
            runs = (op_ctx.xp.arange(len(data))[:, None] < sequence_length)[..., None]
        if in_vectors:  # whose products take rows or columns in one piece
            for name in ("data", "parameters", "output", "between"):
                if arrays[name] is not None:
                    arrays[name] = np.ascontiguousarray(arrays[name])
        return Network(
            op_ctx=op_ctx, layout=layout, bounds=self.bounds(), runs=runs, in_vectors=in_vectors, **arrays
        )

    def _go_forward(
        self, op_ctx: OpContext, is_train: bool, data: Array, parameters: Array, state: Array,
        state_cell: Array | None, sequence_length: Array | None, output: Array, state_output: Array | None,
        statecell_output: Array | None, gates: Array | None, inner: Array | None, between: Array | None,
        mask: Array | None, scale: Array | None, in_vectors: bool,
    ) -> None:  # fmt: skip
        """Draw what is dropped, and go through the layers."""
        targets = Targets(op_ctx.xp)
        layout, dropped, memory = self.layout(data.shape[2]), None, None
        if self.drops:
            dropped = Dropped(mask, scale)
            if (generator := op_ctx.requested[1].generator) is not None:
                dropped.draw(generator, self.p if is_train else 0.0)
            size = forward_memory(layout, data.shape)
            memory = op_ctx.requested[0].get_space((size,), data.dtype)
        output, gates, inner, between = map(targets.contiguous, (output, gates, inner, between))
        network = self._network(
            op_ctx, sequence_length, in_vectors, data=data, parameters=parameters,
            initial=(state, state_cell), output=output, saved=Saved(gates, inner), between=between,
            dropped=dropped, memory=memory,
        )  # fmt: skip
        network.forward((state_output, statecell_output))
        targets.write_back()

    forward = partial(_go_forward, in_vectors=False)

    def _go_back(
        self, op_ctx: OpContext, wanted: frozenset[str], data: Array, parameters: Array, state: Array,
        state_cell: Array | None, sequence_length: Array | None, output: Array, gates: Array | None,
        inner: Array | None, between: Array | None, mask: Array | None, scale: Array | None,
        output_grad: Array, state_output_grad: Array | None, statecell_output_grad: Array | None,
        data_grad: Array, parameters_grad: Array, state_grad: Array, state_cell_grad: Array | None,
        in_vectors: bool,
    ) -> None:  # fmt: skip
        """Go through the layers from the last; see the cells for the formulas."""
        targets = Targets(op_ctx.xp)
        layout = self.layout(data.shape[2])
        state_grad, state_cell_grad = map(targets.contiguous, (state_grad, state_cell_grad))
        size = backward_memory(layout, self.drops, data.shape)
        dropped = Dropped(mask, scale) if self.drops else None
        memory = op_ctx.requested[0].get_space((size,), data.dtype)
        network = self._network(
            op_ctx, sequence_length, in_vectors, data=data, parameters=parameters,
            initial=(state, state_cell), output=output, saved=Saved(gates, inner), between=between,
            dropped=dropped, memory=memory,
        )  # fmt: skip
        for grad, head in ((state_grad, state_output_grad), (state_cell_grad, statecell_output_grad)):
            if grad is not None:
                grad[...] = 0 if head is None else head
        network.backward(
            output_grad,
            (state_grad, state_cell_grad),
            targets.contiguous(parameters_grad) if "parameters_grad" in wanted else None,
            targets.contiguous(data_grad) if "data_grad" in wanted else None,
        )
        targets.write_back()

    backward = gradient(partial(_go_back, in_vectors=False))


_GRADIENTS: Final = tuple(f"{name}_grad" for name in ("data", "parameters", "state", "state_cell"))
_WHEN: Final = InVectorCode(reason_against_vectors)
RNN.kernel("forward", name="in_vectors", priority=1, when=_WHEN, cost=vector_cost)(
    partial(RNN._go_forward, in_vectors=True)
)
RNN.kernel(
    *_GRADIENTS, name="gradients_in_vectors", priority=1, when=_WHEN, cost=partial(vector_cost, passes=2)
)(partial(RNN._go_back, in_vectors=True))
