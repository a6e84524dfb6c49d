"""Answers that earlier processes found are taken where all is as it was, and nowhere else."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from operad import config
from operad_sdk.declare import kept_answers
from operad_sdk.declare.kept_answers import kept_answer, save_answers
from tools.workspace import ROOT

SINGLE = np.dtype(np.float32)

OPERATOR = """
    from some_helpers import shift
    import some_helpers
    from operad_sdk import OperatorProperty

    SLOPE = 3.0


    class Kept(OperatorProperty):
        spec = "data:(...) -> output:(...)"
        compute_dtype = "float32"

        def forward(data):
            return some_helpers.scaled(data, SLOPE) + shift(data)

        def data_grad(output_grad):
            return output_grad * SLOPE
"""
HELPERS = """
    def scaled(data, factor):
        return inner(data) * factor


    def inner(data):
        return data + 1.0


    def shift(data, by=2.0):
        return data - by
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Imports an operator and what it calls, each with words exchanged, as another process would."""
    monkeypatch.setenv("OPERAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    config.reload()

    def load(old="", new="", attribute=None):
        for name, text in (("some_operator", OPERATOR), ("some_helpers", HELPERS)):
            folder = tmp_path / "code" / name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "__init__.py").write_text(
                textwrap.dedent(text).replace(old, new) if old else textwrap.dedent(text)
            )
            os.utime(folder / "__init__.py", (1, 1))
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        kept_answers._sources.cache_clear()
        module = importlib.import_module("some_operator")
        if attribute:
            setattr(module, *attribute)
        return module.Kept

    yield load
    for name in ("some_operator", "some_helpers"):
        sys.modules.pop(name, None)
    monkeypatch.undo()
    config.reload()


def test_an_operator_that_is_as_it_was_has_the_same_file(package):
    assert kept_answers._path(package()) == kept_answers._path(package()) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SLOPE = 3.0", "SLOPE = 4.0"),
        ("data + 1.0", "data + 2.0"),
        ("by=2.0", "by=3.0"),
        ("- by", "+ by"),
        ('"float32"', '"float64"'),
        ("output_grad * SLOPE", "output_grad / SLOPE"),
    ],
)
def test_whatever_an_operator_reads_has_another_file_where_it_is_another(old, new, package):
    before = kept_answers._path(package())
    after = package(old, new)
    assert kept_answers._path(after) != before
    assert len(old) == len(new)  # as no size or time shows it, here


def test_a_constant_that_an_import_made_another_counts_by_its_value(package):
    assert kept_answers._path(package(attribute=("SLOPE", 5.0))) != kept_answers._path(package())


def test_an_operator_that_reads_what_no_text_distinguishes_has_no_file(package):
    assert kept_answers._path(package(attribute=("SLOPE", object()))) is None


def test_an_operator_of_a_function_has_no_file(package):
    class Local(package()):
        pass

    assert kept_answers._path(Local) is None


def asked(cls, *words):
    return kept_answer(cls(), words, lambda: f"found {len(words)}")


def test_an_answer_is_that_of_the_earlier_process(package):
    assert asked(package(), "one", 2) == "found 2"
    save_answers()
    assert kept_answer(package()(), ("one", 2), lambda: "another") == "found 2"
    assert kept_answer(package()(), ("one", 2.0), lambda: "another") == "another"


def test_a_question_that_no_text_distinguishes_is_asked_again(package):
    cls = package()
    assert kept_answer(cls(), (object(),), lambda: 1) == 1
    assert kept_answer(cls(), (object(),), lambda: 2) == 2


def test_a_failure_of_a_trace_is_not_kept(package):
    cls = package()
    assert kept_answer(cls(), ("form",), lambda: ("it cannot be traced (MemoryError: )", False))[1] is False
    assert kept_answer(cls(), ("form",), lambda: ("found", False)) == ("found", False)


def test_forms_come_out_of_a_file_as_they_went_in(package):
    form = package()().scalar_form("forward", [(3, 4)], [SINGLE])
    again = pickle.loads(pickle.dumps(form))
    assert again == form
    assert (again.text(), again.inputs_read, hash(again)) == (form.text(), form.inputs_read, hash(form))


PROGRAM = """
import sys
import numpy as np
from operad import nd
import operad as od

def bits(rows):
    data = od.sym.var("data")
    bound = od.sym.LayerNorm(od.sym.tanh(data) * 2.0, name="n").simple_bind(od.cpu(), data=(rows, 128))
    for number, array in enumerate(bound.arg_dict.values()):
        array[:] = np.random.default_rng(number).uniform(-1, 1, array.shape)
    bound.forward(is_train=True)
    bound.backward(nd.ones((rows, 128)))
    arrays = [*bound.outputs, *(x for x in bound.grad_dict.values() if x is not None)]
    return b"".join(x.asnumpy().tobytes() for x in arrays).hex()

print(*(bits(int(rows)) for rows in sys.argv[1:]))
print("operad_sdk.differentiate" in sys.modules)
"""


@pytest.mark.more
def test_a_process_with_answers_computes_the_same_bits_and_traces_nothing(tmp_path):
    def run(*rows):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, rows)],
            env={**os.environ, "OPERAD_CACHE_DIR": str(tmp_path)},
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found, has_traced = done.stdout.split("\n")[:2]
        return found.split(), has_traced

    cold, traced = run(64, 256)
    assert traced == "True"
    assert run(64, 256) == (cold, "False")
    assert run(256) == (cold[1:], "False")
