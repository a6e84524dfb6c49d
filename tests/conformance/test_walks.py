"""The page on the architecture names places in the code that exist, and draws the enforced layers."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tools.workspace import ROOT, distributions

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACES = sorted(set(re.findall(r"`([\w/]+\.py):([\w.]+)`", PAGE)))
CORE = ROOT / "core" / "src" / "operad"


def file_of(path: str) -> Path:
    """A file below the core's sources, or below those of the package that its path begins with."""
    package = path.partition("/")[0]
    found = [d.folder / "src" for d in distributions(ROOT) if d.package == package]
    return (found[0] if found else CORE) / path


def defined(source: str) -> set[str]:
    """Functions, classes, methods and variables of a module, methods as `Class.method`."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


@pytest.mark.walk
@pytest.mark.parametrize(("path", "name"), PLACES, ids=[":".join(place) for place in PLACES])
def test_what_a_walk_names_exists(path: str, name: str) -> None:
    assert name in defined(file_of(path).read_text(encoding="utf-8"))


def test_each_of_the_four_walks_names_places() -> None:
    walks = PAGE.partition("## Four walks")[2].partition("\n## ")[0].split("\n### ")[1:]
    assert [walk.partition(":")[0] for walk in walks] == ["A call", "A bind", "A plugin's load", "A pass"]
    assert all(len(re.findall(r"\.py:\w", walk)) >= 6 for walk in walks)


def test_the_drawing_is_the_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [contract["layers"] for contract in settings["contracts"] if contract["id"] == "layers"]
    drawn = PAGE.partition("## Layers of the core")[2].partition("```\n")[2].partition("```")[0]
    rows = [re.split(r"\s{2,}", line)[0] for line in drawn.splitlines() if line]
    assert rows == [row for layer in layers if (row := without_what_is_not_there(layer))]


def without_what_is_not_there(layer: str) -> str:
    """A layer as it is drawn: packages that the contract allows for and the core has not are left out."""
    mark = " : " if " : " in layer else " | "
    names = [name.strip("()") for name in layer.split(mark)]
    there = [name for name in names if (CORE / name).is_dir() or (CORE / f"{name}.py").is_file()]
    return mark.join(name for name in there if name != "__main__")
