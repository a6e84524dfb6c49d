"""Mappers: scalar functions written once, run as Python, with NumPy, in vector code or on a GPU.

Operators that are no mappers need none of this, so its modules are imported when a word of theirs is named.
"""

from typing import TYPE_CHECKING, Any

from operad_sdk.mapper.words import all_words, word
from operad_sdk.mapper.words import mapper as mapper

if TYPE_CHECKING:
    from operad_sdk.mapper.composites import digamma as digamma
    from operad_sdk.mapper.composites import rsqrt as rsqrt
    from operad_sdk.mapper.core import Mapper as Mapper
    from operad_sdk.mapper.core import slope_of as slope_of
    from operad_sdk.mapper.errors import MapperError as MapperError
    from operad_sdk.mapper.functions import *  # noqa: F403 - all functions are words


def __getattr__(name: str) -> Any:
    """A word of mappers."""
    return all_words() if name == "__all__" else word(__name__, name)
