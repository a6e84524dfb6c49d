from __future__ import annotations

from importlib import metadata

import pytest

from operad import registry
from operad.errors import (
    BlockedPluginError,
    ConfigError,
    DuplicateOperatorError,
    IncompatiblePluginError,
    OperatorNotFoundError,
)


@pytest.fixture
def rivals(site):
    """Two distributions that provide `tanh`; only the second provides `acme_only`."""
    site.install(
        "operad-elemwise",
        "0.2",
        operators={"tanh": "rival_elemwise:tanh"},
        modules={"rival_elemwise": site.properties("tanh")},
    )
    site.install(
        "acme-ops",
        "1.0",
        operators={"tanh": "rival_acme:tanh", "acme_only": "rival_acme:acme_only"},
        modules={"rival_acme": site.properties("tanh", "acme_only")},
    )
    registry.refresh()
    return site


def test_two_providers_of_one_name_are_an_error_that_names_both_and_the_ways_out(rivals):
    with pytest.raises(DuplicateOperatorError) as caught:
        registry.get("tanh")
    assert str(caught.value) == (
        "operator 'tanh' is provided by operad-elemwise 0.2 and acme-ops 1.0; "
        'uninstall one, or set OPERAD_PREFER="operad-elemwise>acme-ops"'
    )
    assert not rivals.is_imported("rival_acme")
    assert not rivals.is_imported("rival_elemwise")


def test_other_operators_of_rivals_work(rivals):
    assert registry.get("acme_only").__module__ == "rival_acme"


def test_the_record_of_a_contested_name_lists_the_rivals(rivals):
    record = registry.find("tanh")
    assert {record.distribution, *(r.partition(" ")[0] for r in record.rivals)} == {
        "acme-ops",
        "operad-elemwise",
    }


def test_prefer_decides(rivals, set_environment):
    set_environment(PREFER="Operad_Elemwise > acme-ops")
    assert registry.get("tanh").__module__ == "rival_elemwise"
    assert registry.find("tanh").rivals == ()


def test_the_wish_that_the_error_suggests_works(rivals, set_environment):
    with pytest.raises(DuplicateOperatorError) as caught:
        registry.get("tanh")
    set_environment(PREFER=str(caught.value).split('"')[1])
    assert registry.get("tanh").__module__ == "rival_elemwise"


def test_prefer_may_rank_more_than_two(rivals, set_environment):
    rivals.install("third", operators={"tanh": "rival_third:tanh"})
    set_environment(PREFER="acme-ops>third>operad-elemwise")
    assert registry.get("tanh").__module__ == "rival_acme"


def test_preferences_in_a_circle_decide_nothing(rivals, set_environment):
    set_environment(PREFER="acme-ops>operad-elemwise,operad-elemwise>acme-ops")
    with pytest.raises(DuplicateOperatorError):
        registry.get("tanh")


def test_preferring_what_is_not_installed_changes_nothing(rivals, set_environment):
    set_environment(PREFER="absent>acme-ops")
    with pytest.raises(DuplicateOperatorError):
        registry.get("tanh")


@pytest.mark.parametrize("wish", ["acme-ops", "acme-ops>", ">acme-ops"])
def test_a_malformed_preference_is_refused(rivals, set_environment, wish):
    set_environment(PREFER=wish)
    with pytest.raises(ConfigError, match="a>b"):
        registry.get("tanh")


def test_blocking_a_rival_decides(rivals, set_environment):
    set_environment(BLOCK="operad_elemwise")
    assert registry.get("tanh").__module__ == "rival_acme"


def test_a_blocked_plugin_is_not_listed_and_its_use_says_why(rivals, set_environment):
    set_environment(BLOCK="acme.ops")
    assert registry.list_operators() == ["tanh"]
    with pytest.raises(
        BlockedPluginError, match=r"'acme_only' is provided by acme-ops 1\.0, but OPERAD_BLOCK"
    ):
        registry.get("acme_only")
    assert not rivals.is_imported("rival_acme")
    assert {p.name: p.state for p in registry.plugins()} == {"acme-ops": "blocked", "operad-elemwise": "ok"}


