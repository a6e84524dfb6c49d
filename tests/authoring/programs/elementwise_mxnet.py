"""`x sigmoid(beta x)` as a `CustomOp` of MXNet 1.x."""

import mxnet as mx


class Swish(mx.operator.CustomOp):
    def __init__(self, beta):
        self.beta = beta

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0]
        self.assign(out_data[0], req[0], x * mx.nd.sigmoid(self.beta * x))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        x = in_data[0]
        s = mx.nd.sigmoid(self.beta * x)
        self.assign(in_grad[0], req[0], out_grad[0] * (s + self.beta * x * s * (1 - s)))


@mx.operator.register("acme_swish")
class SwishProp(mx.operator.CustomOpProp):
    def __init__(self, beta="1.0"):
        super().__init__(need_top_grad=True)
        self.beta = float(beta)

    def list_arguments(self):
        return ["data"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Swish(self.beta)


if __name__ == "__main__":
    from tests.authoring.files import differentiated

    differentiated(mx, lambda x: mx.nd.Custom(x, op_type="acme_swish", beta=2.0))
