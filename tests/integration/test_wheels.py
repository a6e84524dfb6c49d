"""Every distribution is a wheel of its own: built, installed alone, used, uninstalled."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.environments import COMPLETE, CleanEnvironment
from tools.workspace import Distribution

MakeEnvironment = Callable[..., CleanEnvironment]

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


@pytest.mark.parametrize("distribution", COMPLETE, ids=lambda d: d.name)
def test_a_wheel_holds_the_package_and_nothing_else(
    wheels: dict[str, Path], distribution: Distribution
) -> None:
    names = zipfile.ZipFile(wheels[distribution.name]).namelist()
    inside = {name.partition("/")[0] for name in names}
    assert inside == {distribution.package, f"{distribution.package}-0.1.0.dist-info"}
    assert f"{distribution.package}/py.typed" in names
    assert not [name for name in names if Path(name).match("test_*.py") or Path(name).name == "conftest.py"]


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


def test_an_undeclared_library_is_not_there(make_environment: MakeEnvironment) -> None:
    # Guards the guard: were the whole environment visible, the tests above would prove little.
    environment = make_environment("operad")

    missing = "import importlib.util as u; print([n for n in ('numba', 'pytest') if u.find_spec(n) is None])"
    assert environment.run(missing).strip() == "['numba', 'pytest']"
