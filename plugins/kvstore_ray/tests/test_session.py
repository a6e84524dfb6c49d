from __future__ import annotations

import sys

import pytest

import operad as od
from operad.errors import PluginError


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PluginError, match=r'engine \'ray\' cannot be used: .*operad-kvstore-ray\[ray\]"'):
        od.kv.create("dist_sync", engine="ray")
