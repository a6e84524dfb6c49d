from __future__ import annotations

from collections import Counter

import pytest

from operad.registry.first_party import _ENTRIES, providers


@pytest.mark.parametrize("group", _ENTRIES)
def test_no_name_is_promised_by_two_distributions(group):
    counts = Counter(name for names in _ENTRIES[group].values() for name in set(names.split()))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("_lesser_equal_scalar", "operad-elemwise"),
        ("broadcast_logical_xor", "operad-broadcast"),
        ("linalg_gemm2", "operad-matrix"),
        ("_random_gamma_like", "operad-sampling"),
        ("Convolution", "operad-convolution"),
        ("smooth_l1", "operad-smooth-l1"),
    ],
)
def test_families_of_names_are_written_out(name, distribution):
    assert providers("operad.operators")[name] == distribution


def test_an_unknown_group_has_no_providers():
    assert providers("operad.nothing") == {}
