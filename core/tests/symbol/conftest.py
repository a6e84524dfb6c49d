"""Names that count from zero in every test of symbols."""

import pytest

from operad.symbol import NameManager


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield
