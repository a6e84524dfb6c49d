"""Records of plugins."""

from __future__ import annotations

import pytest

from operad.registry import OperatorRecord
from operad.registry.plugins import Distribution, Entry, kind_of, normalized

ACME = Distribution("acme-ops", "1.5")


@pytest.mark.parametrize("spelling", ["Acme_Ops", "acme.ops", "ACME--ops", "acme-_.ops"])
def test_a_distribution_has_one_name_in_all_its_spellings(spelling):
    assert normalized(spelling) == "acme-ops"


@pytest.mark.parametrize(
    ("group", "word"),
    [
        ("operad.operators", "operator"),
        ("operad.passes", "pass"),
        ("operad.kvstores", "kvstore"),
        ("operad.namespaces", "namespace"),
    ],
)
def test_the_word_for_an_entry_fits_its_group(group, word):
    assert kind_of(group) == word
    assert Entry(group, "fusion", "acme:fusion", ACME).title == f"{word} 'fusion'"


def test_a_distribution_is_told_with_its_version():
    assert str(ACME) == "acme-ops 1.5"


def test_a_second_name_of_an_operator_is_an_alias():
    record = OperatorRecord("dense", "Dense", "acme-ops", "1.5", "acme_ops:Dense")
    assert record.is_alias
    assert not record._replace(name="Dense").is_alias
