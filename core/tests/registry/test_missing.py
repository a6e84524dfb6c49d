from __future__ import annotations

import pytest

from operad import registry
from operad.errors import OperatorNotFoundError
from operad.registry import packages


def message(name: str) -> str:
    with pytest.raises(OperatorNotFoundError) as caught:
        registry.get(name)
    return str(caught.value)


@pytest.fixture(autouse=True)
def from_wheels(monkeypatch):
    """As where the core was installed from a wheel; a checkout's hints are paths."""
    monkeypatch.setattr(packages, "checkout", lambda: None)


@pytest.fixture
def acme(site):
    site.install("acme-ops", operators={"acme_blend": "acme_missing:acme_blend"})
    registry.refresh()


def test_a_misspelt_first_party_name_gets_the_name_and_the_pip_line(site):
    assert message("FullyConected") == (
        "no installed plugin provides operator 'FullyConected'; did you mean 'FullyConnected'? "
        "(pip install operad-fully-connected)"
    )


def test_a_first_party_name_that_is_not_installed_gets_the_pip_line(site):
    assert message("FullyConnected") == (
        "no installed plugin provides operator 'FullyConnected'; pip install operad-fully-connected"
    )


ABSENT = """
def absent_text(name):
    return "it is left out" if name == "nd._contrib_quantize" else None


def explain_absence(owner, module):
    module.explained = owner
"""


@pytest.fixture
def reasons(site):
    """A plugin that says why names of MXNet are nowhere."""
    site.install(
        "acme-names",
        attributes={"registry.absent": "absent_acme"},
        namespaces={"acme_face": "face_acme"},
        modules={"absent_acme": ABSENT, "face_acme": ""},
    )
    registry.refresh()


def test_a_name_that_is_left_out_is_said_to_be_with_the_reason(site, reasons):
    assert message("_contrib_quantize") == (
        "no installed plugin provides operator '_contrib_quantize'; it is left out"
    )
    assert "did you mean '_contrib_quantize'? (it is left out)" in message("_CONTRIB_QUANTIZE")


def test_a_plugins_module_is_handed_to_what_says_why_it_lacks_names(reasons):
    assert registry.namespace("acme_face").explained == "acme_face"


def test_without_a_reason_it_is_said_that_mxnet_has_the_name(site):
    assert message("_contrib_quantize").endswith("'; MXNet has it, and no package of operad does")


def test_a_name_of_pytorchs_gets_mxnets(site):
    assert message("ravel") == (
        "no installed plugin provides operator 'ravel'; MXNet's name for it is 'Flatten' (pip install "
        "operad-shape) or 'reshape' (pip install operad-shape)"
    )
    site.install("acme-ops", operators={"concat": "acme_missing:concat"})
    registry.refresh()
    assert message("cat").endswith("; MXNet's name for it is 'concat'")


def test_where_nothing_is_installed_everything_is_offered(site):
    assert message("zzzzqqqq").endswith("; no operator is installed (pip install operad-standard)")


def test_a_misspelt_installed_name_needs_no_pip_line(acme):
    assert message("acme_blnd") == (
        "no installed plugin provides operator 'acme_blnd'; did you mean 'acme_blend'?"
    )


def test_case_alone_never_hides_a_name(acme):
    assert message("ACME_BLEND").endswith("did you mean 'acme_blend'?")
    found = message("_CONTRIB_QUANTIZE")
    assert "did you mean '_contrib_quantize'? (MXNet has it" in found


def test_a_name_like_nothing_gets_what_is_installed(acme):
    assert message("zzzzqqqq") == "no installed plugin provides operator 'zzzzqqqq'; installed: acme_blend"


def test_many_installed_names_are_counted(site):
    site.install("acme-ops", operators={f"many_{i}": "acme_missing:x" for i in range(40)})
    registry.refresh()
    assert message("zzzzqqqq").endswith("; installed: 40 names")


def test_a_missing_operator_is_an_attribute_error(site):
    with pytest.raises(AttributeError):
        registry.get("zzzzqqqq")
