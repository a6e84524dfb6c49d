"""Faults of how an operator may be called: again, with other requests, in other ways, in predictions."""

from __future__ import annotations

import numpy as np

from operad.operator import ArgumentSlot, CallTemplate, Operator, assign
from operad_sdk import operator
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.long_form import AlikeProperty, Copying, FloatingProperty


@operator("zoo_noisy")
class Noisy(Floating):
    """The data and noise that no seed governs."""

    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """Their sum."""
        return data + np.random.default_rng().normal(size=data.shape)


@operator("zoo_counting")
class Counting(Floating):
    """A multiple that depends on how often it was computed."""

    spec = "data:(*S) -> output:(*S)"
    calls = 0

    def forward(self, data):
        """More each time."""
        type(self).calls += 1
        return data * type(self).calls


class Remembering(AlikeProperty, FloatingProperty):
    """The difference from what came before."""

    name = "zoo_remembering"

    def create_operator(self, ctx, in_shapes, in_types):
        return _Remembering()


class _Remembering(Copying):
    before = 0

    def forward(self, op_ctx, arrays):
        super().forward(op_ctx, arrays._replace(in_data=[arrays.in_data[0] - self.before]))
        self.before = arrays.in_data[0].copy()


class AlwaysWrites(AlikeProperty):
    """The data, written also where it is to be added."""

    name = "zoo_always_writes"

    def create_operator(self, ctx, in_shapes, in_types):
        return _AlwaysWrites()


class _AlwaysWrites(Operator):
    def forward(self, op_ctx, arrays):
        if arrays.out_data[0] is not None:
            arrays.out_data[0][...] = arrays.in_data[0]


class HalfWrites(AlikeProperty):
    """The data, added in single and double precision alone."""

    name = "zoo_half_writes"

    def create_operator(self, ctx, in_shapes, in_types):
        return _HalfWrites()


class _HalfWrites(Operator):
    def forward(self, op_ctx, arrays):
        if arrays.in_data[0].dtype == np.float16 and arrays.out_data[0] is not None:
            arrays.out_data[0][...] = arrays.in_data[0]
        else:
            assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0])


class Quotient(FloatingProperty):
    """Quotient and remainder; the second is written whatever its request."""

    name = "zoo_quotient"
    has_gradient = False

    def list_outputs(self):
        return ["quotient", "remainder"]

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 2, []

    def create_operator(self, ctx, in_shapes, in_types):
        return _Quotient()


class _Quotient(Operator):
    def forward(self, op_ctx, arrays):
        quotient = np.floor(arrays.in_data[0] / 2)
        assign(arrays.out_data[0], arrays.req[0], quotient)
        if arrays.out_data[1] is not None:
            arrays.out_data[1][...] = arrays.in_data[0] - 2 * quotient


class Direct(AlikeProperty):
    """An exponential function, with a fast way to call it that is another one."""

    name = "zoo_direct"

    def create_operator(self, ctx, in_shapes, in_types):
        return _Direct()


class _Direct(Copying):
    @staticmethod
    def direct(data, out):
        out[...] = 1 + data + data * data / 2

    def forward(self, op_ctx, arrays):
        data = arrays.in_data[0]
        super().forward(op_ctx, arrays._replace(in_data=[np.exp(data).astype(data.dtype)]))


class OtherTemplate(Direct):
    """A square, of which the templates take the absolute value for graphs."""

    name = "zoo_other_template"

    def create_operator(self, ctx, in_shapes, in_types):
        return _OtherTemplate()


class _OtherTemplate(Copying):
    def forward_templates(self, op_ctx, req, num_inputs, num_states):
        if int(req[0]) == 3:
            return super().forward_templates(op_ctx, req, num_inputs, num_states)
        return [CallTemplate(np.absolute, (ArgumentSlot(0), ArgumentSlot(1)))]

    def forward(self, op_ctx, arrays):
        super().forward(op_ctx, arrays._replace(in_data=[arrays.in_data[0] * arrays.in_data[0]]))


@operator("zoo_moving_mean")
class MovingMean(Floating):
    """Data less a moving mean, which moves in predictions too."""

    spec = "data:(N, D); aux moving_mean:(D) -> output:(N, D)"

    def forward(data, moving_mean, output):
        """The update comes after."""
        output[...] = data - moving_mean
        moving_mean += 0.5 * (data.sum(axis=0) - moving_mean)


@operator("zoo_prediction_counter")
class PredictionCounter(Floating):
    """The data; a state counts predictions."""

    spec = "data:(*S); aux count:(1) -> output:(*S)"

    def forward(data, count, is_train):
        """The mode is the wrong way round."""
        if not is_train:
            count += 1
        return data


_UNREPEATABLE = "F209 M405 M407 R501 R502 R503 X804"

ZOO = without_gradients(
    [
        Fault(_UNREPEATABLE, Noisy, "a generator of its own, without a seed"),
        Fault(_UNREPEATABLE, Counting, "the class counts calls"),
        Fault(_UNREPEATABLE, Remembering, "the operator remembers the last call"),
        Fault("F214", AlwaysWrites, "ADD is ignored"),
        Fault("F214", HalfWrites, "ADD is ignored in half precision"),
        Fault("F214", Quotient, "the second output ignores its request"),
        Fault("F215 R503", Direct, "the direct call is an approximation"),
        Fault("F215 R503", OtherTemplate, "the templates compute something else"),
        Fault("F216", MovingMean, "a moving mean moves in predictions"),
        Fault("F216", PredictionCounter, "a counter counts predictions"),
    ]
)
