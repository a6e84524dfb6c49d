"""Numbers among the attributes of a symbol's variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from operad import Symbol
from operad.errors import FormatError


def of_arguments(sym: Symbol) -> dict[str, dict[str, str]]:
    """The attributes of a symbol's arguments, by name; its operators have some as well."""
    arguments = {*sym.list_arguments()}
    return {name: own for name, own in sym.attr_dict().items() if name in arguments}


def numbers_of(attributes: Mapping[str, Mapping[str, str]], key: str) -> Iterator[tuple[str, float]]:
    """The numbers that variables of a symbol have in an attribute, by name.

    Raises:
        FormatError: A text is no number.
    """
    for name, own in attributes.items():
        if key in own:
            try:
                yield name, float(own[key])
            except (TypeError, ValueError) as error:
                raise FormatError(
                    f"variable {name!r}: {key} is {own[key]!r:.80}, expected a number; fix the symbol"
                ) from error
