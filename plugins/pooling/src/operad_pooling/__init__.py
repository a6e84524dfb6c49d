"""Pooling, `Pooling`."""

from operad_pooling.pooling import Pooling as Pooling
