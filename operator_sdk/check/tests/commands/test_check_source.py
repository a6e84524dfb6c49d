"""`operad check --module`: operators of a program."""

from __future__ import annotations

import sys

import pytest

from core.tests.as_found import program_file
from operad import registry
from operad.errors import ArgumentError, OperatorNotFoundError
from operad_check.commands.check.jobs import plan_one
from operad_check.commands.check.source import Source

PROGRAM = '''
import numpy as np
import operad
from operad_sdk import UNARY, define, from_mapper, mapper, param, unary


@unary("acme_square")
def square(x):
    """The square of every element."""
    return x * x


operad.registry.register(square)


@unary("acme_declared")
def declared(x):
    """Nobody registers this one."""
    return x + x


@unary("tanh")
def tanh(x):
    """Another operator than the installed one of that name."""
    return x * 0


@mapper
def plus(x, y):
    return x + y


def of_table(name):
    slope = lambda output_grad, data: 2 * output_grad * data
    return define(name, UNARY, np.square, slope, summary="x^2.", example=("[3]", "[9.]"))


table = of_table("acme_table")
mapped = from_mapper(plus, name="acme_mapped", params={"y": param(float, 1.0)})
'''


@pytest.fixture
def program(tmp_path, monkeypatch):
    if (yield from program_file(tmp_path, monkeypatch, "acme_program", PROGRAM)):
        registry.unregister("acme_square")


@pytest.mark.parametrize("text", ["acme_program.py", "acme_program"])
def test_a_file_and_a_module_are_found_from_where_the_command_is_run(program, text):
    source = Source.of(text, {})
    assert source == Source(str(program.parent), "acme_program", {})
    assert source.subject("acme_square").cls is sys.modules["acme_program"].square


def test_another_process_gets_the_operator_by_the_subjects_program(program):
    head, expression = Source.of("acme_program.py", {}).subject("acme_square").reference()
    assert expression == "'acme_square'"
    assert head.splitlines()[-2:] == [f"sys.path.insert(0, {str(program.parent)!r})", "import acme_program"]


def test_a_plan_is_made_of_the_programs_operator(program):
    plan = plan_one("acme_square", "dev", lambda told: None, Source.of("acme_program.py", {}))
    assert plan["operator"] == "acme_square"


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("acme_declared", "declared"),
        ("tanh", "tanh"),
        ("acme_table", "table"),
        ("acme_mapped", "mapped"),
    ],
)
def test_an_operator_is_checked_that_the_file_only_declares(program, name, attribute):
    subject = Source.of("acme_program.py", {}).subject(name)
    assert subject.cls is getattr(sys.modules["acme_program"], attribute)
    assert subject.reference()[1] == f"acme_program.{attribute}"
    with pytest.raises(ArgumentError, match="--param is for a CustomOpProp"):
        Source.of("acme_program.py", {"a": "1"}).subject(name)


def test_what_is_not_there_is_refused(program):
    with pytest.raises(ArgumentError, match=r"there is no file absent\.py"):
        Source.of("absent.py", {})
    declared = "acme_declared, acme_mapped, acme_square, acme_table, tanh"
    with pytest.raises(OperatorNotFoundError, match=f"'acme_cube'; declared there: {declared}"):
        Source.of("acme_program.py", {}).subject("acme_cube")
    found = plan_one("acme_square", "dev", lambda told: None, Source.of("no_such_module", {}))
    assert "No module named 'no_such_module'" in found


@pytest.mark.parametrize(
    "words",
    [["--module", "m.py"], ["--module", "m.py", "--all"], ["--module", "m.py", "--write-example", "x"],
     ["--param", "a=1", "x"]],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(run, words):
    done = run("check", *words)
    assert done.exit_code == 2
    assert "Usage" in done.output
