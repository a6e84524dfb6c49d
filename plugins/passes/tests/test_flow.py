"""The minimum cut, against every choice of values to keep on small random graphs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from operad_passes import minimum_cut


@st.composite
def programs(draw):
    """Sizes, what each value is computed of (only earlier ones) or None, and what is needed."""
    count = draw(st.integers(1, 8))
    sizes = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    sources = [
        draw(st.none() | st.lists(st.integers(0, i - 1), max_size=3)) if i else None for i in range(count)
    ]
    needed = draw(st.sets(st.integers(0, count - 1), min_size=1))
    return sizes, sources, needed


def computed(kept, sources, needed):
    """The values computed again to have all of `needed`; None where that cannot be."""
    again, waiting = set(), [value for value in needed if value not in kept]
    while waiting:
        value = waiting.pop()
        if sources[value] is None:
            return None
        if value not in again:
            again.add(value)
            waiting += [source for source in sources[value] if source not in kept]
    return again


@given(programs())
def test_the_cut_suffices_and_none_is_smaller(program):
    sizes, sources, needed = program
    cut = minimum_cut(needed, sources.__getitem__, sizes.__getitem__)
    anyhow = {value for value, size in enumerate(sizes) if not size}
    again = computed(cut | anyhow, sources, needed)
    assert again is not None
    width = sum(sizes[value] for value in cut)
    choices = [set(some) for n in range(len(sizes) + 1) for some in combinations(range(len(sizes)), n)]
    works = [some for some in choices if computed(some | anyhow, sources, needed) is not None]
    assert width == min(sum(sizes[value] for value in some) for some in works)


def test_of_equal_cuts_the_one_that_computes_least_again_is_taken():
    sources = [None, [0], [1], [2]]
    assert minimum_cut([2, 3], sources.__getitem__, lambda _: 8) == {2}


def test_nothing_is_looked_for_behind_what_is_kept_anyhow():
    asked = []

    def sources_of(value):
        asked.append(value)
        return None if value == 0 else [value - 1]

    assert minimum_cut([9], sources_of, lambda value: 0 if value == 5 else 1) == {5}
    assert min(asked) > 5


def test_what_follows_from_nothing_need_not_be_kept():
    assert minimum_cut([0], lambda _: (), lambda _: 8) == set()
