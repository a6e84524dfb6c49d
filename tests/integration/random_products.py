"""Random programs of products, in a process of their own: prints what each array of each program is.

    python -m tests.integration.random_products SEED...

A line of JSON for each seed: names of arrays, each with a digest of its bits, and what was chosen for them.
Names say operator, shapes and way, so that the line of a program that differs names what differs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import operad as od

SIZES = {"least": 14, "most": 26}
"""Logarithms of operations of a product: between what BLAS never divides and what has parts."""
MATRICES = {
    "linalg_potrf": {}, "linalg_potri": {}, "linalg_inverse": {}, "linalg_det": {}, "linalg_gelqf": {},
    "linalg_syrk": {"transpose": (False, True)},
}  # fmt: skip
PRODUCTS = {
    "dot": {"transpose_a": (False, True), "transpose_b": (False, True)},
    "batch_dot": {"transpose_a": (False, True), "transpose_b": (False, True)},
    "linalg_gemm2": {"alpha": (1.0, 0.5), "transpose_b": (False, True)},
    "linalg_gemm": {"beta": (0.0, 0.5)},
    "linalg_trmm": {"rightside": (False, True)},
    "linalg_trsm": {"transpose": (False, True)},
    "FullyConnected": {"no_bias": (False, True)},
    "RNN": {"mode": ("lstm", "gru", "rnn_tanh")},
    "Convolution": {"layout": ("NCHW",)},
    "_contrib_interleaved_matmul_selfatt_qk": {"heads": (1, 4)},
}


class Program:
    """A few operators on arrays of their own, none waited for before all are pushed.

    Attributes:
        choices: Kernels of bound operators.
    """

    def __init__(self, seed: int) -> None:
        self.choices: list[str] = []
        self._rng = np.random.default_rng(seed)
        self._found: list[tuple[str, Any]] = []

    def digests(self) -> dict[str, str]:
        """What each array is in the end."""
        for number in range(int(self._rng.integers(2, 6))):
            self._push(number)
        return {
            name: hashlib.sha256(array.asnumpy().tobytes()).hexdigest()[:16] for name, array in self._found
        }

    def _push(self, number: int) -> None:
        rng = self._rng
        name = str(rng.choice([*MATRICES, *PRODUCTS, "dot", "FullyConnected"]))
        choices = {**MATRICES, **PRODUCTS}[name]
        params = {key: values[int(rng.integers(len(values)))] for key, values in choices.items()}
        shapes = self._shapes(name, params)
        dtype = str(rng.choice(["float32", "float32", "float64"]))
        is_bound, has_gradients = rng.random() < 0.5, rng.random() < 0.6 and name != "linalg_gelqf"
        symbol = getattr(od.sym, name)(*map(od.sym.var, shapes), **params, name="product")
        known = dict(zip(symbol.list_arguments(), symbol.infer_shape(**shapes)[0], strict=True))
        arrays = {
            key: od.nd.array(self._values(name, shape, key), dtype=dtype) for key, shape in known.items()
        }
        about = f"{number} {name} {params} {list(known.values())} {dtype}{' bound' * is_bound}"
        made = (
            self._bound(symbol, arrays, has_gradients)
            if is_bound
            else self._eager(name, arrays, params, has_gradients)
        )
        self._found += [(f"{about} {key}", array) for key, array in made]

    def _bound(self, symbol: Any, arrays: dict[str, Any], has_gradients: bool) -> Iterator[tuple[str, Any]]:
        grads = {key: od.nd.zeros_like(array) for key, array in arrays.items()} if has_gradients else {}
        executor = symbol.bind(
            od.cpu(), arrays, args_grad=grads or None, grad_req="write" if grads else "null"
        )
        self.choices += [f"{row.operator} {row.part}: {row.kernel}" for row in executor.why().rows]
        executor.forward(is_train=has_gradients)
        if has_gradients:
            executor.backward([od.nd.ones_like(output) for output in executor.outputs])
        yield from ((f"output {i}", output) for i, output in enumerate(executor.outputs))
        yield from ((f"gradient of {key}", grad) for key, grad in grads.items())

    def _eager(
        self, name: str, arrays: dict[str, Any], params: dict[str, Any], has_gradients: bool
    ) -> Iterator[tuple[str, Any]]:
        for array in arrays.values():
            array.attach_grad()
        with od.autograd.record(has_gradients):
            outputs = getattr(od.nd, name)(*arrays.values(), **params)
        outputs = outputs if isinstance(outputs, list) else [outputs]
        if has_gradients:
            od.autograd.backward(outputs)
            yield from ((f"gradient of {key}", array.grad) for key, array in arrays.items())
        yield from ((f"output {i}", output) for i, output in enumerate(outputs))

    def _lengths(self, count: int) -> list[int]:
        """Lengths whose product is the number of multiplications; some are 1, one is often long."""
        rng = self._rng
        shares = rng.dirichlet(np.ones(count))
        total = rng.uniform(SIZES["least"], SIZES["most"]) - 1
        lengths = [max(1, round(2 ** (total * share))) for share in shares]
        return [min(length, 4096) for length in lengths]

    def _shapes(self, name: str, params: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Shapes of the arguments from which those of the others follow."""
        rng = self._rng
        if name in MATRICES:
            n = int(rng.integers(2, 200))
            shape = (n, int(rng.integers(n, 400))) if name in ("linalg_gelqf", "linalg_syrk") else (n, n)
            return {"A": (2, *shape) if rng.random() < 0.3 else shape}
        rows, inner, columns = self._lengths(3)
        left = (inner, rows) if params.get("transpose_a") else (rows, inner)
        right = (columns, inner) if params.get("transpose_b") else (inner, columns)
        if name == "batch_dot":
            count = int(rng.integers(1, 5))
            return {"lhs": (count, *left), "rhs": (count, *right)}
        if name in ("linalg_trmm", "linalg_trsm"):
            n = min(inner, 300)
            other = (min(columns, 400), n) if params.get("rightside") else (n, min(columns, 400))
            return {"A": (n, n), "B": other}
        if name == "FullyConnected":
            params["num_hidden"] = columns
            return {"data": (rows, inner)}
        if name == "RNN":
            params |= {"state_size": min(columns, 128), "num_layers": 1}
            return {"data": (3, min(rows, 64), min(inner, 512))}
        if name == "Convolution":
            params |= {"num_filter": min(columns, 64), "kernel": (3, 3), "pad": (1, 1)}
            return {"data": (int(rng.integers(1, 5)), min(inner, 32), 12, 12)}
        if name.startswith("_contrib"):
            return {"queries_keys_values": (min(rows, 200), int(rng.integers(1, 4)), 3 * 4 * min(inner, 32))}
        if name == "linalg_gemm":
            return {"A": left, "B": right, "C": (rows, columns)}
        return {"lhs": left, "rhs": right}

    def _values(self, name: str, shape: tuple[int, ...], key: str) -> Any:
        """Random values, without a product of NumPy's; a matrix is regular and symmetric if it has to be."""
        values = self._rng.standard_normal(shape)
        if (
            key == "A"
            and shape[-1] == shape[-2]
            and name not in ("linalg_gemm", "linalg_gemm2", "linalg_syrk")
        ):
            return values + np.swapaxes(values, -1, -2) + 4 * shape[-1] * np.eye(shape[-1])
        return values


if __name__ == "__main__":
    for text in sys.argv[1:]:
        program = Program(int(text))
        sys.stdout.write(json.dumps({text: [program.digests(), program.choices]}) + "\n")
