"""Rows with mean 0 and variance 1 as an operator of operad."""

import numpy as np

from operad_sdk import OperatorProperty, operator, param


@operator("AcmeRowNorm")
class AcmeRowNorm(OperatorProperty):
    eps = param(float, 1e-5, gt=0)
    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data, eps):
        return (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + eps)

    def data_grad(output_grad, data, output, eps):
        mean, along = output_grad.mean(1, keepdims=True), (output_grad * output).mean(1, keepdims=True)
        return (output_grad - mean - output * along) / np.sqrt(data.var(1, keepdims=True) + eps)


if __name__ == "__main__":
    import operad as od
    from tests.authoring.files import differentiated

    od.registry.register(AcmeRowNorm)
    differentiated(od, lambda x: od.nd.AcmeRowNorm(x, eps=0.01))
