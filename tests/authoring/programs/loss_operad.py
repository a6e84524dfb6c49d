"""The mean of `log cosh` of each row's errors as an operator of operad."""

import numpy as np

from operad_sdk import OperatorProperty, operator


@operator("AcmeLogCosh")
class AcmeLogCosh(OperatorProperty):
    spec = "data:(N, D), label:(N, D) -> output:(N)"
    accepts = "floating"

    def forward(data, label):
        error = np.abs(data - label)
        return (error + np.log1p(np.exp(-2 * error)) - np.log(2)).mean(1)

    def data_grad(output_grad, data, label):
        return output_grad[:, None] * np.tanh(data - label) / data.shape[1]

    def label_grad(output_grad, data, label):
        return output_grad[:, None] * np.tanh(label - data) / data.shape[1]


if __name__ == "__main__":
    import operad as od
    from tests.authoring.files import differentiated

    od.registry.register(AcmeLogCosh)
    differentiated(od, lambda x, label: od.nd.AcmeLogCosh(x, label), is_loss=True)
