"""Modules beside the tests can be imported: none of the fast suite's tests runs all programs."""

from __future__ import annotations

import importlib

from tools.workspace import ROOT

FOLDERS = ("authoring", "benchmarks", "corpus", "devices", "examples", "faults", "platforms")
OF_OTHERS = ("authoring/programs", "benchmarks/libraries", "corpus/of_own")
"""Beginnings of modules that need other libraries."""


def test_modules_of_programs_can_be_imported() -> None:
    tests = ROOT / "tests"
    paths = [path for folder in FOLDERS for path in (tests / folder).rglob("*.py")]
    others = tuple(str(tests / folder) for folder in OF_OTHERS)
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in paths
        if not path.name.startswith("test_") and not str(path).startswith(others)
    ]
    assert len(names) > 50
    for name in names:
        importlib.import_module(name)
