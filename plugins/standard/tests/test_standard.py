"""What the meta-distribution installs is what stands beside it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).parents[2]
OTHERS = {
    "operad-standard", "operad-check-jax", "operad-check-pytest", "operad-check-torch", "operad-export",
    "operad-index", "operad-loops", "operad-onnx",
}  # fmt: skip
"""Itself, ways to other libraries, for those who have these, what extras bring, and a tool for servers."""


def _project(folder: str) -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((PLUGINS / folder / "pyproject.toml").read_text())["project"]
    return declared


def test_it_requires_the_core_and_every_first_party_plugin_in_their_common_range() -> None:
    found = _project("standard")["dependencies"]
    plugins = _in_range("operad", *(name for name in _beside(PLUGINS) if name not in OTHERS))
    assert sorted(found) == sorted([*plugins, *_in_range("operad-sdk[vector]")])


def test_its_extra_fast_brings_loops_and_their_compiler() -> None:
    found = _project("standard")["optional-dependencies"]["fast"]
    assert found == _in_range("operad-loops", "operad-sdk[fast]")


def test_its_extra_all_brings_every_package_of_contrib_ops() -> None:
    found = _project("standard")["optional-dependencies"]["all"]
    assert found == _in_range(*_beside(PLUGINS.parent / "contrib_ops"))


def _beside(folder: Path) -> list[str]:
    names = sorted(path.parent.name for path in folder.glob("*/pyproject.toml"))
    return [f"operad-{name.replace('_', '-')}" for name in names]


def _in_range(*names: str) -> list[str]:
    major, minor = map(int, _project("standard")["version"].split(".")[:2])
    return [f"{name}>={major}.{minor},<{major}.{minor + 1}" for name in names]


def test_it_provides_nothing_itself() -> None:
    assert "entry-points" not in _project("standard")
