"""`mx.contrib.autograd`: gradients as programs of before MXNet 1.0 ask for them.

Source: python/mxnet/contrib/autograd.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from operad import NDArray, autograd
from operad.autograd import backward as _backward
from operad.autograd import mark_variables
from operad.errors import ArgumentError

__all__ = [
    "TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables",
    "set_is_training", "test_section", "train_section",
]  # fmt: skip


def set_is_training(is_train: bool) -> bool:
    """Record, and run in training mode, from now on or no longer; gives whether it was so."""
    before = autograd.set_training(is_train)
    autograd.set_recording(is_train)
    return before


def TrainingStateScope(enter_state: bool) -> AbstractContextManager[None]:  # noqa: N802 - MXNet's name
    """`set_is_training(enter_state)` inside `with`."""
    return autograd.record() if enter_state else autograd.pause()


def train_section() -> AbstractContextManager[None]:
    """Record inside, in training mode."""
    return TrainingStateScope(True)


def test_section() -> AbstractContextManager[None]:
    """Record nothing inside, and run in prediction mode."""
    return TrainingStateScope(False)


def backward(outputs: Sequence[NDArray], out_grads: Any = None, retain_graph: bool = False) -> None:
    """Compute the gradients of what `outputs`, a list, depend on."""
    if not isinstance(outputs, (list, tuple)):
        raise ArgumentError(f"backward: outputs is {type(outputs).__name__}, expected a list of arrays")
    _backward(list(outputs), out_grads, retain_graph)


def compute_gradient(outputs: Sequence[NDArray]) -> None:
    """`backward` of losses."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: int | Sequence[int] | None = None) -> Callable[..., Any]:
    """A function that gives the gradients of `func` by its arguments, and what it returns.

    Args:
        func: A function of arrays.
        argnum: By which arguments; None: by all.
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[NDArray], Any]:
        chosen = [argnum] if isinstance(argnum, int) else range(len(args)) if argnum is None else argnum
        variables = [args[number] for number in chosen]
        for number, x in zip(chosen, variables, strict=True):
            if not isinstance(x, NDArray):
                raise ArgumentError(
                    f"grad_and_loss: argument {number} is {type(x).__name__}, expected an NDArray"
                )
        grads = [x.zeros_like() for x in variables]
        mark_variables(variables, grads)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return grads, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: int | Sequence[int] | None = None) -> Callable[..., Any]:
    """A function that gives the gradients of `func` by its arguments."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args: Any) -> list[NDArray]:
        grads: list[NDArray] = both(*args)[0]
        return grads

    return wrapped
