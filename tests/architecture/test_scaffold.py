"""First-party plugins look like what `operad new` makes, less what the workspace holds in one place."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from operad_check.new import create
from tools.workspace import Distribution, distributions

PLUGINS = [d for d in distributions() if d.is_plugin and not d.is_meta and not d.missing()]
PARTS = {
    "pyproject.toml",
    "README.md",
    "src/{package}/__init__.py",
    "src/{package}/py.typed",
    "tests/test_contract.py",
    "tests/test_examples.py",
}
# One for all plugins, at the root.
IN_THE_WORKSPACE = {"authors", "keywords", "urls", "optional-dependencies", "pytest", "mypy", "ruff"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "operad-example"
    create(folder, ops=[("example", "unary")], author="operad")
    return folder


# What a plugin of operators has on top.
OF_OPERATORS = {"tests/test_contract.py"}


def _by_plugin(function: Any) -> Any:
    return pytest.mark.parametrize("plugin", PLUGINS, ids=lambda d: d.name)(function)


def _kept(table: dict[str, Any]) -> list[str]:
    """The keys of a table, in order, that are not the workspace's."""
    return [key for key in table if key not in IN_THE_WORKSPACE]


def test_the_parts_are_those_of_the_template(made: Path) -> None:
    files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert {part.format(package="operad_example") for part in PARTS} <= files


@pytest.mark.walk
@_by_plugin
def test_a_plugin_has_every_part(plugin: Distribution) -> None:
    missing = [
        name
        for part in PARTS
        if part not in OF_OPERATORS or plugin.entry_points("operad.operators")
        if not (plugin.folder / (name := part.format(package=plugin.package))).is_file()
    ]
    assert missing == []


@pytest.mark.walk
@_by_plugin
def test_a_plugin_declares_itself_in_the_templates_order(plugin: Distribution, made: Path) -> None:
    template = tomllib.loads((made / "pyproject.toml").read_text())
    own = plugin.declared
    assert list(own) == list(template)
    assert own["build-system"] == template["build-system"]
    assert _kept(own["project"]) == _kept(template["project"])
    assert _kept(own["tool"]) == _kept(template["tool"])
    assert own["tool"]["hatch"] == {"build": {"targets": {"wheel": {"packages": [f"src/{plugin.package}"]}}}}


@pytest.mark.walk
@_by_plugin
def test_a_plugin_requires_what_the_template_requires(plugin: Distribution, made: Path) -> None:
    template = tomllib.loads((made / "pyproject.toml").read_text())["project"]["dependencies"]
    own = [Requirement(line) for line in plugin.declared["project"]["dependencies"]]
    wanted = [Requirement(line) for line in template]
    if not plugin.entry_points("operad.operators"):  # which may do without the SDK
        names = [requirement.name for requirement in own]
        wanted = [requirement for requirement in wanted if requirement.name in names]
    found = [(requirement.name, requirement.specifier) for requirement in own]
    assert found[: len(wanted)] == [(requirement.name, requirement.specifier) for requirement in wanted]
