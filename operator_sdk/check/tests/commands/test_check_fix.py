"""`operad check --fix` and `--baseline`."""

from __future__ import annotations

import json

import pytest

from operad_check.commands.check.fix import fixed, offered
from operad_check.commands.check.records import CheckedOperator, CheckOutcome
from operad_check.reporting.outcome import Failure
from operad_check.trials.violation import Declaration

FLOATING = Declaration("accepts", '"floating"')
PROGRAM = '''
import numpy as np
import operad
from operad_sdk import unary


@unary("acme_sigmoid")  # of numbers
def sigmoid(x):
    """The logistic function."""
    return 1 / (1 + np.exp(-x))


@sigmoid.gradient
def _(output_grad, output):
    return output_grad * output * (1 - output)


operad.registry.register(sigmoid)
'''


def asking(path):
    failure = Failure("types", "say it", "none", "", declares=FLOATING)
    outcome = CheckOutcome("F201", "undeclared", 1, {}, "", failure, 0.1)
    found = CheckedOperator("acme_sigmoid", "acme", "1", "dev", 0, [outcome], [], 1.0)
    found = CheckedOperator(**{**{k: getattr(found, k) for k in found.__slots__}, "source": str(path)})
    return [found]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('@unary("a")  # why\ndef f(x): ...\n', '@unary("a", accepts="floating")  # why\ndef f(x): ...\n'),
        ('f = define("a", "x:(N)")(g)\n', 'f = define("a", "x:(N)", accepts="floating")(g)\n'),
        (
            '@operator("a")\nclass A(B):\n    """."""\n    spec = ""  # one\n',
            '@operator("a")\nclass A(B):\n    """."""\n    accepts = "floating"\n    spec = ""  # one\n',
        ),
        ('@unary("other")\ndef f(x): ...\n', '@unary("other")\ndef f(x): ...\n'),
    ],
)
def test_a_declaration_is_added_and_every_other_character_is_kept(before, after):
    assert fixed(before, {"a": [FLOATING]}) == after


def test_without_a_terminal_it_only_prints_a_diff(tmp_path):
    path = tmp_path / "acme.py"
    path.write_text(PROGRAM)
    (text,) = offered(asking(path)).values()
    assert '-@unary("acme_sigmoid")  # of numbers\n+@unary("acme_sigmoid", accepts="floating")' in text
    assert path.read_text() == PROGRAM


@pytest.mark.parametrize("says_yes", [True, False])
def test_at_a_terminal_it_asks(tmp_path, monkeypatch, says_yes):
    path = tmp_path / "acme.py"
    path.write_text(PROGRAM)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *words, **options: says_yes)
    offered(asking(path))
    assert ('accepts="floating"' in path.read_text()) is says_yes


def test_a_file_that_cannot_be_read_as_python_stays_untouched(tmp_path):
    path = tmp_path / "acme.py"
    path.write_text("def (:\n")
    (text,) = offered(asking(path)).values()
    assert text.startswith("left as it is: it cannot be read as Python")
    assert path.read_text() == "def (:\n"


@pytest.mark.more
def test_what_is_undeclared_exits_with_0_and_says_what_to_declare(program, run):
    done = run("check", "acme_sigmoid", "--module", program, "--first", "--fix", "--html", "report.html")
    assert done.exit_code == 0, done.output
    assert "F201 undeclared: acme_sigmoid" in done.output
    assert "it passes, 1 with a declaration missing" in done.output
    assert '+@unary("acme_sigmoid", accepts="floating")' in done.output
    assert "want a declaration" in (program.parent / "report.html").read_text()


@pytest.mark.more
def test_strict_fails_for_it_and_a_baseline_keeps_it(program, run):
    words = ("check", "acme_sigmoid", "--module", program, "--first", "--strict", "--baseline", "known.json")
    assert run(*words).exit_code == 0
    rows = json.loads((program.parent / "known.json").read_text())
    assert "F201" in rows["acme_sigmoid"]
    (program.parent / "known.json").write_text(json.dumps({"acme_sigmoid": ["F201", "B301"]}))
    done = run(*words)
    assert done.exit_code == 1
    assert "in the baseline, and not found any more: renew it: acme_sigmoid B301" in done.output
    (program.parent / "known.json").write_text("[]")
    assert "expected ids by operator" in run(*words).stderr
