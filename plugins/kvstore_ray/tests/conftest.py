"""A listener that answers what it is asked."""

from __future__ import annotations

import pytest

from operad_kvstore_ray.listener import Listener
from plugins.kvstore_ray.tests.echo import echoed


@pytest.fixture
def listener() -> Listener:
    return Listener("127.0.0.1", echoed)
