from __future__ import annotations

from types import SimpleNamespace

import pytest

from operad import registry
from operad.errors import ArgumentError, DuplicateOperatorError, OperatorNotFoundError
from operad.op import OperatorProperty

SIMPLE = """
from operad.op import OperatorProperty
class double(OperatorProperty):
    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []
"""
CARRIER = """
from operad.op import OperatorProperty
class Made(OperatorProperty):
    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []
class Decorated:
    operad_property = Made
carried = Decorated()
"""


@pytest.fixture
def acme(site):
    site.install(
        "acme-ops",
        "1.5",
        operators={
            "Cast": "acme_ops:Cast",
            "cast": "acme_ops:Cast",
            "_sum": "acme_ops:sum_",
            "sum_axis": "acme_ops:sum_",
            "sum": "acme_ops:sum_",
            "_copy": "acme_ops:copying",
            "identity": "acme_ops:copying",
            "double": "acme_simple:double",
            "twice": "acme_simple:double",
            "carried": "acme_carrier:carried",
        },
        modules={
            "acme_ops": site.properties("Cast", "sum_", "copying"),
            "acme_simple": SIMPLE,
            "acme_carrier": CARRIER,
        },
    )
    registry.refresh()
    return site


@pytest.fixture
def here(site):
    """A property class of this process, and a clean registry afterwards."""

    class acme_local(OperatorProperty):  # noqa: N801 - named as operators are
        def infer_shape(self, in_shapes):
            return list(in_shapes), [in_shapes[0]], []

    yield acme_local
    for name in [r.name for r in registry.operators().values() if r.distribution == "this process"]:
        registry.unregister(name)


def test_an_alias_resolves_to_the_same_class(acme):
    assert registry.get("cast") is registry.get("Cast")
    assert registry.get("cast").name == "Cast"


def test_a_simple_operator_becomes_one_property_class_for_good(acme):
    double = registry.get("double")
    assert registry.get("twice") is double
    assert issubclass(double, OperatorProperty)
    registry.refresh()
    assert registry.get("double") is double


def test_an_object_may_carry_its_property_class(acme):
    assert registry.get("carried").name == "Made"


def test_a_record_says_who_provides_an_operator(acme):
    record = registry.find("Cast")
    assert (record.distribution, record.version, record.value) == ("acme-ops", "1.5", "acme_ops:Cast")
    assert not acme.is_imported("acme_ops")


@pytest.mark.parametrize(
    ("name", "canonical"),
    [("cast", "Cast"), ("Cast", "Cast"), ("sum_axis", "sum"), ("_sum", "sum"), ("_copy", "identity")],
)
def test_the_canonical_name_is_read_off_the_entry_points(acme, name, canonical):
    assert registry.find(name).canonical == canonical
    assert registry.find(name).is_alias == (name != canonical)


def test_names_are_listed_sorted_with_or_without_aliases(acme):
    names = registry.list_operators()
    assert names == sorted(names)
    assert {"Cast", "cast", "_copy"} <= set(names)
    assert registry.list_operators(aliases=False) == ["Cast", "carried", "double", "identity", "sum"]


def test_a_name_that_nothing_provides_has_no_record(acme):
    assert registry.find("nothing_like_it") is None


def test_refresh_forgets_what_was_uninstalled(acme):
    registry.get("Cast")
    acme.uninstall("acme-ops")
    assert registry.get("Cast").name == "Cast"
    registry.refresh()
    with pytest.raises(OperatorNotFoundError):
        registry.get("Cast")
    assert registry.list_operators() == []


def test_what_is_registered_is_found_and_survives_refresh(here):
    assert registry.register(here) is here
    registry.refresh()
    assert registry.get("acme_local") is here
    record = registry.find("acme_local")
    assert (record.distribution, record.is_alias) == ("this process", False)


def test_registering_takes_what_an_entry_point_may_name(here):
    carrier = SimpleNamespace(operad_property=here)
    registry.register(carrier)
    registry.register(here, name="acme_second")
    assert registry.get("acme_local") is here
    assert registry.get("acme_second") is here


def test_registering_anything_else_is_refused(here):
    with pytest.raises(ArgumentError, match="expected an OperatorProperty subclass"):
        registry.register(print)


def test_a_taken_name_is_refused(acme, here):
    with pytest.raises(DuplicateOperatorError, match=r"'Cast' exists already.*override=True"):
        registry.register(here, name="Cast")
    registry.register(here)
    with pytest.raises(DuplicateOperatorError):
        registry.register(here)


def test_an_override_stands_in_front_until_it_is_unregistered(acme, here):
    installed = registry.get("Cast")
    registry.register(here, name="Cast", override=True)
    assert registry.get("Cast") is here
    registry.unregister("Cast")
    assert registry.get("Cast") is installed
    assert registry.find("Cast").distribution == "acme-ops"


def test_only_what_was_registered_can_be_unregistered(acme):
    with pytest.raises(OperatorNotFoundError, match="no operator 'Cast' was registered in this process"):
        registry.unregister("Cast")
