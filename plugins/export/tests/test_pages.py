"""The examples of the page on exports; skipped where PyTorch or JAX is not installed."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import operad as od

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```(?:python|text)\n(?P<code>>>> .*?)^```$", re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).parents[3]


@pytest.fixture
def types_of_32_bits():
    """Types that JAX has when it starts, whatever another test has turned on."""
    config = pytest.importorskip("jax").config
    before = config.jax_enable_x64
    config.update("jax_enable_x64", False)
    yield
    config.update("jax_enable_x64", before)


@pytest.mark.filterwarnings("ignore")
def test_the_page_prints_what_it_says(types_of_32_bits):
    page = "docs/publish-once.md"
    for needed in ("torch", "operad_normalization"):
        pytest.importorskip(needed)
    if not (ROOT / page).is_file():
        pytest.skip(f"{page} is not here")
    code = "\n".join(found["code"] for found in BLOCK.finditer((ROOT / page).read_text()))
    names = {"__name__": "page"}
    try:
        test = doctest.DocTestParser().get_doctest(code, names, page, page, 0)
        result = doctest.DocTestRunner(optionflags=FLAGS).run(test)
        assert result.attempted > 5
        assert not result.failed
    finally:
        if od.registry.find("soft_sign") is not None:
            od.registry.unregister("soft_sign")
