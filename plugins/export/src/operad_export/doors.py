"""Functions that users call; PyTorch and JAX are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from operad.errors import UnsupportedError


def torch(name: str, **params: Any) -> Any:
    """An operator as a function of PyTorch's tensors.

    The function is `torch.ops.operad.<name>` with these parameters given: a custom operator with autograd,
    fake evaluation and states as mutated arguments. Its tensors come by position in the order of a call of
    `od.nd.<name>`; None stands for one that is absent. By name it takes the parameters once more, `is_train`,
    and where the operator draws random numbers a `seed`, or a `generator` that gives one.

    Args:
        name: The operator, such as `"LRN"`.
        params: Parameters of the operator, as of `od.nd.<name>`.
    Raises:
        OperatorNotFoundError: No installed plugin provides it.
        ParamError: A parameter is unknown or does not fit.
        UnsupportedError: PyTorch is not installed, or the operator keeps something from call to call.
    """
    return _exporter("torch").function(name, params)


def register_torch(names: Iterable[str]) -> list[str]:
    """Register operators as `torch.ops.operad.<name>`; returns the names. Raises as `torch` does."""
    exporter = _exporter("torch")
    return [exporter.registered(name).name for name in names]


def jax(name: str, **params: Any) -> Any:
    """An operator as a function of JAX's arrays.

    The function has a gradient (`jax.custom_vjp`) and works under `jit`, `grad` and `vmap`. It takes the
    arrays by position in the order of a call of `od.nd.<name>`, None for one that is absent, and by name
    the parameters once more, `is_train`, and `key` where the operator draws random numbers. It gives the
    output, or a tuple; an operator with states gives that and a tuple of the new states.

    Args:
        name: The operator, such as `"LRN"`.
        params: Parameters of the operator, as of `od.nd.<name>`.
    Raises:
        OperatorNotFoundError: No installed plugin provides it.
        ParamError: A parameter is unknown or does not fit.
        UnsupportedError: JAX is not installed, the operator keeps something from call to call, or shapes of
            its outputs depend on values.
    """
    return _exporter("jax").function(name, params)


def register_jax(names: Iterable[str]) -> dict[str, Any]:
    """Functions of operators for JAX, by the operators' names. Raises as `jax` does."""
    exporter = _exporter("jax")
    return {name: exporter.function(name, {}) for name in names}


def _exporter(framework: str) -> Any:
    module = f"operad_export.{framework}_operators"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("torch", "jax", "jaxlib"):
            raise
        raise UnsupportedError(
            f"operad.export.{framework} needs {error.name}, which is not installed: "
            f"pip install operad-export[{framework}]"
        ) from error
