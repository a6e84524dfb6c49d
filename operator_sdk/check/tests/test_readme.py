from __future__ import annotations

import doctest
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_examples_of_the_readme_give_what_they_show():
    done = doctest.testfile(str(README), module_relative=False)
    assert (done.failed, done.attempted) == (0, 5)
