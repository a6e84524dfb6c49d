from __future__ import annotations

import importlib.util
import sys

import pytest

from operad import registry
from operad.errors import ArgumentError
from operad_check import check_operator
from operad_check.running.example import write_example
from operad_check.trials.subject import subject_of
from operad_sdk import unary

SOURCE = '''
from operad_sdk import unary


@unary("example_twice", accepts="floating")
def twice(x):
    """Two times every element.

    Shapes:
        data: (...).
    """
    return 2 * x
'''


@pytest.fixture
def load(tmp_path):
    """Imports the source again, and has its operator registered."""
    path = tmp_path / "example_twice.py"
    path.write_text(SOURCE)

    def loaded():
        spec = importlib.util.spec_from_file_location("example_twice", path)
        sys.modules["example_twice"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        registry.register(module.twice, "example_twice")
        return module.twice

    yield loaded
    registry.unregister("example_twice")
    del sys.modules["example_twice"]


def test_the_example_that_is_written_passes_as_a_doctest(load):
    assert check_operator(load(), checks=["S108"]).undeclared_ids == ["S108"]
    write_example(subject_of("example_twice"))
    registry.unregister("example_twice")
    report = check_operator(load(), checks=["S107", "S108"])
    assert (report.red_ids, report.undeclared_ids) == ([], [])


def test_an_example_that_is_there_is_left_alone(load):
    load()
    write_example(subject_of("example_twice"))
    registry.unregister("example_twice")
    load()
    with pytest.raises(ArgumentError, match="its docstring has an example"):
        write_example(subject_of("example_twice"))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (">>> 1 + 1\n        3", "2, expected 3, by 1 + 1"),
        (">>> int('x')", "ValueError: invalid literal for int() with base 10: 'x', by int('x')"),
    ],
)
def test_what_an_example_gives_or_raises_stands_before_its_line(lines, told):
    @unary("example_wrong", accepts="floating")
    def wrong(x):
        return 2 * x

    wrong.__doc__ = f"Two times every element.\n\n    Example:\n        {lines}\n"
    (outcome,) = check_operator(wrong, checks=["S108"]).outcomes
    assert outcome.failure.message == f"the example gives something else: {told}"
