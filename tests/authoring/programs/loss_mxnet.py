"""The mean of `log cosh` of each row's errors as a `CustomOp` of MXNet 1.x."""

import math

import mxnet as mx


class LogCosh(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        error = (in_data[0] - in_data[1]).abs()
        value = error + mx.nd.log1p(mx.nd.exp(-2 * error)) - math.log(2)
        self.assign(out_data[0], req[0], value.mean(axis=1))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        data, label = in_data
        found = out_grad[0].expand_dims(1) * mx.nd.tanh(data - label) / data.shape[1]
        self.assign(in_grad[0], req[0], found)
        self.assign(in_grad[1], req[1], -found)


@mx.operator.register("acme_log_cosh")
class LogCoshProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=True)

    def list_arguments(self):
        return ["data", "label"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        if len(in_shape[0]) != 2 or in_shape[0] != in_shape[1]:
            raise ValueError(f"log_cosh: expected data and label of shape (N, D), got {in_shape}")
        return in_shape, [in_shape[0][:1]], []

    def create_operator(self, ctx, shapes, dtypes):
        return LogCosh()


if __name__ == "__main__":
    from tests.authoring.files import differentiated

    differentiated(mx, lambda x, label: mx.nd.Custom(x, label, op_type="acme_log_cosh"), is_loss=True)
