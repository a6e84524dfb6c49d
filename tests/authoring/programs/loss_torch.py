"""The mean of `log cosh` of each row's errors as a `custom_op` of PyTorch."""

import math

import torch


@torch.library.custom_op("acme::log_cosh", mutates_args=())
def log_cosh(data: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    if data.ndim != 2 or data.shape != label.shape or not data.is_floating_point():
        raise ValueError(
            f"log_cosh: expected data and label of shape (N, D); got {data.shape}, {label.shape}"
        )
    error = torch.abs(data - label)
    return (error + torch.log1p(torch.exp(-2 * error)) - math.log(2)).mean(1)


@log_cosh.register_fake
def _(data, label):
    return data.new_empty(data.shape[0])


def save_inputs(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def gradient(ctx, output_grad):
    data, label = ctx.saved_tensors
    found = output_grad[:, None] * torch.tanh(data - label) / data.shape[1]
    return found, -found


log_cosh.register_autograd(gradient, setup_context=save_inputs)


if __name__ == "__main__":
    from tests.authoring.files import differentiated_tensors

    differentiated_tensors(torch, log_cosh, is_loss=True)
