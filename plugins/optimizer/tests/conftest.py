from __future__ import annotations

import pytest

from core.tests.conftest import each_engine, operators, two_threads  # noqa: F401 - fixtures
from operad.operator import Choice, Operator


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the operators that are made from now on."""
    create, names = Choice.operator, list[str]()

    def counted(self: Choice) -> Operator:
        names.append(self.call.prop.name)
        return create(self)

    monkeypatch.setattr(Choice, "operator", counted)
    return names
