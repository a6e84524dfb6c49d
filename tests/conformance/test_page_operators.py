"""Operators that pages show keep their contract, and can be tried as they stand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.conformance.overlay import as_a_reader
from tests.conformance.page_modules import DECLARES, write_modules
from tests.conformance.test_docs import PAGES as DOCS
from tests.conformance.test_docs import ROOT

PAGES: Final = [
    page
    for page in [*DOCS, ROOT / "operator_sdk/sdk/README.md"]
    if DECLARES.search(page.read_text(encoding="utf-8")) and "decisions" not in page.parts
]
NAMES: Final = {page: page.relative_to(ROOT).as_posix() for page in PAGES}
WRONG_ON_PURPOSE: Final = {
    "docs/authoring/requests.md": {"page_requests.py": {"acme_shifted_sum": ["B308", "M403", "X805"]}},
    "docs/authoring/checks.md": {
        "page_checks.py": {"acme_slow_cube": ["B301", "B302"]},
        "acme_cube.py": {"acme_cube": ["B301", "B302"]},
    },
}
"""Red checks of the operators whose page shows what the checks say of them, by page and file."""
FAST: Final = ("losses.md", "broadcast-operator.md")


def tried(page: Path, folder: Path, *words: str) -> dict[str, dict[str, list[str]]]:
    command = [sys.executable, "-m", "tests.conformance.page_operators", *words, str(page)]
    settings = {**as_a_reader(), "PYTHONPATH": str(ROOT), "OPERAD_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(done.stdout)
    assert found, "no file declares an operator"
    assert all(found.values()), found
    return found


def faulty(found: dict[str, dict[str, list[str]]]) -> dict[str, Any]:
    wrong = {file: {name: ids for name, ids in each.items() if ids} for file, each in found.items()}
    return {file: each for file, each in wrong.items() if each}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=NAMES[page], marks=() if page.name in FAST else pytest.mark.more)
        for page in PAGES
    ],
)
def test_operators_of_the_page_are_registered_called_and_right_on_a_few_cases(
    page: Path, tmp_path: Path
) -> None:
    on_purpose = WRONG_ON_PURPOSE.get(NAMES[page], {})
    for file, wrong in faulty(tried(page, tmp_path)).items():
        assert {*wrong} <= {*on_purpose.get(file, {})}, wrong


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [pytest.param(page, id=NAMES[page]) for page in PAGES])
def test_operators_of_the_page_pass_the_strict_check(page: Path, tmp_path: Path) -> None:
    assert faulty(tried(page, tmp_path, "--strict")) == WRONG_ON_PURPOSE.get(NAMES[page], {})


def test_an_operator_with_a_wrong_gradient_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        """```python
import numpy as np
from operad_sdk import unary


@unary("wrong_square", accepts="floating")
def wrong_square(x):
    return np.square(x)


@wrong_square.gradient
def _(output_grad, x):
    return output_grad * x
```
"""
    )
    (messages,) = faulty(tried(page, tmp_path))["page_page.py"].values()
    assert any(text.startswith(("[B302]", "[B301]")) for text in messages)


def test_a_module_of_a_page_has_what_declares_and_nothing_that_tries(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        """```python
from operad_sdk import UNARY, define

made = define("made", UNARY, abs)
values = files.load("no such file")
check_forward(made, [data])
```

```python
>>> from operad_sdk import unary
>>> @unary("good")
... def good(x):
...     return x
>>> @unary("bad")
... def bad(y):
...     return z
Traceback (most recent call last):
    ...
DeclarationError: z
```

```python title="src/package/other.py"
@unary("other")
def other(x): ...
```
"""
    )
    module, other = write_modules(page, tmp_path)
    assert (module.name, other.relative_to(tmp_path).as_posix()) == ("page_page.py", "package/other.py")
    text = module.read_text()
    assert all(word in text for word in ("import UNARY", "made = define", "def good"))
    assert not any(word in text for word in ("bad", "check_forward(", "no such file"))
