"""Sections of docstrings, which stand in this project without blank lines between them."""

from __future__ import annotations

import re
from typing import Any, Final

import griffe

_SECTION: Final = re.compile(r"\n(?=(?:Args|Attributes|Raises|Returns|Shapes|Source|Yields):)")


class Sections(griffe.Extension):
    """Puts a blank line before each section, as the parser of Google's style expects it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that was loaded."""
        if obj.docstring is not None:
            obj.docstring.value = _SECTION.sub("\n\n", obj.docstring.value)
