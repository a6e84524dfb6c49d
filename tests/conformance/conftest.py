"""What runs under MXNet alone is no module of this suite."""

from __future__ import annotations

collect_ignore = [
    "models/mxnet_worker.py",
    "record_api.py",
    "record_mxnet.py",
    "recorded/mxnet_peer.py",
    "recorded/mxnet_worker.py",
]
