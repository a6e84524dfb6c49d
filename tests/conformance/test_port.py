"""`operad port` over every public name of MXNet 1.9.1, and errors of those that no package has."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import operad as od
from operad_mxnet.port.names import Found, every_name, find
from tests.conformance.figures import LEFT_OUT

MXNET_HAS_IT = "MXNet has it, and no package of operad does: "
FILES = ("ndarray.ndarray.", "symbol.symbol.")
"""Modules of the core, which say themselves what they lack; what MXNet has in them is in `nd` and `sym`."""


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    return {name: find(name) for name in every_name()}


@pytest.mark.more
def test_every_name_is_here_or_absent_and_says_what_to_do(found: dict[str, Found]) -> None:
    assert [name for name, one in found.items() if one.standing not in {"here", "absent"}] == []
    assert [name for name, one in found.items() if (one.standing == "absent") != bool(one.why)] == []


def test_three_of_four_names_outside_of_what_is_left_out_are_here(found: dict[str, Found]) -> None:
    counts = Counter(one.standing for name, one in found.items() if not name.startswith(LEFT_OUT))
    assert counts.total() > 2000
    assert counts["here"] >= 0.72 * counts.total(), counts


def test_the_page_says_how_many_names_are_here(found: dict[str, Found]) -> None:
    everywhere = Counter(one.standing for one in found.values())
    asked = Counter(one.standing for name, one in found.items() if not name.startswith(LEFT_OUT))
    share = round(100 * asked["here"] / asked.total())
    page = " ".join((Path(__file__).parents[2] / "docs" / "porting.md").read_text(encoding="utf-8").split())
    assert (
        f"operad has {everywhere['here']:,} of its {everywhere.total():,} public names, and "
        f"{asked['here']:,} ({share} %) of the {asked.total():,} that do not belong to MXNet's NumPy arrays "
        "or sparse arrays."
    ) in page


def test_every_absent_name_says_at_run_time_that_mxnet_has_it(found: dict[str, Found]) -> None:
    names = {one.name for one in found.values() if one.standing == "absent"}
    silent = [name for name in names if not name.startswith(FILES) and not says(name)]
    assert silent == []


def says(name: str) -> bool:
    """Return whether using a name tells its reason, as an attribute or, of a file's name, as an import."""
    module, _, last = name.rpartition(".")
    try:
        holder = import_module(f"operad.{module}".rstrip("."))
    except ImportError as error:
        return MXNET_HAS_IT in str(error)
    try:
        getattr(holder, last)
    except AttributeError as error:
        return MXNET_HAS_IT in str(error)
    return False


@pytest.mark.parametrize(
    "statement",
    [
        "import operad.npx",
        "from operad import npx",
        "import operad.gluon.contrib.data.text",
        "from operad.gluon.data.dataloader import DataLoaderV1",
        "from operad.contrib import quantization",
        "import operad.contrib.text.vocab",
        "from operad.base import check_call",
        "from operad.nd import sparse",
        "from operad.image import det",
    ],
)
def test_an_import_of_an_absent_name_says_so_too(statement: str) -> None:
    with pytest.raises(ImportError) as caught:
        exec(statement, {})  # noqa: S102 - a statement above
    assert MXNET_HAS_IT in str(caught.value)


def test_methods_that_are_absent_say_so() -> None:
    for use in (lambda: od.sym.var("x").asnumpy(), lambda: od.nd.ones(1).handle):
        with pytest.raises(AttributeError, match=MXNET_HAS_IT):
            use()


def test_an_attribute_that_mxnet_has_not_is_pythons_error() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        getattr(od.base, "nothing")  # noqa: B009 - an attribute that type checkers know to be absent
