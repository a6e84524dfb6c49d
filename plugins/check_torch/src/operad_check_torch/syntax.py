"""PyTorch's words, for the programs that show a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad_check.foreign.programs import Syntax
from operad_check.trials.case import Array

_LEAVES: Final = "[x.requires_grad_() for x in ({arguments},)]"
_SAME: Final = "torch.testing.assert_close({found}, f({arguments}), equal_nan=True)"
_ZEROS: Final = "materialize_grads=True"
_AUTOCAST: Final = "with torch.autocast('cpu', dtype=torch.bfloat16): "


def _same(found: str) -> str:
    return _SAME.replace("{found}", found)


FORMS: Final = {
    "B312": (f"torch.autograd.gradgradcheck(f, {_LEAVES})",),
    "L901": tuple(
        _same(f"torch.compile(f, backend={compiler!r})({{arguments}})")
        for compiler in ("inductor", "aot_eager_decomp_partition")
    ),
    "L902": (f"torch.autograd.gradcheck(f, {_LEAVES}, check_forward_ad=True)",),
    "L903": (_same("torch.func.vmap(f)(*[torch.stack((x, x)) for x in ({arguments},)])[0]"),),
    "L905": (f"{_AUTOCAST}f({{arguments}})", f"{_AUTOCAST}f(*{_LEAVES}).sum().backward()"),
}
"""Lines that may show what the checks of transformations find."""


@final
class TorchSyntax(Syntax):
    """PyTorch's words."""

    head = ("import torch",)
    copy = "{}.clone()"
    views = ("{0}.mT.contiguous().mT", "torch.stack(({0}, {0} + 7), -1)[..., 0]")
    repeats = (
        "{0}[(slice(1),) * {0}.ndim].clone().expand({0}.shape)",
        "{0}[:1].clone().expand({0}.shape)",
        "{0}[..., :1].clone().expand({0}.shape)",
    )
    forms = FORMS

    def array(self, array: Array) -> str:
        """A tensor of these elements."""
        dtype = f"dtype=torch.{array.dtype.name}"
        if array.size == 0:
            return f"torch.zeros({array.shape}, {dtype})"
        if array.size > 1 and len({value.tobytes() for value in array.flat}) == 1:
            return f"torch.full({array.shape}, {array.flat[0].item()!r}, {dtype})"
        return f"torch.tensor({array.tolist()!r}, {dtype})"

    def gradient(self, floating: Sequence[bool]) -> list[str]:
        """`torch.autograd.grad`, with zeros for arguments that the outputs do not depend on."""
        if all(floating):
            leaves = "v := [x.detach().requires_grad_() for x in xs]"
            return [f"grad = lambda *xs, head: torch.autograd.grad(f(*({leaves})), v, head, {_ZEROS})"]
        return [
            "def grad(*xs, head):",
            "    xs = [x.detach().requires_grad_(x.is_floating_point()) for x in xs]",
            "    return [torch.autograd.grad(f(*xs), x, head, " + _ZEROS + ")[0] if x.requires_grad else "
            "torch.zeros_like(x) for x in xs]",
        ]

    def cast(self, name: str, dtype: str) -> str:
        """`to`."""
        return f"{name}.to(torch.{dtype})"

    def close(self, found: str, expected: str, tolerance: str) -> str:
        """`torch.testing.assert_close`."""
        return f"torch.testing.assert_close({found}, {expected}, rtol=0, atol={tolerance}, equal_nan=True)"

    def put(self, name: str, place: tuple[int, ...], value: str) -> str:
        """An assignment."""
        return f"{name}[{place}] = {value}"

    def element(self, name: str, number: int) -> str:
        """The element's number among all, compared."""
        return f"torch.arange({name}.numel()).view_as({name}) == {number}"

    def call(self, function: str, argument: str) -> str:
        """A function of the module."""
        return f"torch.{function}({argument})"
