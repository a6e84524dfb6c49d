from __future__ import annotations

from typing import Any

import pytest

from operad.operator import OperatorProperty


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the operators that are made from now on."""
    create, names = OperatorProperty.create_operator, list[str]()

    def counted(self: OperatorProperty, *given: Any) -> Any:
        names.append(self.name)
        return create(self, *given)

    monkeypatch.setattr(OperatorProperty, "create_operator", counted)
    return names
