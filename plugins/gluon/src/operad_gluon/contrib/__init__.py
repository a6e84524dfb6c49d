"""`gluon.contrib`: blocks beside the common ones, and `estimator`, which is imported when first used."""

from importlib import import_module

from operad_gluon.contrib import cnn as cnn
from operad_gluon.contrib import data as data
from operad_gluon.contrib import nn as nn
from operad_gluon.contrib import rnn as rnn


def __getattr__(name: str) -> object:
    if name == "estimator":
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
