"""`mx.contrib.tensorboard`: metrics in event files of TensorBoard; see `od.callback.LogMetricsCallback`.

Source: python/mxnet/contrib/tensorboard.py.
"""

from typing import Any

import operad

__all__ = ["LogMetricsCallback"]  # noqa: F822 - `__getattr__` gives it


def __getattr__(name: str) -> Any:
    """The callback, whose plugin is imported when it is asked for."""
    if name in __all__:
        return getattr(operad.callback, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
