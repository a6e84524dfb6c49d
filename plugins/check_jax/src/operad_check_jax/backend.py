"""JAX: arrays that never change, gradients by `vjp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from operad_check.foreign.backend import Array, Function, Pull, TransformingBackend
from operad_check.foreign.transforms import TRANSFORMATIONS, replaced
from operad_check_jax.syntax import JaxSyntax


@final
class JaxBackend(TransformingBackend):
    """Functions of JAX's arrays on the CPU; turns double precision on for the process."""

    name = "jax"
    imports = {
        "jax": "import jax",
        "jnp": "import jax.numpy as jnp",
        "lax": "from jax import lax",
        "math": "import math",
    }
    skips = frozenset(("B309", "F207", "F211", "M409"))  # arrays have no strides, and do not change
    narrow_types = {"bfloat16": 2.0**-7}
    checks = TRANSFORMATIONS
    syntax = JaxSyntax()

    def __init__(self) -> None:
        jax.config.update("jax_enable_x64", True)  # derivatives are compared in float64

    @property
    def version(self) -> str:
        """JAX's version."""
        return str(jax.__version__)

    def array(self, value: Array, dtype: str = "") -> Any:
        """A copy: what JAX holds must not change with the array."""
        return jnp.array(value, dtype or value.dtype)

    def numpy(self, value: Any) -> Array:
        """The elements; of bfloat16, as float32."""
        is_narrow = getattr(value, "dtype", None) == jnp.bfloat16
        return np.asarray(value.astype(jnp.float32) if is_narrow else value)

    def call(self, function: Function, arrays: Sequence[Any]) -> Any:
        """Call the function, operation by operation."""
        return function(*arrays)

    def vjp(self, function: Function, arrays: Sequence[Any], wanted: Sequence[int]) -> tuple[Any, Pull]:
        """`jax.vjp` of the arguments that count, and of the results that are floating."""
        result: list[Any] = []

        def called(*values: Any) -> tuple[Any, ...]:
            found = function(*replaced(arrays, wanted, values))
            several = tuple(found) if isinstance(found, (tuple, list)) else (found,)
            result[:] = several
            return tuple(each for each in several if _is_floating(each))

        outputs, pull = jax.vjp(called, *[arrays[i] for i in wanted])
        floating = [_is_floating(each) for each in result]

        def pulled(heads: Sequence[Any]) -> list[Any]:
            given = [head for head, is_floating in zip(heads, floating, strict=False) if is_floating]
            zeros = [jnp.zeros_like(each) for each in outputs[len(given) :]]
            return list(pull((*given, *zeros)))

        return outputs, pulled

    def gradient(self, function: Function, wanted: Sequence[int], count: int) -> Function:
        """`vjp` as a function."""

        def gradient(*arrays: Any) -> tuple[Any, ...]:
            return tuple(self.vjp(function, arrays[count:], wanted)[1](arrays[:count]))

        return gradient

    def forget(self) -> None:
        """`jax.clear_caches`: one of them has an entry for each derivative of a `custom_jvp`, up to 8,192."""
        jax.clear_caches()

    def compiled(self, function: Function) -> Function:
        """`jax.jit` of a new function, so that nothing is found that was compiled before."""
        made: Function = jax.jit(lambda *arrays: function(*arrays))
        return made

    def mapped(self, function: Function) -> Function:
        """`jax.vmap`."""
        made: Function = jax.vmap(function)
        return made

    def jvp(self, function: Function, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """`jax.jvp` of the floating arguments."""
        real = [i for i, array in enumerate(arrays) if _is_floating(array)]
        primals, moved = ([each[i] for i in real] for each in (arrays, tangents))
        found: tuple[Any, Any] = jax.jvp(
            lambda *values: function(*replaced(arrays, real, values)), primals, moved
        )
        return found


def _is_floating(value: Any) -> bool:
    return bool(jnp.issubdtype(jnp.result_type(value), jnp.floating))
