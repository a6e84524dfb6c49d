"""Tables for notebooks: what `_repr_html_` of a module, a metric or an iterator shows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(title: str, facts: Iterable[tuple[object, object]]) -> str:
    """A title above rows of a name and a value, as HTML.

    Names and values are shown as `str` writes them, and escaped. Give no arrays: their text waits for them.
    """
    rows = "".join(
        f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in facts
    )
    return f"<div><p><b>{escape(title)}</b></p><table>{rows}</table></div>"
