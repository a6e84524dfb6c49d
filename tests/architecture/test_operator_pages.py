"""The reference of the operators says what they declare."""

from __future__ import annotations

import re

import pytest

from operad import registry
from tools.operator_pages import FOLDER, pages
from tools.workspace import ROOT


@pytest.mark.more
def test_the_pages_are_what_the_operators_declare() -> None:
    there = {path.name: path.read_text() for path in (ROOT / FOLDER).glob("*.md")}
    assert there == pages(ROOT), f"{FOLDER} is stale; run `make format`"


@pytest.mark.more
def test_every_operator_has_an_entry_with_an_example() -> None:
    entries = {}
    for text in pages(ROOT).values():
        for entry in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            entries[entry.partition("\n")[0]] = entry
    found = [registry.get(name) for name in registry.list_operators()]
    assert entries.keys() == {op.name for op in found if not (op.takes_more_params or op.num_subgraphs)}
    assert [name for name, entry in entries.items() if "\n```python\n" not in entry] == []
