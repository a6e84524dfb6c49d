"""Snapshots of the servers of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad.files import read_bytes, translated

_SETTINGS = od.kvstore.StoreSettings(num_workers=2)


def picture_seeds() -> list[bytes]:
    """Of a server with values, an optimizer and rounds that are not complete."""
    server = od.kvstore.Server(_SETTINGS, False)
    values = {"w": np.ones((2, 3), np.float32), "b": np.zeros(4, np.float16)}
    server.handle(0, 1, ("init", values, None))
    server.handle(0, 2, ("optimizer", od.optimizer.Adam()))
    bucket = od.kvstore.plan_buckets([od.kvstore.Sized("w", 6, np.dtype("float32"))])[0]
    for rank, number in ((0, 3), (1, 1), (0, 4)):
        packet = od.kvstore.Packet(bucket, np.ones(6, np.float32))
        server.handle(rank, number, ("push", [packet]))
    return [od.kvstore.pictures.to_bytes({"server": server.state(), "code": {"code": b"", "seal": b""}})]


def read_picture(path: Path) -> None:
    """A snapshot, and the server that it makes."""
    what, pictures = "the picture", od.kvstore.pictures
    state: Any = pictures.from_bytes(read_bytes(path, what), what)
    with translated(what, pictures.EXPECTED):
        od.kvstore.Server(_SETTINGS, False).restore(state["server"])
