"""Collection of this suite, without the modules that run under MXNet alone."""

from __future__ import annotations

collect_ignore = [
    "models/mxnet_worker.py",
    "record_api.py",
    "record_mxnet.py",
    "record_second_derivatives.py",
    "recorded/mxnet_peer.py",
    "recorded/mxnet_worker.py",
]
