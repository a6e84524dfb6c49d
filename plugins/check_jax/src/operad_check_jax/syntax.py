"""JAX's words, for the programs that show a finding."""

from __future__ import annotations

from typing import Final, final

from operad_sdk.check.foreign.programs import NumpyLike
from operad_sdk.check.trials.case import Array

_X64: Final = 'jax.config.update("jax_enable_x64", True)'
_SAME: Final = "np.testing.assert_allclose({}, f({{arguments}}), rtol=1e-5, atol=1e-5)"


@final
class JaxSyntax(NumpyLike):
    """JAX's words."""

    head = ("import jax", "import jax.numpy as jnp", "import numpy as np", _X64)
    module = "jnp"
    forms = {
        "L901": (_SAME.format("jax.jit(f)({arguments})"),),
        "L903": (_SAME.format("jax.vmap(f)(*[jnp.stack((x, x)) for x in ({arguments},)])[0]"),),
    }

    def array(self, array: Array) -> str:
        """JAX's array of NumPy's."""
        return f"jnp.array({super().array(array)})"

    def gradient(self, count: int) -> list[str]:
        """`jax.vjp`."""
        names = ", ".join(f"x{i}" for i in range(count))
        return [f"grad = lambda {names}, head: jax.vjp(f, {names})[1](head)"]

    def put(self, name: str, place: tuple[int, ...], value: str) -> str:
        """`at`: arrays do not change."""
        return f"{name} = {name}.at[{place}].set({value})"
