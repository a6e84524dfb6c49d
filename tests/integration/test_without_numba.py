"""First-party plugins compute the same without numba, as a model's user installs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.integration.environments import COMPLETE, CleanEnvironment, copy_tests
from tools.workspace import requirements

MakeEnvironment = Callable[..., CleanEnvironment]

_FIND_NUMBA = "from importlib.util import find_spec; print(find_spec('numba'))"

PLUGINS = [d for d in COMPLETE if d.folder.parent.name == "plugins"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_plugins_tests_pass(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    environment = make_environment("operad-standard", "operad-sdk[check]")
    environment.add_libraries(Requirement(line).name for line in requirements("test"))
    checkout = copy_tests(PLUGINS, tmp_path / "checkout")

    closing = environment.execute("-m", "pytest", "-q", "--no-header", "plugins", cwd=checkout)

    assert " passed" in closing
    assert environment.run(_FIND_NUMBA).strip() == "None"
