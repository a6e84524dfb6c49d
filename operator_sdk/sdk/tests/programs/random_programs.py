"""Random functions of arrays, as an author writes them, on integers so small that no sum is rounded."""

from __future__ import annotations

import numpy as np

LENGTHS = (1, 2, 3, 4, 6, 17, 33)
MOST_ELEMENTS = 4000
LIMIT = 8


def clipped(x):
    """An integer again, and small."""
    return np.clip(x, -LIMIT, LIMIT)


class RandomFunction:
    """A function that does the same steps whenever it is called.

    Args:
        seed: Of every choice. They depend on shapes and types alone, so a traced call makes the same ones.
    """

    def __init__(self, seed):
        self.seed = seed
        rng = np.random.default_rng(seed)
        rank = int(rng.integers(1, 5))
        self.shape = tuple(int(n) for n in rng.choice(LENGTHS, rank))
        while np.prod(self.shape) > MOST_ELEMENTS:
            self.shape = tuple(max(1, n // 2) for n in self.shape)
        self.dtype = np.dtype(rng.choice(["f4", "f4", "f8"]))
        self.shapes = [self.shape, *(self.broadcast(rng) for _ in range(int(rng.integers(0, 3))))]
        self.num_steps = int(rng.integers(3, 16))

    def broadcast(self, rng):
        """A shape that broadcasts to the first."""
        shape = [1 if rng.integers(3) == 0 else n for n in self.shape]
        return tuple(shape[int(rng.integers(0, len(shape) + 1)) :])

    def arrays(self):
        """Arguments."""
        rng = np.random.default_rng(self.seed + 1)
        return [rng.integers(-LIMIT, LIMIT + 1, shape).astype(self.dtype) for shape in self.shapes]

    def __call__(self, *arrays):
        """Up to three results."""
        rng, values = np.random.default_rng(self.seed + 2), list(arrays)
        for _ in range(self.num_steps):
            step = STEPS[int(rng.integers(len(STEPS)))]
            made = step(self, rng, values)
            if made is not None and 0 < made.size <= 4 * MOST_ELEMENTS:
                values.append(made)
        count = int(rng.integers(1, 4))
        return [values[-1], *(values[int(i)] for i in rng.integers(0, len(values), count - 1))]


def any_of(rng, values):
    return values[int(rng.integers(len(values)))]


def elements(function, rng, values):
    x = any_of(rng, values)
    kind = int(rng.integers(10))
    if kind == 0:
        return -x
    if kind == 1:
        return np.abs(x)
    if kind == 2:
        return np.floor(x / 2)
    if kind == 3:
        return np.where(x > 1, x, 2)
    if kind == 4:
        return x.astype(np.float64 if rng.integers(2) else function.dtype)
    if kind == 9:
        return np.round(x, 1)  # which no form has
    others = [one for one in values if fits(one.shape, x.shape)]
    y = any_of(rng, others)
    if kind == 5:
        return clipped(x + y)
    if kind == 6:
        return clipped(x * y)
    return np.maximum(x, y) if kind == 7 else np.where(x < y, x - y, y)


def fits(one, other):
    try:
        np.broadcast_shapes(one, other)
    except ValueError:
        return False
    return True


def reductions(function, rng, values):
    x = any_of(rng, values)
    if not x.ndim:
        return None
    axis = int(rng.integers(x.ndim)) if rng.integers(3) else None
    keepdims = bool(rng.integers(2))
    kind = int(rng.integers(4))
    if kind == 0:
        return clipped(x.sum(axis=axis, keepdims=keepdims))
    if kind == 1:
        return x.max(axis=axis, keepdims=keepdims)
    if kind == 2:
        return np.min(x, axis=axis, keepdims=keepdims)
    return clipped(np.cumsum(x, axis=0 if axis is None else axis))


def centred(function, rng, values):
    x = any_of(rng, values)
    return clipped(x - x.max(axis=-1, keepdims=True)) if x.ndim else None


def views(function, rng, values):
    x = any_of(rng, values)
    kind = int(rng.integers(6))
    if kind == 0:
        return x.reshape(-1)
    if kind == 1:
        return np.transpose(x, rng.permutation(x.ndim).tolist())
    if kind == 2:
        return np.expand_dims(x, int(rng.integers(x.ndim + 1)))
    if not x.ndim:
        return None
    axis = int(rng.integers(x.ndim))
    n = int(x.shape[axis])
    if kind == 3 and n > 1:
        begin = int(rng.integers(n - 1))
        return x[(*[slice(None)] * axis, slice(begin, int(rng.integers(begin + 1, n + 1))))]
    if kind == 4:
        return x[(*[slice(None)] * axis, slice(None, None, -1))]
    return np.broadcast_to(x, (2, *x.shape))


def joins(function, rng, values):
    x = any_of(rng, values)
    if not x.ndim:
        return None
    axis = int(rng.integers(x.ndim))
    if rng.integers(2) and x.shape[axis] % 2 == 0:
        first, second = np.split(x, 2, axis=axis)
        return np.concatenate([second * 2 - first, first], axis=axis)
    return np.concatenate([x, clipped(x + 1), x], axis=axis)


def stores(function, rng, values):
    x = any_of(rng, values)
    if not x.ndim:
        return None
    made = np.zeros_like(x) if rng.integers(2) else x.copy()
    for _ in range(int(rng.integers(1, 4))):
        axis = int(rng.integers(x.ndim))
        n = int(x.shape[axis])
        begin = int(rng.integers(n))
        index = (*[slice(None)] * axis, slice(begin, int(rng.integers(begin, n + 1))))
        if rng.integers(4) == 0 and index[-1].stop > begin:
            values.append(made[index] + 1)  # what was there before is still read
        kind = int(rng.integers(4))
        if kind == 0:
            made[index] = 3
        elif kind == 1:
            made[index] = np.abs(x[index] - 1)
        elif kind == 2:
            made[index] += np.abs(x[index])
        else:  # a place beside the one that is written
            made[index] -= np.abs(np.flip(made, axis)[index])
    if rng.integers(3) == 0:
        made *= 2
        made = clipped(made)
    return made


def loops(function, rng, values):
    """Writes to parts of an array that was just computed, which reads parts of itself."""
    x = any_of(rng, values)
    if not x.ndim or x.shape[0] < 2:
        return None
    made = np.abs(x) + 1 if rng.integers(2) else np.sort(x, axis=0)
    kept = made[:1] if rng.integers(3) == 0 else None
    for i in range(1, min(len(made), 5)):
        if rng.integers(2):
            made[i] += clipped(made[i - 1])
        else:
            made[i] = clipped(made[i - 1] * 2 - x[i])
        if rng.integers(8) == 0:
            values.append(made.copy())
    if kept is not None:
        values.append(kept * 2)
    if rng.integers(4) == 0:
        made[1:] = made[:-1]
    return clipped(made)


def products(function, rng, values):
    x = any_of(rng, values)
    if x.ndim < 2:
        return None
    if rng.integers(2):
        return clipped(x @ np.swapaxes(x, -1, -2))
    return clipped(np.matmul(np.swapaxes(x, -1, -2), np.abs(x)))


def orders(function, rng, values):
    x = any_of(rng, values)
    if not x.ndim:
        return None
    kind = int(rng.integers(3))
    if kind == 0:
        return np.sort(x, axis=-1)
    order = np.argsort(x, axis=-1, kind="stable")
    if kind == 1:
        return np.take_along_axis(x, order[..., :2], axis=-1)
    made = np.zeros_like(x)
    np.put_along_axis(made, order[..., :1], np.take_along_axis(x, order[..., :1], axis=-1) + 1, axis=-1)
    return made


STEPS = (
    elements,
    elements,
    elements,
    elements,
    reductions,
    centred,
    loops,
    views,
    views,
    joins,
    stores,
    products,
    orders,
)
