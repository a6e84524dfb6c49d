"""The suite of examples, run by pytest on packages made for the purpose."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from operad.errors import ArgumentError
from operad_check.testing import example_suite

README = "# pages\n\n>>> 6 * 7\n42\n"
MODULE = '"""A module.\n\n>>> "wide   text"\n\'wide text\'\n"""\n'


def run(folder: Path, readme: str | None = README, module: str = MODULE) -> tuple[int, str]:
    """Exit status and output of pytest on a package with one module, one plain file and these texts."""
    package = folder / "src" / "pages"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "plain.py").write_text("raise ImportError('no example, so nobody imports it')\n")
    (package / "deep" / "module.py").write_text(module)
    (folder / "tests").mkdir()
    test = folder / "tests" / "test_examples.py"
    test.write_text(
        "from operad_check.testing import example_suite\ntest_examples = example_suite('pages')\n"
    )
    if readme is not None:
        (folder / "README.md").write_text(readme)
    program = f"import sys, pytest; sys.path.insert(0, {str(package.parent)!r}); sys.exit(pytest.main())"
    words = ["-c", program, "-v", "-p", "no:cacheprovider", "--rootdir", str(folder), str(test)]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def results(output: str) -> dict[str, str]:
    return dict(re.findall(r"test_examples\[(.*)\] (PASSED|FAILED)", output))


def test_the_readme_and_each_module_with_an_example_are_cases(tmp_path):
    status, output = run(tmp_path)
    assert (status, results(output)) == (0, {"README.md": "PASSED", "pages.deep.module": "PASSED"})


def test_a_wrong_example_fails_and_is_shown(tmp_path):
    status, output = run(tmp_path, module=MODULE.replace("'wide text'", "'other'"))
    assert (status, results(output)["pages.deep.module"]) == (1, "FAILED")
    assert "Expected:" in output
    assert "'other'" in output


@pytest.mark.parametrize(
    ("readme", "message"), [("# pages\n", "has no example"), (None, "has a README.md; write one")]
)
def test_a_readme_without_an_example_and_none_at_all_fail(tmp_path, readme, message):
    status, output = run(tmp_path, readme=readme)
    assert (status, results(output)["README.md"]) == (1, "FAILED")
    assert message in output


def test_every_operator_is_a_case_aliases_too():
    (mark,) = example_suite("operad_loss").pytestmark
    assert {"README.md", "operad_loss.svm_output", "SoftmaxOutput", "Softmax"} <= set(mark.kwargs["ids"])


def test_an_unknown_package_is_refused():
    with pytest.raises(ArgumentError, match=r"no package 'acme_nothing'.*pip install -e"):
        example_suite("acme_nothing")
