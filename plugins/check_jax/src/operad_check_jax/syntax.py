"""JAX's words, for the programs that show a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad_check.foreign.programs import NumpyLike

_X64: Final = 'jax.config.update("jax_enable_x64", True)'
_SAME: Final = "np.testing.assert_allclose({}, f({{arguments}}), rtol=1e-5, atol=1e-5)"


@final
class JaxSyntax(NumpyLike):
    """JAX's words."""

    head = ("import jax", "import jax.numpy as jnp", _X64)
    module = "jnp"
    forms = {
        "L901": (_SAME.format("jax.jit(f)({arguments})"),),
        "L903": (_SAME.format("jax.vmap(f)(*[jnp.stack((x, x)) for x in ({arguments},)])[0]"),),
    }

    def gradient(self, floating: Sequence[bool]) -> list[str]:
        """`jax.vjp`."""
        return ["grad = lambda *xs, head: jax.vjp(f, *xs)[1](head)"]

    def put(self, name: str, place: tuple[int, ...], value: str) -> str:
        """`at`: arrays do not change."""
        return f"{name} = {name}.at[{place}].set({value})"
