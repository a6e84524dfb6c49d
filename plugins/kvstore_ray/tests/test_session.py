from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import operad as od
import operad_kvstore_ray.launch as launching
from operad.errors import FormatError, PluginError
from operad_kvstore_ray import session


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PluginError, match=r'engine \'ray\' cannot be used: .*operad-kvstore-ray\[ray\]"'):
        od.kv.create("dist_sync", engine="ray")


def test_ray_that_is_started_here_listens_on_the_loopback_device_and_asks_for_a_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ray = Mock()
    monkeypatch.setattr(session, "imported_ray", lambda: ray)
    for name in (*session._ALONE, "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")  # put back after the test
        monkeypatch.delenv(name)
    session.start_cluster(1 << 20)
    given = ray.init.call_args.kwargs
    assert (given["_node_ip_address"], given["include_dashboard"]) == ("127.0.0.1", False)
    assert (os.environ["RAY_AUTH_MODE"], len(bytes.fromhex(os.environ["RAY_AUTH_TOKEN"]))) == ("token", 32)


def test_snapshots_without_a_setting_are_in_a_private_folder_that_goes_with_the_job(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("OPERAD_KV_SNAPSHOTS", raising=False)
    monkeypatch.setenv("RAY_ADDRESS", "local")
    ray = Mock()
    ray.util.list_named_actors.return_value = []
    monkeypatch.setattr(launching, "imported_ray", lambda: ray)
    with launching.Cluster(1 << 20, 1, str).job() as (variables, _):
        folder = Path(variables["OPERAD_KV_SNAPSHOTS"])
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()
    alone = Path(session.folder_of(od.kvstore.StoreSettings.from_environment({})))
    assert stat.S_IMODE(alone.stat().st_mode) == 0o700


def test_a_server_reads_the_whole_picture_of_its_own_actor_or_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    from operad_kvstore_ray import actor
    from operad_kvstore_ray.envelope import sealed, whole

    def server(own: str) -> Any:
        monkeypatch.setattr(actor.ray, "get_runtime_context", lambda: Mock(get_actor_id=lambda: own))
        monkeypatch.setattr(actor.ray.util, "get_node_ip_address", lambda: "127.0.0.1")
        return actor.ServerActor("server", tuple(od.kvstore.StoreSettings()), False, str(tmp_path), b"key")

    first = server("one")
    first.handle(whole(sealed(0, 1, "life", message=("note", 7))))
    first.handle(whole(sealed(0, 2, "life", message=("enter",))))  # writes a picture
    assert server("one")._server.notes() == {0: 7}
    assert server("another")._server.notes() == {}
    (picture,) = tmp_path.glob("*.picture")
    for content in (b"", picture.read_bytes()[:-1], b"something else"):
        picture.write_bytes(content)
        with pytest.raises(FormatError, match=re.escape(str(picture))):
            server("one")
