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
    import sys

    from tests.authoring.files import load, save

    x, head = map(torch.from_numpy, load(sys.argv[1]))
    y = swish(x.requires_grad_(), 2.0)
    y.backward(head)
    save(sys.argv[2], y.detach().numpy(), x.grad.numpy())
