"""Derivatives of mappers: their slopes, which are mappers too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from operad_sdk.differentiate.tracing import Primitive, Traced, plain
from operad_sdk.mapper.core import Mapper, slope_of


@lru_cache(maxsize=1024)
def _primitive(mapper: Mapper) -> Primitive:
    def pullback(place: int) -> Any:
        return lambda g, y, *values: g * map_traced(_slope(mapper, place), values)

    return Primitive(mapper.map, *map(pullback, range(len(mapper.program.inputs))), fits=True)


@lru_cache(maxsize=4096)
def _slope(mapper: Mapper, place: int) -> Mapper:
    return slope_of(mapper, place)


def map_traced(mapper: Mapper, values: Sequence[Any]) -> Any:
    """What the mapper gives of arrays, some of which may be traced."""
    return _primitive(mapper)(*values)
