"""Rows with mean 0 and variance 1 as a `CustomOp` of MXNet 1.x."""

import mxnet as mx


class RowNorm(mx.operator.CustomOp):
    def __init__(self, eps):
        self.eps = eps

    def scale(self, data):
        centred = data - data.mean(axis=1, keepdims=True)
        return centred, (centred.square().mean(axis=1, keepdims=True) + self.eps).sqrt()

    def forward(self, is_train, req, in_data, out_data, aux):
        centred, scale = self.scale(in_data[0])
        self.assign(out_data[0], req[0], centred / scale)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        head, output = out_grad[0], out_data[0]
        mean, along = head.mean(axis=1, keepdims=True), (head * output).mean(axis=1, keepdims=True)
        self.assign(in_grad[0], req[0], (head - mean - output * along) / self.scale(in_data[0])[1])


@mx.operator.register("acme_row_norm")
class RowNormProp(mx.operator.CustomOpProp):
    def __init__(self, eps="1e-5"):
        super().__init__(need_top_grad=True)
        self.eps = float(eps)
        if self.eps <= 0:
            raise ValueError(f"row_norm: eps is {eps}, expected more than 0")

    def list_arguments(self):
        return ["data"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        if len(in_shape[0]) != 2:
            raise ValueError(f"row_norm: data has shape {in_shape[0]}, expected (N, D)")
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return RowNorm(self.eps)


if __name__ == "__main__":
    from tests.authoring.files import differentiated

    differentiated(mx, lambda x: mx.nd.Custom(x, op_type="acme_row_norm", eps=0.01))
