"""First-party plugins compute the same without numba, as a model's user installs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.environments import COMPLETE, CleanEnvironment, copy_tests, for_testing, third_party

MakeEnvironment = Callable[..., CleanEnvironment]

_FIND_NUMBA = "from importlib.util import find_spec; print(find_spec('numba'))"

PLUGINS = [d for d in COMPLETE if d.folder.parent.name == "plugins" and "numba" not in third_party([d.name])]
CONTRIBUTED = [d.name for d in COMPLETE if d.folder.parent.name == "contrib_ops"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_plugins_tests_pass(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    environment = make_environment("operad-standard", "operad-check", *CONTRIBUTED)
    environment.add_libraries(for_testing() - {"numba"})
    checkout = copy_tests(PLUGINS, tmp_path / "checkout")

    closing = environment.execute("-m", "pytest", "-q", "--no-header", "plugins", cwd=checkout)

    assert " passed" in closing
    assert environment.run(_FIND_NUMBA).strip() == "None"
