"""Record PyTorch's second derivatives of `recorded/second_derivatives.py`; see docs/conformance.md.

    python tests/conformance/record_second_derivatives.py

runs under the Python of an environment that has PyTorch.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.recorded.second_derivatives import CASES, RECORD, Case, values


def main() -> None:
    """Record every case."""
    lines = (f"{json.dumps(name)}: {json.dumps(second_derivatives(case))}" for name, case in CASES.items())
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def second_derivatives(case: Case) -> dict[str, list[float]]:
    """The gradients of a weighted sum of the gradients of a weighted sum of the output."""
    arrays = {
        name: torch.tensor(values(shape, number), requires_grad=True)
        for number, (name, shape) in enumerate(case.arrays.items())
    }
    constants = {name: torch.tensor(array, dtype=torch.float64) for name, array in case.constants.items()}
    known = {"torch": torch, "f": torch.nn.functional, "tent": tent, "lstm": lstm, **arrays, **constants}
    output = eval(case.peer, known)  # noqa: S307 - an expression of ours
    wanted = list(arrays.values())
    gradients = torch.autograd.grad(weighted(output, 50), wanted, create_graph=True)
    total = sum(weighted(gradient, 60 + number) for number, gradient in enumerate(gradients))
    found = torch.autograd.grad(total, wanted, materialize_grads=True)
    return {name: gradient.ravel().tolist() for name, gradient in zip(arrays, found, strict=True)}


def weighted(array: Any, number: int) -> Any:
    """Sum of an array's elements, each with a weight."""
    return (array * torch.tensor(values(tuple(array.shape), number))).sum()


def tent(position: Any, length: int) -> Any:
    """Weights of an axis's pixels for a position from -1 to 1; PyTorch's sampler has no second derivative."""
    pixel = (position[..., None] + 1) * (length - 1) / 2
    return torch.relu(1 - (pixel - torch.arange(length)).abs())


def lstm(data: Any, parameters: Any, state: Any, cell: Any) -> Any:
    """A layer of PyTorch with the weights and biases that lie one behind another."""
    sizes = [(8, 2), (8, 2), (8,), (8,)]
    parts = parameters.split([torch.Size(size).numel() for size in sizes])
    weights = [part.reshape(size) for part, size in zip(parts, sizes, strict=True)]
    return torch._VF.lstm(data, (state, cell), weights, True, 1, 0.0, True, False, False)[0]


if __name__ == "__main__":
    main()
