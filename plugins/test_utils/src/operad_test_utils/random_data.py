"""Random arrays and shapes, and simple ones; `np.random.seed` and `random.seed` decide.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad import NDArray, nd
from operad.errors import UnsupportedError
from operad_test_utils.tolerances import default_dtype

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def random_arrays(*shapes: Shape) -> Any:
    """Arrays of NumPy with normal elements: a list, or the one of one shape."""
    made = [np.asarray(np.random.randn(*shape), default_dtype()) for shape in shapes]
    return made[0] if len(made) == 1 else made


def random_uniform_arrays(
    *shapes: Shape, low: float = 0.0, high: float = 1.0, dtype: Any = None
) -> list[Array]:
    """A list of arrays of NumPy with elements between `low` and `high`."""
    return [np.random.uniform(low, high, shape).astype(dtype or default_dtype()) for shape in shapes]


def random_sample(population: Sequence[Any], k: int) -> list[Any]:
    """Elements of a sequence, each at most once, in random order."""
    return random.sample(list(population), k)


def rand_ndarray(
    shape: Shape,
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    modifier_func: Any = None,
    shuffle_csr_indices: bool = False,
    distribution: str | None = None,
    ctx: Any = None,
) -> NDArray:
    """A dense array with normal elements; what is said of sparse ones has no effect.

    Raises:
        UnsupportedError: `stype` is that of a sparse array.
    """
    if stype != "default":
        raise UnsupportedError(f"rand_ndarray: stype is {stype!r}, expected 'default': arrays are dense")
    return nd.array(random_arrays(tuple(shape)), ctx=ctx, dtype=dtype)


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> Shape:
    """A shape of lengths up to those given."""
    return _shape((dim0, dim1), allow_zero_size)


def rand_shape_3d(dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False) -> Shape:
    """A shape of lengths up to those given."""
    return _shape((dim0, dim1, dim2), allow_zero_size)


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> Shape:
    """A shape of `num_dim` lengths up to `dim`."""
    return _shape((dim,) * num_dim, allow_zero_size)


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> tuple[int, int]:
    """A position in a rectangle, whose upper ends are no part of it."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def np_reduce(dat: Array, axis: Any, keepdims: bool, numpy_reduce_func: Callable[..., Any]) -> Any:
    """A reduction of NumPy over one axis, several, or all (None)."""
    axes = None if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return numpy_reduce_func(dat, axis=axes, keepdims=keepdims)


def assign_each(the_input: Array, function: Callable[[Any], Any] | None) -> Array:
    """A function of every element; None: the elements themselves."""
    return _mapped(function, the_input)


def assign_each2(input1: Array, input2: Array, function: Callable[[Any, Any], Any] | None) -> Array:
    """A function of every pair of elements; None: the first elements."""
    return _mapped(function, input1, input2)


def create_vector(size: int, dtype: Any = np.int64) -> NDArray:
    """The numbers from 0."""
    return nd.array(np.arange(size), dtype=dtype)


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """Rows that hold their number."""
    return nd.array(np.repeat(np.arange(rows)[:, None], columns, axis=1), dtype=dtype)


def get_identity_mat(size: int) -> NDArray:
    """The identity matrix."""
    return nd.array(np.eye(size))


def get_identity_mat_batch(size: int) -> NDArray:
    """Two identity matrices."""
    return nd.array(np.stack([np.eye(size)] * 2))


def new_orthonormal_matrix_2d(n: int) -> Array:
    """A matrix whose rows are orthogonal, of length 1."""
    return np.linalg.qr(np.random.randn(n, n))[0]


def new_matrix_with_real_eigvals_2d(n: int) -> Array:
    """A well-conditioned matrix with real eigenvalues between 1 and 10."""
    q = new_orthonormal_matrix_2d(n)
    schur = np.triu(np.random.uniform(-1, 1, (n, n)), 1) + np.diag(np.random.uniform(1, 10, n))
    made: Array = q @ schur @ q.T
    return made


def new_sym_matrix_with_real_eigvals_2d(n: int) -> Array:
    """A symmetric matrix with eigenvalues between 1 and 10."""
    q = new_orthonormal_matrix_2d(n)
    made: Array = (q * np.random.uniform(1, 10, n)) @ q.T
    return (made + made.T) / 2


def new_matrix_with_real_eigvals_nd(shape: Shape) -> Array:
    """Many of `new_matrix_with_real_eigvals_2d`; the last two lengths are those of one."""
    return _many(shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape: Shape) -> Array:
    """Many of `new_sym_matrix_with_real_eigvals_2d`, likewise."""
    return _many(shape, new_sym_matrix_with_real_eigvals_2d)


def _shape(most: Shape, allow_zero_size: bool) -> Shape:
    return tuple(int(np.random.randint(0 if allow_zero_size else 1, length + 1)) for length in most)


def _mapped(function: Callable[..., Any] | None, *inputs: Array) -> Array:
    if function is None:
        return np.array(inputs[0])
    values = [function(*each) for each in zip(*(each.ravel() for each in inputs), strict=True)]
    return np.asarray(values, inputs[0].dtype).reshape(inputs[0].shape)


def _many(shape: Shape, make: Callable[[int], Array]) -> Array:
    count = int(np.prod(shape[:-2]))
    return np.stack([make(shape[-1]) for _ in range(count)]).reshape(shape)