def test_safe_mode_loads_no_plugin_and_reads_no_metadata(rivals, set_environment, monkeypatch):
    set_environment(SAFE="1")
    monkeypatch.setattr(metadata.Distribution, "read_text", lambda *_: pytest.fail("metadata is read"))
    monkeypatch.setattr(metadata.PathDistribution, "read_text", lambda *_: pytest.fail("metadata is read"))
    monkeypatch.setattr(metadata.MetadataPathFinder, "find_distributions", lambda *_: pytest.fail("searched"))
    assert registry.list_operators() == []
    with pytest.raises(OperatorNotFoundError, match=r"'acme_only'.*OPERAD_SAFE=1 reads no plugin, unset it"):
        registry.get("acme_only")
    assert registry.load_all() == []
    assert not rivals.is_imported("rival_acme")


def install_needing(site, *requires: str) -> None:
    site.install(
        "acme-ops",
        operators={"acme_one": "needy_acme:acme_one"},
        modules={"needy_acme": site.properties("acme_one")},
        requires=requires,
    )
    registry.refresh()


@pytest.mark.parametrize("requirement", ["operad<0.4,>=0.1", "operad (>=0.5)", "Operad>=1"])
def test_a_plugin_for_another_core_is_not_imported(site, requirement):
    install_needing(site, "numpy>=2", requirement)
    with pytest.raises(IncompatiblePluginError):
        registry.get("acme_one")
    assert not site.is_imported("needy_acme")
    (record,) = registry.plugins()
    assert record.state == "incompatible"


def test_the_error_names_the_range_the_core_and_the_pip_line(site):
    install_needing(site, "operad<0.4,>=0.1")
    with pytest.raises(IncompatiblePluginError) as caught:
        registry.get("acme_one")
    assert str(caught.value) == (
        "operator 'acme_one' of acme-ops 1.0 cannot be used: it needs operad<0.4,>=0.1, and operad 0.4.0 is "
        'installed; pip install --upgrade acme-ops, or pip install "operad<0.4,>=0.1"'
    )


@pytest.mark.parametrize("requirement", ["operad<0.4,>=0.1", "operad==0.3.*", "operad~=0.3.1", "operad<=0.3"])
def test_a_plugin_for_an_older_core_is_broken_in_every_entry(site, requirement):
    install_needing(site, requirement)
    (record,) = registry.plugins()
    (broken,) = record.broken
    assert (broken.entry.name, broken.reason) == ("acme_one", record.reason)


@pytest.mark.parametrize("requirement", ["operad>=0.5,<0.6", "operad==0.5.*", "operad~=0.5"])
def test_a_plugin_for_a_newer_core_is_not_meant_for_this_one(site, requirement):
    install_needing(site, requirement)
    (record,) = registry.plugins()
    assert record.state == "incompatible"


@pytest.mark.parametrize(
    "requirement",
    [
        "operad>=0.1,<0.5",
        "operad",
        'operad>=9; extra == "future"',
        'operad>=9; python_version < "3"',
        "operad-sdk>=9",
        "operad.sdk>=9",
    ],
)
def test_a_requirement_that_holds_or_is_not_the_cores_is_no_obstacle(site, requirement):
    install_needing(site, requirement)
    assert registry.get("acme_one").name == "acme_one"


def test_a_requirement_that_cannot_be_read_is_reported(site):
    install_needing(site, "operad >> 3")
    with pytest.raises(IncompatiblePluginError, match="'operad >> 3' cannot be read"):
        registry.get("acme_one")


def test_a_core_that_runs_from_a_source_tree_is_not_compared(site):
    site.uninstall("operad")
    install_needing(site, "operad>=9")
    assert registry.get("acme_one").name == "acme_one"


def test_a_prerelease_of_the_core_counts_as_its_version(site):
    site.uninstall("operad")
    site.install("operad", "0.5.0.dev1")
    install_needing(site, "operad>=0.4,<0.5.1")
    assert registry.get("acme_one").name == "acme_one"
