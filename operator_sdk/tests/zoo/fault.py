"""One inhabitant of the zoo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from operad import registry


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """An operator that is wrong in one way.

    Attributes:
        id: The check that must be red.
        operator: What a decorator returned, or a property class.
        words: What is wrong.
        also: Other checks that are red because of the same mistake.
        registered_as: The name that it has in the registry while it is checked; empty: none.
    """

    id: str
    operator: Any
    words: str
    also: tuple[str, ...] = ()
    registered_as: str = ""

    @contextmanager
    def registered(self) -> Iterator[Any]:
        """What to check: the operator, or the name that it has in the registry for the time being."""
        if not self.registered_as:
            yield self.operator
            return
        registry.register(self.operator, self.registered_as)
        try:
            yield self.registered_as
        finally:
            registry.unregister(self.registered_as)

    @property
    def title(self) -> str:
        """For test ids."""
        cls = getattr(self.operator, "operad_property", self.operator)
        return f"{self.id}-{cls.name}"
