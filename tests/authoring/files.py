"""What programs of several libraries do with their operator: read arrays, and write results and gradients."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def load(file: str) -> Iterator[Any]:
    """The two arrays of a file."""
    with np.load(file) as found:
        yield found["arr_0"]
        yield found["arr_1"]


def save(file: str, output: Any, gradient: Any) -> None:
    """Write an output, and the gradient of the first array."""
    np.savez(file, output, gradient)


def differentiated(library: Any, function: Callable[..., Any], *, is_loss: bool = False) -> None:
    """Run a function of `mxnet` or `operad`, of the first array, or of both where it is a loss, and save."""
    x, second = map(library.nd.array, load(sys.argv[1]))
    x.attach_grad()
    with library.autograd.record():
        y = function(x, second) if is_loss else function(x)
    y.backward(*([] if is_loss else [second]))
    save(sys.argv[2], y.asnumpy(), x.grad.asnumpy())


def differentiated_tensors(torch: Any, function: Callable[..., Any], *, is_loss: bool = False) -> None:
    """Run a function of PyTorch, as `differentiated` does."""
    x, second = map(torch.from_numpy, load(sys.argv[1]))
    x.requires_grad_()
    y = function(x, second) if is_loss else function(x)
    y.backward(torch.ones_like(y) if is_loss else second)
    save(sys.argv[2], y.detach().numpy(), x.grad.numpy())
