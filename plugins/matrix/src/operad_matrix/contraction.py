"""Products of arrays along named axes: sums over letters, as in Einstein's notation.

A contraction has a term of letters for each array, and one for the result. Two arrays at a time are
multiplied as matrices: their axes are letters that the rest has too, letters of one of them alone, and
letters that are summed over. `opt_einsum` finds the path through more than two. Everything is NumPy's
functions, so that gradients, which are contractions too, can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from operad_sdk import Array, Shape, ShapeError, blocked_sum

_Named = tuple[str, Array]
"""The letters of an array's axes, and the array."""


class Contraction(NamedTuple):
    """Letters of each array, and of the result."""

    terms: tuple[str, ...]
    result: str

    def lengths(self, shapes: Sequence[Shape]) -> dict[str, int]:
        """Length of each letter; an array may have length 1 where others have more.

        Raises:
            ShapeError: Two lengths of a letter differ.
        """
        found: dict[str, int] = {}
        for term, shape in zip(self.terms, shapes, strict=True):
            for axis, (letter, length) in enumerate(zip(term, shape, strict=True)):
                known = found.setdefault(letter, length)
                is_diagonal = shape[term.index(letter)] != length
                if is_diagonal or (length != known and 1 not in (length, known)):
                    expected = shape[term.index(letter)] if is_diagonal else known
                    raise ShapeError(
                        f"the arrays have shapes {', '.join(map(str, shapes))}: axis {axis} of {shape} is "
                        f"{length}, expected {expected}, the length of the axis that it is multiplied with"
                    )
                found[letter] = length if known == 1 else known
        return found


@lru_cache(maxsize=1024)
def path(contraction: Contraction, shapes: tuple[Shape, ...]) -> tuple[tuple[tuple[int, ...], ...], float]:
    """Positions of arrays that are multiplied in turn, the result coming last, and the operations of all."""
    if len(shapes) < 3:
        return (tuple(range(len(shapes))),), 2.0 * prod(contraction.lengths(shapes).values())
    from opt_einsum import contract_path  # noqa: PLC0415 - a pair needs no path, and the import takes 60 ms

    text = f"{','.join(contraction.terms)}->{contraction.result}"
    steps, info = contract_path(text, *shapes, shapes=True, optimize="auto")
    return tuple(tuple(step) for step in steps), float(info.opt_cost)


def contract(contraction: Contraction, arrays: Sequence[Array], multiply: Any = np.matmul) -> Array:
    """The contraction of arrays, of which letters that only the result has get length 1.

    Args:
        multiply: The product of matrices in the last two axes.
    """
    shapes = tuple(array.shape for array in arrays)
    lengths = contraction.lengths(shapes)
    waiting = [_plain(*each, lengths) for each in zip(contraction.terms, arrays, strict=True)]
    for step in path(contraction, shapes)[0]:
        taken = [waiting.pop(one) for one in sorted(step, reverse=True)]
        while len(taken) > 1:
            right, left = taken.pop(), taken.pop()
            kept = {*contraction.result}.union(*(term for term, _ in (*waiting, *taken)))
            pair = _summed(left, kept.union(right[0])), _summed(right, kept.union(left[0]))
            taken.append(_pair(*pair, kept, multiply))
        waiting += taken
    term, array = _summed(waiting[0], {*contraction.result})
    array = np.transpose(array, [term.index(letter) for letter in contraction.result if letter in term])
    return array.reshape([lengths[letter] if letter in term else 1 for letter in contraction.result])


def gradient(contraction: Contraction, head: Array, arrays: Sequence[Array], number: int) -> Array:
    """The gradient of one of the arrays: the contraction of that of the result with the others."""
    term, shape = contraction.terms[number], arrays[number].shape
    lengths = contraction.lengths([array.shape for array in arrays])
    others = [one for one in range(len(arrays)) if one != number]
    terms = (contraction.result, *(contraction.terms[one] for one in others))
    # A letter along which the array was repeated is summed over.
    own = [
        letter
        for letter, n in zip(term, shape, strict=True)
        if n == lengths[letter] and letter in "".join(terms)
    ]
    inner = Contraction(terms, "".join(dict.fromkeys(own)))
    whole = head.reshape([lengths[letter] for letter in contraction.result])
    found = contract(inner, [whole, *(arrays[one] for one in others)])
    for axis, letter in enumerate(term):
        first = term.index(letter)
        if first < axis or letter not in own:
            found = np.expand_dims(found, axis)
        if first < axis:  # which was a diagonal
            places = np.arange(shape[axis], like=head)
            across = places.reshape([-1 if one == axis else 1 for one in range(found.ndim)])
            found = np.where(np.swapaxes(across, first, axis) == across, found, 0)
    return np.broadcast_to(found, shape)


def _plain(term: str, array: Array, lengths: Mapping[str, int]) -> _Named:
    """The diagonal where a letter comes twice; no axes of length 1 where others have more."""
    for axis, letter in reversed([*enumerate(term)]):
        first = term.index(letter)
        if first < axis:
            array = np.diagonal(array, 0, first, axis)
            return _plain(term[:first] + term[first + 1 : axis] + term[axis + 1 :] + letter, array, lengths)
        if array.shape[axis] == 1 != lengths[letter]:
            return _plain(term[:axis] + term[axis + 1 :], np.squeeze(array, axis), lengths)
    return term, array


def _summed(named: _Named, kept: set[str]) -> _Named:
    """An array without letters that nothing else has."""
    term, array = named
    alone = [axis for axis, letter in enumerate(term) if letter not in kept]
    return "".join(letter for letter in term if letter in kept), blocked_sum(array, alone) if alone else array


def _pair(left: _Named, right: _Named, kept: set[str], multiply: Any) -> _Named:
    (a, x), (b, y) = left, right
    batch = [letter for letter in a if letter in b and letter in kept]
    summed = [letter for letter in a if letter in b and letter not in kept]
    rows, columns = ([letter for letter in one if letter not in other] for one, other in ((a, b), (b, a)))
    lengths = dict(zip(a, x.shape, strict=True)) | dict(zip(b, y.shape, strict=True))
    before, m, k, n = (prod(lengths[letter] for letter in group) for group in (batch, rows, summed, columns))
    x = np.transpose(x, [a.index(letter) for letter in (*batch, *rows, *summed)]).reshape((before, m, k))
    y = np.transpose(y, [b.index(letter) for letter in (*batch, *summed, *columns)]).reshape((before, k, n))
    if not summed:
        made = x * y
    else:
        made = multiply(x, y) if batch else multiply(x[0], y[0])
    names = [*batch, *rows, *columns]
    return "".join(names), made.reshape([lengths[letter] for letter in names])
