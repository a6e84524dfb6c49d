"""All inhabitants of the zoo."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from operator_sdk.tests.zoo.fault import Fault

_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))

ZOO: list[Fault] = [
    fault
    for name in _MODULES
    if name not in ("conftest", "fault", "plain_gradient_check", "table")
    for fault in import_module(f"operator_sdk.tests.zoo.{name}").ZOO
]
