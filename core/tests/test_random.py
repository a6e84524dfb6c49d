"""The face of seeding."""

from __future__ import annotations

import pytest

import operad.random
from operad import resource
from operad.device import Context, cpu
from operad.engine import NaiveEngine
from operad.resource import RandomStream, ResourceManager, ResourceRequest
from operad.storage import Storage


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> ResourceManager:
    manager = ResourceManager(NaiveEngine(), Storage())
    monkeypatch.setattr(resource, "get", lambda: manager)
    return manager


def draw(manager: ResourceManager, ctx: Context) -> float:
    stream = manager.request(ctx, ResourceRequest.RANDOM)
    assert isinstance(stream, RandomStream)
    return float(stream.generator.random())


def test_seed_reaches_every_device(manager: ResourceManager) -> None:
    operad.random.seed(9)
    first = [draw(manager, cpu(0)), draw(manager, cpu(1))]
    operad.random.seed(seed_state=9, ctx="all")
    assert [draw(manager, cpu(0)), draw(manager, cpu(1))] == first


def test_seed_reaches_one_device_alone(manager: ResourceManager) -> None:
    operad.random.seed(9)
    first = [draw(manager, cpu(0)), draw(manager, cpu(1))]
    operad.random.seed(9, ctx=cpu(0))
    again = [draw(manager, cpu(0)), draw(manager, cpu(1))]
    assert again[0] == first[0]
    assert again[1] != first[1]
