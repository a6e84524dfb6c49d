"""The table of who provides what, which the core's hints read, against what the plugins declare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from operad.registry.packages import packages
from tools.package_table import TABLE, table
from tools.workspace import ROOT, Distribution, distributions

PLUGINS = [d for d in distributions() if d.is_plugin and not d.is_meta]


def test_the_table_is_what_the_plugins_declare() -> None:
    assert (ROOT / TABLE).read_text() == table(ROOT), f"{TABLE} is stale; run `make format`"


@pytest.mark.walk
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda d: d.name)
def test_a_hint_names_the_distribution_that_pip_knows(plugin: Distribution) -> None:
    declared = plugin.entry_points("operad.operators")
    promised = {n for n, p in packages("operad.operators").items() if p.distribution == plugin.name}
    assert promised == set(declared)


def test_check_fails_on_a_stale_table_and_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / TABLE
    file.parent.mkdir(parents=True)
    file.write_text("{}\n")
    command = [sys.executable, "-m", "tools.package_table", "--root", str(tmp_path)]

    assert subprocess.run([*command, "--check"], check=False, cwd=ROOT, capture_output=True).returncode == 0
    (tmp_path / "plugins" / "shape").mkdir(parents=True)
    (tmp_path / "plugins" / "shape" / "pyproject.toml").write_text(
        '[project]\nname = "operad-shape"\n'
        '[project.entry-points."operad.operators"]\ntile = "operad_shape:tile"\n'
    )
    assert subprocess.run([*command, "--check"], check=False, cwd=ROOT, capture_output=True).returncode == 1
    assert file.read_text() == "{}\n"
    assert subprocess.run(command, check=False, cwd=ROOT, capture_output=True).returncode == 0
    assert '"plugins/shape": "tile"' in file.read_text()
