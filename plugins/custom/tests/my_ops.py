"""A program's operators, for the tests of the command: one is right, one has a wrong gradient."""

import operad as mx


class Scale(mx.operator.CustomOp):
    def __init__(self, scale, slope):
        self.scale, self.slope = scale, slope

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self.scale)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.slope)


@mx.operator.register("my_scale")
class ScaleProp(mx.operator.CustomOpProp):
    def __init__(self, scale):
        super().__init__()
        self.scale = float(scale)

    def create_operator(self, ctx, shapes, dtypes):
        return Scale(self.scale, self.scale)


@mx.operator.register("my_wrong_scale")
class WrongScaleProp(ScaleProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Scale(self.scale, self.scale + 1)
