from __future__ import annotations

import doctest
from pathlib import Path


def test_examples_of_the_readme_hold() -> None:
    done = doctest.testfile(str(Path(__file__).parents[1] / "README.md"), module_relative=False)
    assert (done.attempted > 0, done.failed) == (True, 0)
