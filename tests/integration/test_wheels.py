"""Every distribution is a wheel of its own: built, installed alone, used, uninstalled."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.integration.environments import COMPLETE, CleanEnvironment
from tools.workspace import ROOT, Distribution

MakeEnvironment = Callable[..., CleanEnvironment]
every_wheel = pytest.mark.parametrize("distribution", COMPLETE, ids=lambda d: d.name)

_USE_TANH = """
import numpy as np
import operad as od

x = od.nd.array([0.0, 0.5, -2.0])
np.testing.assert_allclose(od.nd.tanh(x).asnumpy(), np.tanh([0.0, 0.5, -2.0]), rtol=1e-6)

executor = od.sym.tanh(od.sym.Variable("x")).bind(od.cpu(), {"x": x}, args_grad={"x": od.nd.array([0.0] * 3)})
executor.forward(is_train=True)
executor.backward(od.nd.array([1.0, 1.0, 1.0]))
slope = executor.grad_dict["x"].asnumpy()
np.testing.assert_allclose(slope, 1 - np.tanh([0.0, 0.5, -2.0]) ** 2, rtol=1e-5)
"""

_MISS_TANH = """
import operad as od

for face in (od.nd, od.sym):
    try:
        face.tanh
    except AttributeError as error:
        print(error)
"""


@every_wheel
def test_a_wheel_holds_the_package_and_nothing_else(
    wheels: dict[str, Path], distribution: Distribution
) -> None:
    names = zipfile.ZipFile(wheels[distribution.name]).namelist()
    inside = {name.partition("/")[0] for name in names}
    stubs = {"operad-stubs"} if distribution.is_meta else set()  # types of what it brings
    assert inside == {distribution.package, _info(distribution), *stubs}
    assert f"{distribution.package}/py.typed" in names
    assert not [name for name in names if Path(name).match("test_*.py") or Path(name).name == "conftest.py"]


@every_wheel
def test_a_wheel_says_what_an_index_shows(wheels: dict[str, Path], distribution: Distribution) -> None:
    metadata = _metadata(wheels[distribution.name], distribution)

    assert (metadata["Name"], metadata["License-Expression"]) == (distribution.name, "Apache-2.0")
    assert (metadata["Author"], metadata["Requires-Python"]) == ("operad developers", ">=3.11")
    assert metadata["Summary"]
    classifiers = metadata.get_all("Classifier", [])
    assert "Programming Language :: Python :: 3.11" in classifiers
    assert "Operating System :: POSIX :: Linux" in classifiers
    links = [line.partition(", ")[0] for line in metadata.get_all("Project-URL", [])]
    assert links == ["Homepage", "Documentation", "Source", "Changelog"]
    assert "deep-learning" in metadata["Keywords"].split(",")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (distribution.folder / "README.md").read_text()


@every_wheel
def test_a_wheel_carries_licence_and_notice(wheels: dict[str, Path], distribution: Distribution) -> None:
    metadata = _metadata(wheels[distribution.name], distribution)
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    with zipfile.ZipFile(wheels[distribution.name]) as wheel:
        for name in ("LICENSE", "NOTICE"):
            inside = wheel.read(f"{_info(distribution)}/licenses/{name}")
            assert inside == (ROOT / name).read_bytes()


def _info(distribution: Distribution) -> str:
    return f"{distribution.package}-{distribution.declared['project']['version']}.dist-info"


def _metadata(wheel: Path, distribution: Distribution) -> Message:
    with zipfile.ZipFile(wheel) as file:
        return Parser().parsestr(file.read(f"{_info(distribution)}/METADATA").decode())


def test_core_sdk_and_one_plugin_alone_are_enough(make_environment: MakeEnvironment) -> None:
    environment = make_environment("operad", "operad-sdk", "operad-elemwise")

    environment.run(_USE_TANH)


def test_an_uninstalled_plugin_takes_its_operators_along(make_environment: MakeEnvironment) -> None:
    environment = make_environment("operad", "operad-sdk", "operad-elemwise")
    environment.uninstall("operad-elemwise")

    messages = environment.run(_MISS_TANH).splitlines()

    assert len(messages) == 2
    for message in messages:
        assert "'tanh'" in message
        assert "pip install operad-elemwise" in message


def test_the_core_alone_imports_and_says_what_to_install(make_environment: MakeEnvironment) -> None:
    environment = make_environment("operad")

    assert "pip install operad-elemwise" in environment.run(_MISS_TANH)


@pytest.mark.parametrize(
    ("name", "libraries"), [("operad-elemwise", "operad_sdk"), ("operad-standard", "operad_sdk, llvmlite")]
)
def test_a_models_user_gets_no_tool(make_environment: MakeEnvironment, name: str, libraries: str) -> None:
    environment = make_environment(name)

    environment.run(_USE_TANH)
    environment.run(f"import {libraries}")
    unwanted = ("operad_check", "numba", "hypothesis", "pytest", "click", "rich", "jinja2", "copier", "yaml")
    found = f"from importlib.util import find_spec; print([n for n in {unwanted} if find_spec(n)])"
    assert environment.run(found).strip() == "[]"


@pytest.mark.parametrize(("name", "limit_bytes"), [("operad-elemwise", 80e6), ("operad-standard", 270e6)])
def test_users_get_so_many_megabytes_at_most_before_byte_code(
    make_environment: MakeEnvironment, name: str, limit_bytes: float
) -> None:
    """NumPy with its BLAS takes nearly all of it, and LLVM 170 of the standard installation."""
    assert 20e6 < make_environment(name).size_bytes() < limit_bytes


def test_the_command_without_its_libraries_says_what_to_install(make_environment: MakeEnvironment) -> None:
    environment = make_environment("operad")
    script = environment.python.parent / "operad"

    done = subprocess.run([script, "ops"], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "operad: the command line needs click and rich, which operad does not install by itself; "
        'pip install "operad[cli]"\n'
    )


@pytest.mark.parametrize(
    ("installed", "command", "wanted"),
    [
        ("operad-sdk", "check --all", "no command 'check'; pip install operad-check\n"),
        ("operad-sdk", "tune", "no command 'tune'; pip install operad-check\n"),
        (
            "operad-check",
            "new folder",
            'needs copier, which is not installed; pip install "operad-check[new]"\n',
        ),
    ],
    ids=["check", "tune", "new"],
)
def test_a_command_that_is_not_installed_says_what_to_install(
    make_environment: MakeEnvironment, installed: str, command: str, wanted: str
) -> None:
    environment = make_environment("operad[cli]", installed)
    script = environment.python.parent / "operad"

    done = subprocess.run([script, *command.split()], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr.endswith(wanted)) == (2, True), done.stderr


def test_an_undeclared_library_is_not_there(make_environment: MakeEnvironment) -> None:
    # Guards the guard: were the whole environment visible, the tests above would prove little.
    environment = make_environment("operad")

    missing = "import importlib.util as u; print([n for n in ('numba', 'pytest') if u.find_spec(n) is None])"
    assert environment.run(missing).strip() == "['numba', 'pytest']"
