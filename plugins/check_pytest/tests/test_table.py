"""Tables of functions as tests, with NumPy as the library."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

LINE = "x:(...) -> y:(...)"
MODULE = """
import numpy as np

def in_place(x):
    x *= 2
    return x.copy()

def square_grad(head, x):
    return 3 * head * x

def halves(x):
    return x / 2
"""
TABLE = f"""
checks = ["F207", "F209", "D602"]

[functions]
tanh = ["np.tanh(x)", "{LINE}"]
in_place = ["kernels:in_place", "{LINE}"]

[functions.square]
function = "kernels.py:in_place"
line = "{LINE}"
known = {{ F207 = "it works in place, as its page says" }}
"""


@pytest.fixture
def run(pytester):
    """Write a table beside a module of functions, and run pytest on it."""

    def run(table, *words, name="operad-check.toml"):
        pytester.makepyfile(kernels=MODULE)
        pytester.path.joinpath(name).write_text(table)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)

    yield run
    sys.modules.pop("kernels", None)


def test_a_table_makes_a_test_of_each_function_and_check(run):
    run(TABLE, "--collect-only", "-q").stdout.fnmatch_lines(
        [
            "operad-check.toml::tanh::F207",
            "operad-check.toml::tanh::F209",
            "operad-check.toml::in_place::F207",
        ]
    )


def test_a_failure_shows_the_smallest_case_and_its_program(run):
    result = run(TABLE, "operad-check.toml::in_place::F207")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*in_place::F207*", "F207 wrong: in_place: *", "*import kernels", "*x = np.*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_tests_are_chosen_by_words(run):
    run(TABLE, "-k", "tanh and not F209").assert_outcomes(passed=2, deselected=7)


def test_tests_are_chosen_by_their_marker(run):
    run(TABLE, "-m", "not operad_check").assert_outcomes(deselected=9)


def test_what_is_known_to_fail_is_expected_with_its_reason(run):
    result = run(TABLE, "-k", "square and F207", "-rx")
    result.assert_outcomes(xfailed=1, deselected=8)
    result.stdout.fnmatch_lines(["XFAIL *::square::F207 - it works in place, as its page says"])


def test_what_is_known_to_fail_and_passes_is_red(run):
    row = f'function = "np.tanh(x)"\nline = "{LINE}"\nknown = {{ F207 = "it did in 1.0" }}'
    result = run(f'checks = ["F207"]\n[functions.tanh]\n{row}')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*it passes, though a failure is expected: it did in 1.0"])


def test_a_row_has_a_gradient_a_domain_a_reference_and_a_tolerance(run):
    result = run(
        f"""
[functions.square]
function = "np.square(x)"
line = "{LINE}"
gradient = "kernels:square_grad"
inputs = {{ x = "positive()" }}
reference = "kernels:halves"
tolerances = {{ float16 = {{ relative = 0.5, absolute = 0.5, reason = "a table has ten entries" }} }}
checks = ["F213", "B301"]
"""
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["F213 wrong: *", "B301 wrong: *", "*from kernels import square_grad*"])


def test_keywords_are_arguments_of_the_call(run):
    row = 'function = "numpy:cumsum"\nline = "x:(N, D) -> y:(N, D)"\nkeywords = { axis = -1 }'
    run(f'checks = ["F201"]\n[functions.cumsum]\n{row}').assert_outcomes(passed=1)


def test_the_option_names_other_files(run, pytester):
    pytester.makeini("[pytest]\noperad_check_tables = *-kernels.toml")
    run(TABLE, "-k", "tanh", name="our-kernels.toml").assert_outcomes(passed=3, deselected=6)
    run(TABLE, "-q", "--ignore=our-kernels.toml").assert_outcomes()


def test_properties_of_the_last_test_say_what_is_not_proved(run, pytester):
    result = run(TABLE, "-k", "square and D602", "--junitxml=report.xml")
    result.assert_outcomes(passed=1, deselected=8)
    assert "F207, which fails" in pytester.path.joinpath("report.xml").read_text()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("[functions", "*operad-check.toml: *expected library = 'torch', and under [[]functions]*"),
        ('[functions]\ntanh = ["np.tanh(x)"]', "*operad-check.toml: *length 2*functions*"),
        ('[functions.f]\nfunction = "np.tanh(x)"\nlien = "a"', "*operad-check.toml: *unknown field `lien`*"),
        (f'profile = "most"\n[functions]\nf = ["np.tanh(x)", "{LINE}"]', "*profile 'most' is unknown*"),
        (f'library = "tensorflow"\n[functions]\nf = ["f(x)", "{LINE}"]', "*expected one of jax, numpy, *"),
        (f'[functions]\nf = ["kernels:fast", "{LINE}"]', "*there is no 'fast' in 'kernels'*"),
        ('[functions]\nf = ["np.tanh(x)", "x:(N)"]', "*there is no '->'*"),
        (f'checks = ["L901"]\n[functions]\nf = ["np.tanh(x)", "{LINE}"]', "*'f' names check 'L901'*"),
        (
            f'[functions.f]\nfunction = "np.tanh(x)"\nline = "{LINE}"\nknown = {{ F207 = " " }}',
            "*gives no reason why F207 is known to fail*",
        ),
        (
            f'[functions.f]\nfunction = "np.tanh(x)"\nline = "{LINE}"\ninputs = {{ x = "negative()" }}',
            "*has the domain 'negative()', which raises name 'negative' is not defined*",
        ),
        (
            f'[functions.f]\nfunction = "np.tanh(x)"\nline = "{LINE}"\ninputs = {{ x = "2" }}',
            "*has the domain '2', expected one of operad_sdk*",
        ),
        (
            f'[functions.f]\nfunction = "np.tanh(x)"\nline = "{LINE}"\nwithout_gradient = ["z"]',
            "*function 'f' names 'z', which is no argument of*",
        ),
    ],
    ids=[
        "no table", "half a row", "key", "profile", "library", "function", "line", "check", "reason",
        "domain", "no domain", "argument",
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_read_is_one_error_in_words(run, table, text):
    result = run(table)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([text])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_row_that_cannot_be_read_leaves_the_others(run):
    table = f'checks = ["F209"]\n[functions]\nf = ["np.tanh(x)", "x:(N)"]\ng = ["np.tanh(x)", "{LINE}"]'
    run(table, "--continue-on-collection-errors").assert_outcomes(passed=1, errors=1)


def test_pytest_without_a_table_imports_no_check_and_no_library(pytester):
    pytester.makepyfile("def test_nothing(): pass")
    program = """
import sys, pytest
assert pytest.main(["-q", "-p", "no:cacheprovider"]) == 0
found = {"operad", "operad_sdk", "numpy", "numba", "torch", "jax"} & set(sys.modules)
assert not found and "operad_check_pytest.plugin" in sys.modules, found
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=pytester.path)


BROKEN = """
import pytest
from operad_check.running.suite import BrokenCheck

def test_broken():
    raise BrokenCheck("F202 broken: twice is not judged: operad's own fault", pytrace=False)

def test_right():
    pass
"""
WRONG = "def test_wrong(): assert False"


def test_a_check_that_breaks_is_counted_as_broken_alone(pytester):
    pytester.makepyfile(BROKEN)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    assert result.ret == pytest.ExitCode.INTERNAL_ERROR
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_broken: operad's own fault*", "F202 broken: twice*", "*1 broken*"])
    result.stdout.no_fnmatch_line("*failed*")


def test_beside_a_failure_the_status_is_that_of_the_failure(pytester):
    pytester.makepyfile(BROKEN + WRONG)

    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*1 failed, 1 passed, 1 broken*"])
