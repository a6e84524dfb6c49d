"""Rows with mean 0 and variance 1 as a `custom_op` of PyTorch."""

import torch


@torch.library.custom_op("acme::row_norm", mutates_args=())
def row_norm(data: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    if data.ndim != 2 or not data.is_floating_point() or eps <= 0:
        raise ValueError(
            f"row_norm: expected floating data of shape (N, D), eps > 0; got {data.shape}, {eps}"
        )
    return (data - data.mean(1, keepdim=True)) / torch.sqrt(data.var(1, correction=0, keepdim=True) + eps)


@row_norm.register_fake
def _(data, eps=1e-5):
    return torch.empty_like(data)


def save_inputs(ctx, inputs, output):
    data, ctx.eps = inputs
    ctx.save_for_backward(data, output)


def gradient(ctx, output_grad):
    data, output = ctx.saved_tensors
    mean, along = output_grad.mean(1, keepdim=True), (output_grad * output).mean(1, keepdim=True)
    variance = data.var(1, correction=0, keepdim=True)
    return (output_grad - mean - output * along) / torch.sqrt(variance + ctx.eps), None


row_norm.register_autograd(gradient, setup_context=save_inputs)


if __name__ == "__main__":
    from tests.authoring.files import differentiated_tensors

    differentiated_tensors(torch, lambda x: row_norm(x, 0.01))
