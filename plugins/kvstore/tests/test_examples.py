from __future__ import annotations

from collections.abc import Iterator

import pytest

import operad as od
from operad_check.testing import example_suite

test_examples = example_suite("operad_kvstore")


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    registered = od.kvstore.KVStoreBase.kv_registry
    before = dict(registered)
    yield
    registered.clear()
    registered.update(before)
