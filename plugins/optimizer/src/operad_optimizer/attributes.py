"""Numbers among the attributes of a symbol's variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from operad.errors import FormatError


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
                    f"variable {name!r}: {key} is {own[key]!r:.80}, expected a number; mend the symbol"
                ) from error
