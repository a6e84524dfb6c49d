from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from operad import registry

SOURCES = Path(registry.__file__).parents[2]


def run(program: str, site: Path) -> str:
    """Run `program` in a fresh interpreter that sees the core and `site`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(SOURCES)])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def install_two_operators(site) -> None:
    site.install(
        "acme-ops",
        operators={"acme_one": "acme_ops.one:acme_one", "acme_two": "acme_ops.two:acme_two"},
        modules={
            "acme_ops.__init__": "",
            "acme_ops.one": site.properties("acme_one"),
            "acme_ops.two": site.properties("acme_two"),
        },
    )


def test_listing_imports_no_plugin(site):
    install_two_operators(site)
    program = """
import sys
from operad import registry
assert {"acme_one", "acme_two"} <= set(registry.list_operators())
registry.plugins(), registry.find("acme_one")
print(sorted(m for m in sys.modules if m.startswith(("acme", "operad_"))))
"""
    assert run(program, site.folder) == "[]"


def test_one_operator_imports_one_plugin_module(site):
    install_two_operators(site)
    program = """
import sys
from operad import registry
registry.get("acme_one")
print(sorted(m for m in sys.modules if m.startswith(("acme", "operad_"))))
"""
    assert run(program, site.folder) == "['acme_ops', 'acme_ops.one']"


def test_importing_the_registry_reads_no_metadata_and_imports_no_pluggy(site):
    program = """
import sys
from operad import registry
print([m for m in ("importlib.metadata", "packaging", "pluggy") if m in sys.modules])
"""
    assert run(program, site.folder) == "[]"


def test_of_one_distribution_found_twice_the_first_on_the_path_counts(site, tmp_path, monkeypatch):
    later = tmp_path / "later"
    monkeypatch.setattr(sys, "path", [*sys.path, str(later)])
    site.install("acme-ops", "2.0", operators={"acme_one": "acme_new:acme_one"})
    site.install("Acme_Ops", "1.0", operators={"acme_one": "acme_old:acme_one"}, folder=later)
    registry.refresh()
    assert [(p.name, p.version) for p in registry.plugins()] == [("acme-ops", "2.0")]
    assert registry.find("acme_one").value == "acme_new:acme_one"
    assert registry.find("acme_one").rivals == ()


def test_a_first_copy_without_entry_points_hides_a_later_one_with_them(site, tmp_path, monkeypatch):
    later = tmp_path / "later"
    monkeypatch.setattr(sys, "path", [*sys.path, str(later)])
    site.install("acme-ops", "2.0")
    site.install("acme-ops", "1.0", operators={"acme_one": "acme_old:acme_one"}, folder=later)
    registry.refresh()
    assert registry.find("acme_one") is None
    assert registry.plugins() == []


def test_entry_points_of_other_projects_are_none_of_ours(site):
    site.install("other", operators={})
    (site.folder / "other-1.0.dist-info" / "entry_points.txt").write_text("[console_scripts]\nx = y:z\n")
    registry.refresh()
    assert registry.plugins() == []


def test_refresh_sees_what_was_installed_within_one_tick_of_the_clock(site):
    stamp = site.folder.stat()
    assert registry.find("acme_one") is None
    site.install("acme-ops", operators={"acme_one": "acme_ops:acme_one"})
    os.utime(site.folder, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert registry.find("acme_one") is None
    registry.refresh()
    assert registry.find("acme_one").distribution == "acme-ops"
