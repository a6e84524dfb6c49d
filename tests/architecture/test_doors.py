"""SECURITY.md says of every file and stream how it comes in: through `operad.files`, or why not."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from operad.config import OPTIONS
from operad_files.settings import MAX_ENTRIES, MAX_EXPANDED_BYTES, MAX_FILE_SECONDS
from operad_image.settings import MAX_PIXELS
from tools.workspace import ROOT, distributions

PAGE = ROOT / "SECURITY.md"
DOORS = {ROOT / "core/src/operad/files", ROOT / "plugins/files/src/operad_files"}

CALLS = {
    "open", "fdopen", "read_text", "read_bytes", "load", "loads", "loadtxt", "genfromtxt", "fromfile",
    "memmap", "mmap", "imread", "imdecode", "decode_jpeg", "decode_jpeg_header", "ZipFile",
    "GzipFile", "BZ2File", "LZMAFile", "decompress", "decompressobj", "is_zipfile", "safe_load", "unpickled",
    "run_path", "pread", "read_array", "VideoCapture",
}  # fmt: skip
"""Calls that open, parse or decode, by their last name."""
WRITES = {"write_text", "write_bytes", "tofile", "savez", "savetxt", "imwrite"}
"""Calls that write a file in place, by their last name."""
NAMED = re.compile("|".join(CALLS | WRITES))
OURS = {"nd", "operad", "od", "sym", "files", "cache", "cache_files"}
"""`nd.load`, `operad_files.opened` and `operad.files.cache` are doors themselves."""


def last_name(function: ast.expr) -> str:
    """The last name of a function that is called: `b` of `a.b()`."""
    return str(getattr(function, "attr", getattr(function, "id", "")))


def calls(tree: ast.AST) -> Iterator[str]:
    """The calls in a module that open, parse, decode or write something, as they are written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in CALLS | WRITES:
            parts = ast.unparse(node.func).split(".")
            if parts[0] not in OURS or parts[-1] in WRITES:
                yield ".".join(parts[-2:]) if len(parts) > 1 else parts[0]


@cache
def found() -> frozenset[tuple[str, str]]:
    """Module and call of each in core, SDK and plugins, less the doors themselves."""
    return frozenset(
        (str(file.relative_to(ROOT)), call)
        for distribution in distributions()
        for file in (distribution.folder / "src").rglob("*.py")
        if DOORS.isdisjoint(file.parents) and "templates" not in file.parts
        if NAMED.search(text := file.read_text())
        for call in calls(ast.parse(text))
    )


def listed() -> dict[tuple[str, str], str]:
    """Module and call of each row of the table, with its reason."""
    section = PAGE.read_text().partition("## Opened elsewhere")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+\.py)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {(module, call): why for module, names, why in rows for call in re.findall(r"`([^`]+)`", names)}


def test_the_scan_sees_each_way_to_open_a_file() -> None:
    source = "open(a); Path(b).read_text(); np.load(c); loads(d); cv2.imread(e); nd.load(f); read_bytes(g)"
    assert list(calls(ast.parse(source))) == [
        "open", "Path(b).read_text", "np.load", "loads", "cv2.imread", "read_bytes",
    ]  # fmt: skip


def test_every_call_that_opens_a_file_is_in_the_door_or_listed_with_a_reason() -> None:
    # `read_bytes`, `read_text` and `opened` without anything before them are a door's.
    opening = {(module, call) for module, call in found() if call.rpartition(".")[2] in CALLS}
    there = {(module, call) for module, call in opening if call not in {"read_bytes", "read_text"}}
    assert there - listed().keys() == set(), "not in SECURITY.md, 'Opened elsewhere'; use operad.files"
    assert listed().keys() - there == set(), "in SECURITY.md, and not in the code"
    assert all(len(why) > 10 for why in listed().values())


IN_PLACE = {
    "core/src/operad/cli/group.py": "a formatter of help, which writes no file",
    "operator_sdk/check/src/operad_check/new/add.py": "files of the author's own package",
    "plugins/module/src/operad_module/state_file.py": "an archive in memory",
}


def test_every_file_that_is_written_in_place_has_a_reason() -> None:
    there = {module for module, call in found() if call.rpartition(".")[2] in WRITES}
    assert there - IN_PLACE.keys() == set(), "use operad.files.write_atomically"
    assert IN_PLACE.keys() - there == set(), "is not in the code"


def test_the_table_of_limits_has_every_setting_with_its_default() -> None:
    options = [*OPTIONS, MAX_ENTRIES, MAX_EXPANDED_BYTES, MAX_FILE_SECONDS, MAX_PIXELS]
    limits = {option.variable: option.default for option in options if option.field.startswith("max_")}
    limits = {
        name: limit for name, limit in limits.items() if "PENDING" not in name
    }  # those are the engine's
    section = PAGE.read_text().partition("## Limits")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(OPERAD_\w+)` \| ([^|]+?) \|", section, re.MULTILINE))
    sizes = {"2^": lambda text: 2 ** int(text[2:]), " GiB": lambda text: int(text[:-4]) << 30}
    sizes |= {" MiB": lambda text: int(text[:-4]) << 20}
    assert rows.pop("OPERAD_MAX_FILE_BYTES") == "half of the machine's memory"
    assert (
        limits.pop("OPERAD_MAX_FILE_BYTES")() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    )
    read = {
        name: next((size for mark, size in sizes.items() if mark in text), int)(text)
        for name, text in rows.items()
    }
    assert read == limits


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)#:]+)\)", PAGE.read_text()))
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`(tests/[\w/.]+|[\w/]+/tests/[\w/.]+)`", PAGE.read_text())))
)
def test_tests_that_are_named_are_there(name: str) -> None:
    assert Path(ROOT / name).exists()
