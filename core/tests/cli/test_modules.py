"""`--module`: operators of a file that no distribution provides."""

from __future__ import annotations

import pytest

from core.tests.as_found import program_file
from operad import registry
from operad.cli import declared_in, imported, located

PROGRAM = '''
from operad.op import Kernel, Operator, OperatorProperty


class Base(OperatorProperty):
    """Of no operator of its own."""

    def list_arguments(self):
        return ["data"]

    def infer_shape(self, in_shapes):
        return in_shapes, in_shapes, []


class OfFile(Base):
    """Declared, and registered by nobody."""

    name = "acme_of_file"
    kernels = [Kernel("acme_of_file.plain", Operator)]
'''


@pytest.fixture
def program(tmp_path, monkeypatch):
    yield from program_file(tmp_path, monkeypatch, "acme_file", PROGRAM)


@pytest.mark.parametrize("text", ["acme_file.py", "acme_file"])
def test_a_file_and_a_module_are_found_from_where_the_command_is_run(program, text):
    assert located(text) == (str(program.parent), "acme_file")


def test_the_operators_of_a_module_are_those_that_it_declares(program):
    module = imported(*located("acme_file.py"))

    assert declared_in(module)["acme_of_file"] == ("OfFile", module.OfFile)
    assert "OperatorProperty" not in {attribute for attribute, _ in declared_in(module).values()}


def test_a_module_that_lacks_another_says_which(program):
    program.write_text("import acme_that_is_not_there")

    with pytest.raises(ModuleNotFoundError, match="acme_that_is_not_there"):
        imported(*located("acme_file.py"))


def test_a_command_knows_the_operators_of_the_file(program, run_json):
    found = run_json("why", "acme_of_file", "--module", "acme_file.py", "--shape", "2x3")
    registry.unregister("acme_of_file")

    assert [candidate["kernel"] for candidate in found["candidates"]] == ["acme_of_file.plain"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("absent.py", "there is no file absent.py"), ("no_such_module", "No module named 'no_such_module'")],
)
def test_what_is_not_there_is_refused(program, run, text, words):
    done = run("why", "acme_of_file", "--module", text)

    assert done.exit_code == 1
    assert words in done.stderr


def test_a_name_that_the_module_does_not_declare_is_refused_with_those_that_it_does(program, run):
    done = run("why", "acme_of_fil", "--module", "acme_file.py")

    assert "acme_file.py neither declares nor registers an operator 'acme_of_fil'; declared" in done.stderr
    assert "acme_of_file" in done.stderr.partition("declared there:")[2]
