"""`operad check` for functions of other libraries, with NumPy as the library."""

from __future__ import annotations

import json

import pytest

MODULE = """
import numpy as np

def softplus(x, shift):
    return np.logaddexp(x + shift, 0)

def softplus_grad(g, x):
    return g / (1 + np.exp(-x))

def half(g, x):
    return g / 2
"""


@pytest.fixture
def softplus(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return ("--numpy", "own:softplus", "--line", "x:(...) -> y:(...)", "--param", "shift=0.0")


@pytest.mark.more
def test_a_right_function_passes(run, softplus):
    result = run("check", *softplus, "--gradient", "own:softplus_grad")
    assert result.exit_code == 0, result.stdout
    assert "own:softplus  numpy" in result.stdout


def test_a_fault_is_shown_with_a_program_of_the_library_alone(run, softplus, tmp_path):
    page = tmp_path / "page.html"
    result = run("check", *softplus, "--gradient", "own:half", "--html", str(page), "--json")
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)["operators"]
    assert "B301" in found["red_ids"]
    (outcome,) = [each for each in found["outcomes"] if each["check_id"] == "B301"]
    assert "from own import half as f_grad" in outcome["failure"]["script"]
    assert "operad" not in outcome["failure"]["script"]
    assert "B301" in page.read_text()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--numpy", "np.tanh(x)"), "and --line"),
        (("--line", "x:(N) -> y:(N)"), "go with --torch, --jax or --numpy"),
        (("--numpy", "np.tanh(x)", "--line", "x:(N) -> y:(N)", "--watch"), "goes without"),
        (("--numpy", "np.tanh(x)", "--torch", "torch.tanh(x)", "--line", "x:(N) -> y:(N)"), "give one of"),
        (("--numpy", "np.tanh(x)", "--line", "x:(N) -> y:(N)", "tanh"), "goes without"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, words, text):
    result = run("check", *words)
    assert result.exit_code == 2
    assert text in " ".join(result.stderr.split())


def test_a_function_that_is_not_there_is_said_to_be_so(run):
    result = run("check", "--numpy", "numpy:tanhh", "--line", "x:(N) -> y:(N)")
    assert result.exit_code == 1
    assert "there is no 'tanhh' in 'numpy'" in result.stdout
    assert "Traceback" not in result.stdout
