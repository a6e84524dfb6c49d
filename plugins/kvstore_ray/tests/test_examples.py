from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_readme_hold() -> None:
    page = str(Path(__file__).parents[1] / "README.md")
    done = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (done.attempted > 0, done.failed) == (True, 0)
