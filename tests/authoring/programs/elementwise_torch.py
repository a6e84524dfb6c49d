"""`x sigmoid(beta x)` as a `custom_op` of PyTorch."""

import torch


@torch.library.custom_op("acme::swish", mutates_args=())
def swish(x: torch.Tensor, beta: float = 1.0) -> torch.Tensor:
    return x * torch.sigmoid(beta * x)


@swish.register_fake
def _(x, beta=1.0):
    return torch.empty_like(x)


def save_inputs(ctx, inputs, output):
    x, ctx.beta = inputs
    ctx.save_for_backward(x)


def gradient(ctx, output_grad):
    (x,) = ctx.saved_tensors
    s = torch.sigmoid(ctx.beta * x)
    return output_grad * (s + ctx.beta * x * s * (1 - s)), None


swish.register_autograd(gradient, setup_context=save_inputs)


if __name__ == "__main__":
    from tests.authoring.files import differentiated_tensors

    differentiated_tensors(torch, lambda x: swish(x, 2.0))
