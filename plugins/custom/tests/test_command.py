"""`operad check` on operators that a program registers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.more


def ran(*words: str) -> Any:
    command = [sys.executable, "-m", "operad", "check", "--module", "my_ops.py", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def found() -> Any:
    pytest.importorskip("operad_elemwise", reason="my_ops.py multiplies arrays")
    code, printed = ran("my_scale", "my_wrong_scale", "--param", "scale=3", "--jobs", "2")
    assert code == 1
    return {each["operator"]: each for each in printed["operators"]}


def test_a_right_operator_passes(found: Any) -> None:
    right = found["my_scale"]
    assert right["red_ids"] == []
    assert sum(outcome["status"] == "passed" for outcome in right["outcomes"]) > 30


def test_a_wrong_gradient_is_named_with_a_program_that_shows_it(found: Any) -> None:
    wrong = found["my_wrong_scale"]
    assert wrong["red_ids"] == ["B301", "B302"]
    (failure,) = (each["failure"] for each in wrong["outcomes"] if each["red_id"] == "B301")
    assert "gradient of data" in failure["message"]
    assert "as_operator('my_wrong_scale', scale='3')" in failure["script"]
    assert failure["alone"] is True


def test_what_cannot_be_checked_says_why() -> None:
    code, printed = ran("other_scale", "my_scale")
    assert code == 1
    assert "no operator is registered as 'other_scale'" in printed["unusable"]["other_scale"]
    assert "my_scale, my_wrong_scale registered" in printed["unusable"]["other_scale"]
    assert "cannot be made with the parameters {}" in printed["unusable"]["my_scale"]
    assert "'scale'" in printed["unusable"]["my_scale"]
