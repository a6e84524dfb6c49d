"""Products and linear algebra as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]

_NO_FACTORS: Final = "ONNX has no factorization of matrices"


def _turned(node: Any, index: int, is_turned: bool) -> Any:
    rank = len(node.shapes[index])
    return node.swap_last(node.inputs[index], rank) if is_turned else node.inputs[index]


def _product(node: Any) -> Any:
    """MatMul of matrices; alpha times it for gemm2."""
    made = node.add("MatMul", _turned(node, 0, node.op.transpose_a), _turned(node, 1, node.op.transpose_b))
    factor = getattr(node.op, "alpha", 1.0)
    return made if factor == 1 else node.add("Mul", made, node.const(factor))


def _rows_first(node: Any) -> None:
    if getattr(node.op, "axis", -2) not in (-2, len(node.shapes[0]) - 2):
        node.refuse(f"its matrices stand along axis {node.op.axis}, expected -2")


def _gemm2(node: Any) -> Any:
    _rows_first(node)
    return _product(node)


def _gemm(node: Any) -> Any:
    _rows_first(node)
    added = node.inputs[2] if node.op.beta == 1 else node.add("Mul", node.inputs[2], node.const(node.op.beta))
    return node.add("Add", _product(node), added)


def _dot(node: Any) -> Any:
    """The last axis of one with the first of the other."""
    one, other = len(node.shapes[0]), len(node.shapes[1])
    if (one, other) == (1, 1):
        return node.add("Reshape", node.add("MatMul", *node.inputs), node.ints(1))
    left, right = node.inputs
    if node.op.transpose_a:  # the first axis goes to the end
        left = node.add("Transpose", left, perm=(*range(1, one), 0))
    if node.op.transpose_b:  # the last one goes to the front
        right = node.add("Transpose", right, perm=(other - 1, *range(other - 1)))
    if other <= 2:
        return node.add("MatMul", left, right)
    length = node.shapes[1][-1 if node.op.transpose_b else 0]
    return node.reshape(node.add("MatMul", left, node.add("Reshape", right, node.ints(length, -1))))


def _syrk(node: Any) -> Any:
    """`alpha A A^T`."""
    turned = node.swap_last(node.inputs[0], len(node.shapes[0]))
    pair = (turned, node.inputs[0]) if node.op.transpose else (node.inputs[0], turned)
    made = node.add("MatMul", *pair)
    return made if node.op.alpha == 1 else node.add("Mul", made, node.const(node.op.alpha))


def _trmm(node: Any) -> Any:
    """A product with the triangle of A."""
    op = node.op
    triangle = node.add("Trilu", node.inputs[0], upper=int(not op.lower))
    if op.transpose:
        triangle = node.swap_last(triangle, len(node.shapes[0]))
    made = node.add("MatMul", *((node.inputs[1], triangle) if op.rightside else (triangle, node.inputs[1])))
    return made if op.alpha == 1 else node.add("Mul", made, node.const(op.alpha))


def _diagonal_sum(node: Any) -> Any:
    """The sum of the logarithms of a diagonal."""
    size = node.shapes[0][-1]
    rank = len(node.shapes[0])
    ones = node.add("EyeLike", node.add("ConstantOfShape", node.ints(size, size)), dtype=1)
    ones = node.cast(ones, node.dtypes[0])
    logs = node.add(
        "Log", node.reduce("ReduceSum", node.add("Mul", node.inputs[0], ones), [-1], keepdims=False)
    )
    return node.reduce("ReduceSum", logs, [-1], keepdims=rank == 2)


def _khatri_rao(node: Any) -> Any:
    """Columns' Kronecker products, of two matrices at a time."""
    made, columns = node.inputs[0], node.shapes[0][1]
    for other in node.inputs[1:]:
        product = node.add("Mul", node.unsqueeze(made, 1), node.unsqueeze(other, 0))
        made = node.add("Reshape", product, node.ints(-1, columns))
    return made


