from __future__ import annotations

import pytest

from operad.cli.sources import first_line, module_spec, place

SOURCE = '''
import os as system
from json import loads as read
from acme_read.inner.module import Thing as Again
from acme_read.inner.module import circle

class Thing:
    """A thing.

    And more.
    """

def plain():
    pass

name: int = 3
first = second = 4
raise SystemExit("this text is read, not run")
'''


@pytest.fixture
def package(site):
    site.write("acme_read.inner.module", SOURCE)
    site.write("acme_read.__init__", "raise SystemExit('nor is this')")
    return "acme_read.inner.module"


def test_a_module_is_found_without_importing_its_packages(package, site):
    assert module_spec(package).origin == str(site.folder / "acme_read" / "inner" / "module.py")
    assert not site.is_imported("acme_read")


@pytest.mark.parametrize("module", ["acme_read.other", "acme_read.inner.module.deeper", "no_such.thing"])
def test_a_module_that_is_not_there_is_none(package, module):
    assert module_spec(module) is None


def test_the_first_line_of_a_docstring_is_read(package):
    assert first_line(f"{package}:Thing") == "A thing."
    assert first_line(f"{package}:plain") == ""


def test_a_name_imported_from_elsewhere_is_followed(package):
    assert first_line(f"{package}:Again") == "A thing."
    assert first_line(f"{package}:read").startswith("Deserialize")
    with pytest.raises(LookupError, match="imported in a cycle"):
        first_line(f"{package}:circle")


@pytest.mark.parametrize("name", ["system", "name", "first", "second"])
def test_other_definitions_have_no_docstring(package, name):
    assert first_line(f"{package}:{name}") == ""


def test_what_is_not_defined_is_said(package):
    with pytest.raises(LookupError, match="defines no 'absent'"):
        first_line(f"{package}:absent")
    with pytest.raises(LookupError, match="there is no module 'nowhere'"):
        first_line("nowhere:absent")


def test_a_place_is_a_file_and_the_line_of_the_definition(package, site):
    assert place(f"{package}:Thing") == f"{site.folder / 'acme_read' / 'inner' / 'module.py'}:7"
    assert place(f"{package}:Thing.method") == place(f"{package}:Thing")
    assert place("sys:path") is None
    assert place("nowhere:thing") is None
