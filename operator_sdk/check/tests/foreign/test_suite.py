from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

PROGRAM = """
import numpy as np
from operad_check import foreign_suite

def in_place(x):
    x *= 2
    return x.copy()

test_functions = foreign_suite("numpy", {
    "tanh": ("np.tanh(x)", "x:(...) -> y:(...)"),
    "in_place": (in_place, "x:(...) -> y:(...)"),
})
"""


@pytest.fixture
def table(pytester):
    return pytester.makepyfile(test_table=PROGRAM)


def test_a_table_makes_a_test_of_each_function_and_check(pytester, table):
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-k", "F207 or F209")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*F207 wrong: in_place: *", "*smallest case:*", "*x = np.*"])
