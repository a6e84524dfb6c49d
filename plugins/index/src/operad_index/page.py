"""The static page of an index."""

from __future__ import annotations

from typing import Final

import jinja2

from operad.cli.search import OPERATORS, Index

_PREFIX: Final = "operad."
_TEMPLATE: Final = "page.html"


def page(index: Index) -> str:
    """The index as one page of HTML, which asks for nothing else; what wheels say is shown as text."""
    loader = jinja2.PackageLoader("operad_index", ".")
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.get_template(_TEMPLATE).render(index=index, operators=OPERATORS, prefix=_PREFIX)
