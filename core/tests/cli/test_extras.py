"""Entry points of extras that are not installed are optional, whatever group they stand in."""

from __future__ import annotations

import pytest

from core.tests.registry.conftest import Site
from operad import registry
from operad.cli.doctor.metadata import GROUPS
from operad.cli.doctor.trial import failed_plugins
from operad.cli.extras import lacking_extras, missing_extra, without_optional

LINES = ("nolib>=1; extra == 'quick'", "PyNoYaml; extra == 'files' and python_version > '3'", "not a line [")


@pytest.fixture
def record(site):
    """Makes the record of a plugin whose module begins with a line."""

    def make(source, group="operad.operators", **entries):
        points = {group.removeprefix("operad."): entries or {"x": "aa_needs:x"}}
        modules = {"aa_needs": f"{source}\nx = 1\n", "aa_other": "import operad.nothing\n"}
        site.install("aa-needs", requires=LINES, modules=modules, **points)
        registry.refresh()
        (found,) = registry.load_all()
        return found

    return make


def test_an_entry_point_of_an_extra_is_not_broken_whatever_its_group(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    owners = {f"aa-{group.removeprefix('operad.').replace('_', '-')}": group for group in GROUPS}
    site = Site(tmp_path)
    site.write("aa_needs", "import nolib\n")
    for name, group in owners.items():
        site.install(name, requires=LINES, **{group.removeprefix("operad."): {"x.x": "aa_needs:x"}})
    found = {each.name: each for each in failed_plugins() if each.name in owners}
    assert {name: each.extra for name, each in found.items()} == {name: f"{name}[quick]" for name in owners}
    for each in found.values():
        assert each.reason.startswith("optional, and not installed: ")
        assert each.reason.endswith("'x.x' needs nolib")


@pytest.mark.parametrize(
    ("source", "extra"),
    [
        ("import nolib", "aa-needs[quick]"),
        ("import nolib.deep.er", "aa-needs[quick]"),
        ("import noyaml", "aa-needs[files]"),
        ("import no_such_library", ""),
        ("import operad.nothing", ""),
        ("from operad import nolib", ""),
        ("raise RuntimeError('nolib')", ""),
    ],
)
def test_only_a_missing_module_of_an_extra_counts(record, source, extra):
    found = record(source)
    assert [missing_extra(broken) for broken in found.broken] == [extra]
    assert without_optional(found).state == ("ok" if extra else "broken")


def test_what_is_broken_beside_an_extra_stays_broken(record):
    found = record("import nolib", x="aa_needs:x", y="aa_other:y")
    rest = without_optional(found)
    assert rest.state == "broken"
    assert [broken.entry.name for broken in rest.broken] == ["y"]
    assert "nolib" not in rest.reason
    assert lacking_extras(found) == {
        "aa-needs[quick]": "optional, and not installed: operator 'x' needs nolib"
    }


def test_commands_say_so_and_end_well(record, run):
    record("import nolib")
    done = run("plugins", "--broken")
    assert (done.exit_code, done.stdout) == (0, "none\n")
