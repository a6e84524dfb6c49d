"""What an index says of wheels, which are never imported."""

from __future__ import annotations

import json
import sys

from operad.cli.wheels import REPORT, open_wheel
from operad_index import index_of
from operad_index.contents import indexed

CHECKS = {"operad_check": "0.3.0", "profile": "dev", "passed": ["gated"], "red": {}}


def with_report(wheels, **changed):
    path = wheels.write("acme-gates")
    with open_wheel(path) as wheel:
        report = {"digest": wheel.digest(), "checks": CHECKS} | changed
    return wheels.write("acme-gates", **{REPORT: json.dumps(report)})


def test_metadata_and_entry_points_are_read_and_nothing_is_imported(wheels):
    path = wheels.write(
        "acme-gates",
        "1.5",
        "Summary: Gates.",
        "Keywords: gates,layers",
        "Requires-Python: >=3.11",
        "Requires-Dist: operad>=0.3",
        "Requires-Dist: pytest; extra == 'test'",
        "Requires-Dist: !!!",
        "Project-URL: Bad, javascript:alert(1)",
        "Project-URL: Home, https://example.org/acme",
    )
    plugin = indexed(path)
    assert (plugin.name, plugin.version, plugin.summary) == ("acme-gates", "1.5", "Gates.")
    assert plugin.keywords == ["gates", "layers"]
    assert plugin.requires == ["operad>=0.3"]
    assert plugin.home == "https://example.org/acme"
    assert plugin.provides == {"operad.operators": ["gated"]}
    assert plugin.operators == {"gated": "Gates of a layer."}
    assert "acme_gates" not in sys.modules


def test_the_newest_version_speaks_for_a_distribution(wheels):
    paths = [wheels.write(name, version) for name, version in (("Acme.ops", "1.9"), ("acme-ops", "1.10"))]
    (plugin,) = index_of(paths).plugins
    assert (plugin.version, plugin.versions) == ("1.10", ["1.10", "1.9"])


def test_what_is_no_plugin_is_left_out_and_what_cannot_be_read_is_told(wheels):
    plain = wheels.write("plain", **{"entry_points.txt": "[console_scripts]\na = b:c\n"})
    odd = wheels.write("odd", "one")
    broken = wheels.folder / "broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"PK\x03\x04nothing")
    index = index_of([plain, odd, broken])
    assert index.plugins == []
    assert sorted(index.unreadable) == [broken.name, odd.name]
    assert "its version is 'one'" in index.unreadable[odd.name]


def test_a_report_of_these_contents_counts(wheels):
    plugin = indexed(with_report(wheels))
    assert plugin.checks is not None
    assert (plugin.checks.passed, plugin.note) == (["gated"], "")


def test_a_report_of_other_contents_or_of_another_form_does_not_count(wheels):
    for changed, words in (
        ({"digest": "0" * 64}, "changed after the checks"),
        ({"checks": {"passed": 1}}, "cannot be read"),
        ({"checks": None}, "cannot be read"),
    ):
        plugin = indexed(with_report(wheels, **changed))
        assert plugin.checks is None
        assert words in plugin.note
