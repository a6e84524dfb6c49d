"""`x sigmoid(beta x)` as an operator of operad."""

import numpy as np

from operad_sdk import unary


@unary("acme_swish", accepts="floating")
def swish(x, beta=1.0):
    return x / (1 + np.exp(-beta * x))


@swish.gradient
def _(output_grad, x, beta):
    s = 1 / (1 + np.exp(-beta * x))
    return output_grad * (s + beta * x * s * (1 - s))


if __name__ == "__main__":
    import operad as od
    from tests.authoring.files import differentiated

    od.registry.register(swish)
    differentiated(od, lambda x: od.nd.acme_swish(x, beta=2.0))
