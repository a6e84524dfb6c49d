"""Packages that bring a plugin's operators to another framework."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
import zipfile

import pytest
from click.testing import CliRunner

from operad.errors import ArgumentError
from operad_export.command import export
from operad_export.package import exported, package_name, write_package

pytest.importorskip("operad_normalization")


def test_a_package_declares_the_plugin_and_the_exporter(tmp_path):
    found = exported("operad-normalization")
    files = write_package("torch", found, tmp_path / "made")
    project = tomllib.loads((tmp_path / "made/pyproject.toml").read_text())["project"]
    assert project["name"] == "operad-normalization-torch" == package_name("operad-normalization", "torch")
    major, minor, *_ = map(int, found.version.split("."))  # all distributions share one
    exporter = f"operad-export[torch]>={major}.{minor},<{major}.{minor + 1}"
    assert project["dependencies"] == [exporter, f"operad-normalization=={found.version}"]
    assert files == [
        "pyproject.toml", "README.md", "src/operad_normalization_torch/__init__.py",
        "src/operad_normalization_torch/py.typed",
    ]  # fmt: skip


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_its_module_names_every_operator_and_its_page_shows_how_to_call_them(tmp_path, framework):
    found = exported("operad_normalization")
    write_package(framework, found, tmp_path)
    module = (tmp_path / f"src/operad_normalization_{framework}/__init__.py").read_text()
    page = (tmp_path / "README.md").read_text()
    compile(module, "module", "exec")
    assert "LRN" in found.names
    for name in found.names:
        assert f'"{name}"' in module
        assert f"{name}(" in page


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(ArgumentError, match="is not empty; name another folder"):
        write_package("torch", exported("operad-normalization"), tmp_path)


def test_a_plugin_without_operators_is_refused():
    with pytest.raises(ArgumentError, match="no installed plugin 'operad-nothing' has operators"):
        exported("operad-nothing")


def test_the_command_says_what_it_wrote(tmp_path):
    folder = tmp_path / "out"
    done = CliRunner().invoke(export, ["--torch", "operad-normalization", "-o", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert said["package"] == "operad-normalization-torch"
    assert "LRN" in said["operators"]
    assert all((folder / file).is_file() for file in said["written"])


def test_the_command_asks_for_the_framework():
    done = CliRunner().invoke(export, ["operad-normalization"])
    assert done.exit_code == 2
    assert "say which framework" in done.output


def test_a_wheel_is_built_of_it(tmp_path):
    write_package("torch", exported("operad-normalization"), tmp_path / "made")
    program = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=tmp_path / "made", check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    names = zipfile.ZipFile(tmp_path / done.stdout.strip()).namelist()
    assert "operad_normalization_torch/__init__.py" in names
