"""No two modules of the core need each other at run time, and none reaches upwards by a name."""

from __future__ import annotations

import pytest

from tests.architecture.imports import Import, circles, core_imports, imports, layers

TYPED_CIRCLES = [
    ["engine.budget", "engine.intra_op", "engine.lock", "engine.operation", "engine.thread", "engine.var"],
    ["engine.completion", "engine.dispatch"],
    ["ndarray.arithmetic", "ndarray.indexing", "ndarray.ndarray", "ndarray.numpy_protocol"],
    ["op.choice", "op.cost", "op.counts", "op.kernel", "op.property"],
    ["storage.handle", "storage.pool", "storage.size_class"],
    ["symbol.arithmetic", "symbol.symbol"],
]
"""Modules whose annotations name each other's types; `operad.` is left out."""

OF_PLUGINS = {"operad.registry.loading", "operad.front.finder"}
"""Modules that import what an entry point names: modules of plugins, which only a run knows."""
OF_CALLERS = {"operad.cli.modules"}
"""Modules of the command line that import what `--module` names."""


def _at_run_time() -> list[Import]:
    return [found for found in core_imports() if not found.is_typed]


def _pairs(found: list[Import]) -> list[tuple[str, str]]:
    return [(one.importer, one.imported) for one in found if one.imported is not None]


def test_no_modules_need_each_other_at_run_time() -> None:
    assert circles(iter(_pairs(_at_run_time()))) == []


def test_circles_of_types_are_known_and_stay_in_one_room() -> None:
    found = [
        [name.removeprefix("operad.") for name in group] for group in circles(iter(_pairs(core_imports())))
    ]
    assert found == TYPED_CIRCLES
    assert all(len({name.partition(".")[0] for name in group}) == 1 for group in found)


def test_names_that_only_a_run_knows_are_those_of_plugins_and_of_the_top() -> None:
    found = {one.importer for one in core_imports() if one.imported is None}
    assert found == {*OF_PLUGINS, *OF_CALLERS, "operad"}
    # It imports its own modules so, and only the command line needs it.
    assert {name.split(".")[1] for name, imported in _pairs(_at_run_time()) if imported == "operad"} == {
        "cli"
    }


def test_what_is_imported_by_name_stands_in_a_lower_layer_or_the_same_room() -> None:
    level = {room: number for number, rooms in enumerate(layers()) for room in rooms}
    for one in core_imports():
        if one.is_by_name and one.imported is not None and one.importer != "operad":
            importer, imported = one.importer.split(".")[1], one.imported.split(".")[1]
            assert importer == imported or level[importer] < level[imported], one


PLANTED = {
    "statement": "from operad.a import x",
    "of-a-module": "from operad import a",
    "in-a-function": "def f():\n    import operad.a",
    "by-name": 'def f():\n    import_module("operad.a")',
    "by-name-of-importlib": 'importlib.import_module("operad.a")',
    "by-dunder-import": '__import__("operad.a")',
}


@pytest.mark.parametrize("text", PLANTED.values(), ids=PLANTED)
def test_every_way_to_import_is_counted(text: str) -> None:
    known = {"operad": 0, "operad.a": 0, "operad.b": 0}
    edges = [*imports("operad.b", text, known), *imports("operad.a", "from operad import b", known)]
    assert circles(iter(_pairs(edges))) == [["operad.a", "operad.b"]]


def test_a_name_made_at_run_time_is_none_that_can_be_counted() -> None:
    (found,) = imports("operad.b", 'import_module(f"operad.{name}")', {"operad.a": 0})
    assert found.imported is None


def test_imports_for_types_are_told_from_others() -> None:
    text = "if TYPE_CHECKING:\n    from operad.a import X\n"
    (found,) = imports("operad.b", text, {"operad.a": 0})
    assert found.is_typed