EXPORTS: Final[Mapping[str, Rule]] = {
    "dot": _dot,
    "batch_dot": _product,
    "_linalg_gemm2": _gemm2,
    "_linalg_gemm": _gemm,
    "_linalg_syrk": _syrk,
    "_linalg_trmm": _trmm,
    "_linalg_sumlogdiag": _diagonal_sum,
    "_linalg_det": lambda node: node.reshape(node.add("Det", node.inputs[0])),
    "khatri_rao": _khatri_rao,
}
ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("_linalg_gelqf", "_linalg_potrf", "_linalg_potri", "_linalg_syevd"), _NO_FACTORS),
    "_linalg_inverse": "ONNX has no inverse of a matrix",
    "_linalg_trsm": "ONNX has no solver of linear equations",
    "_linalg_slogdet": "ONNX has a determinant, and not its logarithm, which keeps what that cannot hold",
}


def _matmul(node: Any) -> Any:
    """Products of matrices, of batches with the same axes in front, and of vectors."""
    one, other = node.sym(0), node.sym(1)
    ranks = node.rank(0), node.rank(1)
    if ranks == (1, 1):
        return node.reshape(node.call("dot", one, other), ())
    if ranks[1] <= 2:
        return node.call("dot", one, other)
    if ranks[0] == 1:
        one = node.call("expand_dims", one, axis=0)
    left, right = _alike(node, one, other)
    dtype = node.dtype()
    wide = dtype if dtype.name in ("float32", "float64") else "float64" if dtype.kind in "iu" else "float32"
    made = node.call("_linalg_gemm2", node.cast(left, wide), node.cast(right, wide))
    made = node.cast(made, dtype)
    return node.call("squeeze", made, axis=-2) if ranks[0] == 1 else made


def _alike(node: Any, one: Any, other: Any) -> tuple[Any, Any]:
    """Both with the same axes in front of the matrices."""
    shapes = [node.lengths_of(symbol) for symbol in (one, other)]
    rank = max(map(len, shapes))
    heads = [(1,) * (rank - len(shape)) + tuple(shape[:-2]) for shape in shapes]
    made = []
    for symbol, shape, own, their in zip((one, other), shapes, heads, heads[::-1], strict=True):
        for _ in range(rank - len(shape)):
            symbol = node.call("expand_dims", symbol, axis=0)
        wanted = tuple(0 if n == m or n != 1 else m for n, m in zip(own, their, strict=True))
        if None in wanted:
            node.refuse("lengths that differ from run to run would be broadcast; give shapes")
        made.append(node.call("broadcast_to", symbol, shape=(*wanted, 0, 0)) if any(wanted) else symbol)
    return made[0], made[1]


def _det(node: Any) -> Any:
    found = node.call("_linalg_det", node.sym())
    return node.reshape(found, ()) if node.rank() == 2 else found


def _einsum(node: Any) -> Any:
    text = node.attr("equation").replace(" ", "")
    inputs, arrow, output = text.partition("->")
    made = node.call("einsum", *node.syms(), subscripts=text)
    once = [one for one in inputs.replace(",", "") if inputs.count(one) == 1 or one == "."]
    kept = output if arrow else once
    return made if kept else node.reshape(made, ())


def _triangle(node: Any) -> Any:
    """The upper or lower triangle; zeros elsewhere."""
    rows, columns = node.whole(node.lengths()[-2:])
    k, make = int(node.scalar(1, 0)), np.triu if node.attr("upper", 1) else np.tril
    mask = node.const(
        make(np.ones((rows, columns)), k).reshape((1,) * (node.rank() - 2) + (rows, columns)), "bool"
    )
    zeros = node.call("zeros_like", node.sym())
    return node.call("where", node.call("broadcast_like", mask, node.sym()), node.sym(), zeros)


IMPORTS: Final[Mapping[str, Rule]] = {
    "MatMul": _matmul,
    "Det": _det,
    "Einsum": _einsum,
    "Trilu": _triangle,
}
