"""Faces that lower layers hand out to their users, imported when they are asked for.

`x.tanh()` and `x.backward()` are conveniences of arrays that belong to `operad.nd` and
`operad.autograd`, which stand above arrays. Arrays reach them through here, at call time, as a user
would.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def lazy_face(name: str) -> ModuleType:
    """The module `operad.<name>`."""
    return importlib.import_module(f"operad.{name}")
