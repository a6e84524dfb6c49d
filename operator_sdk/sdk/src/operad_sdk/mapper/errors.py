"""The error of the mapper language."""

from __future__ import annotations

from operad.errors import OperadError


class MapperError(OperadError, ValueError):
    """A mapper uses a construct that the mapper language does not have, or is called wrongly."""
