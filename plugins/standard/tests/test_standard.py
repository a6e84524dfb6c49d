"""What the meta-distribution installs is what stands beside it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).parents[2]


def _project(folder: str) -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((PLUGINS / folder / "pyproject.toml").read_text())["project"]
    return declared


def test_it_requires_the_core_and_every_first_party_plugin_in_their_common_range() -> None:
    folders = sorted(path.parent.name for path in PLUGINS.glob("*/pyproject.toml"))
    expected = [f"operad-{name.replace('_', '-')}" for name in folders if name != "standard"]

    found = _project("standard")["dependencies"]

    major, minor = map(int, _project("standard")["version"].split(".")[:2])
    assert found == [f"{name}>={major}.{minor},<{major}.{minor + 1}" for name in ["operad", *expected]]


def test_it_provides_nothing_itself() -> None:
    assert "entry-points" not in _project("standard")
