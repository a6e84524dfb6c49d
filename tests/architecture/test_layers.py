"""Each import contract of the workspace bites: a planted violation breaks it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import unstyle

ROOT = Path(__file__).resolve().parents[2]

CONTRACTS = {
    "layers": "Core: each layer imports only what stands below it",
    "core-alone": "Core: knows neither the toolkit nor a plugin",
    "harness": "Harness: each room imports only what stands below it",
    "sdk-alone": "SDK: knows neither the harness nor a plugin",
    "harness-alone": "Harness: knows no plugin",
    "plugins-apart": "Plugins: none imports another",
    "plugins-public-face": "Plugins: use only the public face of the core",
}

# What is planted, where, and the contract it must break.
VIOLATIONS = {
    "upward-import": ("core/src/operad/errors.py", "import operad.context", "layers"),
    "sibling-import": ("core/src/operad/storage/__init__.py", "import operad.engine", "layers"),
    "hidden-in-function": (
        "core/src/operad/engine/__init__.py",
        "def lazily():\n    import operad.executor",
        "layers",
    ),
    "module-without-layer": ("core/src/operad/stray.py", "", "layers"),
    "core-imports-sdk": ("core/src/operad/engine/__init__.py", "import operad_sdk", "core-alone"),
    "core-imports-harness": ("core/src/operad/cli/__init__.py", "import operad_check", "core-alone"),
    "room-imports-upward": (
        "operator_sdk/check/src/operad_check/trials/case.py",
        "import operad_check.running.runner",
        "harness",
    ),
    "module-without-room": ("operator_sdk/check/src/operad_check/stray.py", "", "harness"),
    "sdk-imports-plugin": ("operator_sdk/sdk/src/operad_sdk/__init__.py", "import operad_alpha", "sdk-alone"),
    "sdk-imports-harness": (
        "operator_sdk/sdk/src/operad_sdk/contract.py",
        "def lazily():\n    from operad_check.plan import profile",
        "sdk-alone",
    ),
    "harness-imports-plugin": (
        "operator_sdk/check/src/operad_check/__init__.py",
        "import operad_alpha",
        "harness-alone",
    ),
    "plugin-imports-plugin": ("plugins/beta/src/operad_beta/op.py", "import operad_alpha", "plugins-apart"),
    "contributed-imports-plugin": (
        "contrib_ops/gamma/src/operad_gamma/op.py",
        "from operad_beta import op",
        "plugins-apart",
    ),
    "plugin-imports-a-module-of-the-graph": (
        "plugins/alpha/src/operad_alpha/op.py",
        "from operad.graph.ir import Node",
        "plugins-public-face",
    ),
    "plugin-imports-internals": (
        "plugins/alpha/src/operad_alpha/op.py",
        "from operad.storage import Handle",
        "plugins-public-face",
    ),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the core and the toolkit, with three plugins that keep every rule."""
    sources = shutil.ignore_patterns("__pycache__", "tests")
    for folder in ("core", "operator_sdk"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=sources)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("plugins/alpha", "plugins/beta", "contrib_ops/gamma"):
        _make_plugin(tmp_path / folder)
    return tmp_path


def _make_plugin(folder: Path) -> None:
    package = folder / "src" / f"operad_{folder.name}"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "operad-{folder.name}"\n')
    (package / "__init__.py").write_text("")
    (package / "op.py").write_text("import operad\nimport operad_sdk\n")


def _broken_contracts(checkout: Path) -> set[str]:
    command = [sys.executable, "-m", "tools.layers", "--root", str(checkout)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    # Some releases colour what they print into a pipe, too.
    verdicts = dict(re.findall(r"^(.+) (KEPT|BROKEN)$", unstyle(done.stdout), re.MULTILINE))
    assert set(verdicts) == set(CONTRACTS.values()), done.stdout + done.stderr
    broken = {key for key, name in CONTRACTS.items() if verdicts[name] == "BROKEN"}
    assert (done.returncode != 0) == bool(broken)
    return broken


def test_the_checkout_keeps_every_contract(checkout: Path) -> None:
    assert _broken_contracts(checkout) == set()


@pytest.mark.more
@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_planted_violation_breaks_its_contract(checkout: Path, violation: str) -> None:
    path, line, contract = VIOLATIONS[violation]
    with (checkout / path).open("a") as file:
        file.write(f"\n{line}\n")

    # It may break others as well: what the SDK imports, the core then imports too.
    assert contract in _broken_contracts(checkout)


def test_every_contract_has_a_planted_violation() -> None:
    assert {contract for _, _, contract in VIOLATIONS.values()} == set(CONTRACTS)
