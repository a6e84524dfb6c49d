from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from operad import registry
from operad_check.testing import example_suite

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]

test_examples = example_suite("operad_elemwise")


@pytest.mark.parametrize("name", PROJECT["entry-points"]["operad.operators"])
def test_every_operator_says_its_shapes(name: str) -> None:
    assert "Shapes:" in (registry.get(name).__doc__ or "")
