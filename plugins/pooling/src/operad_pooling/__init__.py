"""Pooling over windows, `Pooling`."""

from operad_pooling.pooling import Pooling as Pooling
