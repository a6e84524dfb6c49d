"""Commands whose libraries are extras, with advice on what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import click


@final
class MissingExtra(click.ClickException):
    """A command needs a library that is installed with an extra.

    Attributes:
        exit_code: As where the command line itself cannot be used.
    """

    exit_code = 2


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Import things inside that need `operad-sdk[name]`.

    Raises:
        MissingExtra: A library of that extra is missing; the message says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("operad"):
            raise
        raise MissingExtra(
            f'this command needs {error.name}, which is not installed; pip install "operad-sdk[{name}]"'
        ) from error
