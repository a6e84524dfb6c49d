"""Commands whose libraries are extras: what to install where they are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from operad.errors import PluginError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import things inside that need `operad-sdk[name]`.

    Raises:
        PluginError: A library of that extra is missing; the message says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("operad"):
            raise
        raise PluginError(
            f'this command needs {error.name}, which is not installed; pip install "operad-sdk[{name}]"'
        ) from error
