"""Logs of metrics in files: lines of JSON, and event files of TensorBoard.

Each is a callback, of batches (`batch_end_callback`) and of evaluations (`eval_end_callback`).
"""

from __future__ import annotations

import errno
import json
import math
import os
import time
from importlib import import_module
from typing import Any, final

from operad.errors import PluginError
from operad.files import translated
from operad_module.checkpoint import BatchEndParam


@final
class JSONLines:
    """Adds a line of JSON to a file at each call: epoch, batch, the time in seconds of 1970, and the metric.

    What is no number, or infinite, is null. A line is whole or not there, also of a process that is killed.

    Args:
        path: The file, which may be there already.
        prefix: Stands in front of the metric's names, with a hyphen.
        period: Batches per line.

    Raises:
        OperadError: The file cannot be written; an `OSError` too.
    """

    def __init__(self, path: str | os.PathLike[str], prefix: str | None = None, period: int = 1) -> None:
        self.path, self.prefix, self.period = os.fspath(path), prefix, max(1, int(period))

    def __call__(self, param: BatchEndParam) -> None:
        """Write what the metric says."""
        if param.eval_metric is None or param.nbatch % self.period:
            return
        found = {"epoch": param.epoch, "nbatch": param.nbatch, "time_s": round(time.time(), 3)}
        values = {name: _finite(value) for name, value in _named(self.prefix, param)}
        line = (json.dumps(found | values, allow_nan=False) + "\n").encode()
        with translated(f"writing {self.path!r}", "a path"), open(self.path, "ab", buffering=0) as file:
            size = file.tell()
            if file.write(line) != len(line):  # the disk became full
                file.truncate(size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@final
class LogMetricsCallback:
    """Writes the metric to event files of TensorBoard at each call; needs `tensorboardX`.

    Args:
        logging_dir: The folder that `tensorboard --logdir` is given.
        prefix: Stands in front of the metric's names, with a hyphen: `train` and `validation`.

    Raises:
        PluginError: `tensorboardX` is not installed.

    Source: LogMetricsCallback, python/mxnet/contrib/tensorboard.py. Differs: tensorboardX writes, instead of
    mxboard, which is no longer maintained; steps are counted.
    """

    def __init__(self, logging_dir: str | os.PathLike[str], prefix: str | None = None) -> None:
        self.prefix, self.step = prefix, 0
        self.summary_writer = _writer(os.fspath(logging_dir))

    def __call__(self, param: BatchEndParam) -> None:
        """Write what the metric says."""
        if param.eval_metric is None:
            return
        self.step += 1
        for name, value in _named(self.prefix, param):
            self.summary_writer.add_scalar(name, value, self.step)
        self.summary_writer.flush()


def _named(prefix: str | None, param: BatchEndParam) -> list[tuple[str, float]]:
    pairs = param.eval_metric.get_name_value()
    return [(name if prefix is None else f"{prefix}-{name}", float(value)) for name, value in pairs]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _writer(folder: str) -> Any:
    try:
        board = import_module("tensorboardX")  # 0.2 s of protobuf, which only this log needs
    except ImportError as error:
        raise PluginError(
            "a log for TensorBoard needs tensorboardX: pip install 'operad-module[tensorboard]'"
        ) from error
    return board.SummaryWriter(folder)
