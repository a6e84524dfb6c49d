"""Names of `od.sym` beside its operators, and how it finds those.

Every installed operator is a function of `od.sym`, found when it is first asked for.
"""

from __future__ import annotations

import sys
from typing import Any

from operad import registry
from operad.symbol.symbol import Group as Group
from operad.symbol.symbol import Symbol as Symbol
from operad.symbol.variable import var as var

Variable = var


def __getattr__(name: str) -> Any:
    return registry.module_attribute(sys.modules["operad.symbol"], "sym", name, Symbol._function_of)


def __dir__() -> list[str]:
    own = vars(sys.modules["operad.symbol"])
    return sorted({*own, *registry.attribute_names("sym"), *registry.list_operators()})
