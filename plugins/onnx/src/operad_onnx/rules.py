"""Rules: how operators are written as ONNX nodes, and nodes read as operators.

An entry point of the group `operad.onnx` names a module of the package that provides the operators. The
module needs nothing of this package, and has up to three tables:

* `EXPORTS`: by an operator's name, the ONNX operator that does the same, or a function that gets an
  `ExportNode` and returns the names of the values that stand for the outputs;
* `IMPORTS`: by the name of an ONNX operator (`domain::name` outside the standard's own domain), an operator
  of operad that does the same, or a function that gets an `ImportNode` and returns symbols;
* `ABSENT`: by an operator's name, why it has no counterpart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, final

import operad
from operad.errors import DuplicateOperatorError

GROUP: Final = "operad.onnx"
TABLES: Final = ("EXPORTS", "IMPORTS", "ABSENT")

Function = Callable[[Any], Any]


@final
class Rule(NamedTuple):
    """A rule, and the distribution that brings it."""

    rule: str | Function
    owner: str

    def __str__(self) -> str:
        name = self.rule if isinstance(self.rule, str) else f"{self.rule.__module__}.{self.rule.__qualname__}"
        return f"{name} of {self.owner}"


@final
class Rules(NamedTuple):
    """All rules of what is installed.

    Attributes:
        exports: By the operator's name.
        imports: By the ONNX operator's name, with its domain unless that is the standard's.
        absent: Reasons why an operator has none, by its name.
    """

    exports: Mapping[str, Rule]
    imports: Mapping[str, Rule]
    absent: Mapping[str, str]


_kept: dict[int, tuple[Any, Rules]] = {}


def rules() -> Rules:
    """The rules of every installed package.

    Raises:
        DuplicateOperatorError: Two packages bring a rule for one operator.
    """
    found = operad.registry.loaded(GROUP)
    known = _kept.get(0)
    if known is None or known[0] is not found:
        known = _kept[0] = (found, _merged(found))
    return known[1]


def applied(rule: Rule, node: Any) -> list[str]:
    """The names of the values that a rule writes for the outputs of an `ExportNode`."""
    if isinstance(rule.rule, str):
        return [node.add(rule.rule, *node.inputs)]
    made = rule.rule(node)
    return [made] if isinstance(made, str) else list(made)


def _merged(modules: Any) -> Rules:
    merged = Rules({}, {}, {})
    for name, module, owner in modules:
        if not any(hasattr(module, table) for table in TABLES):
            warnings.warn(
                f"left out: onnx {name!r} of {owner} is {module!r}, expected a module with one of the tables "
                f"{', '.join(TABLES)}",
                RuntimeWarning,
                stacklevel=4,
            )
        for table, rules_of_all in zip(TABLES[:2], merged[:2], strict=True):
            for operator, rule in getattr(module, table, {}).items():
                _add(rules_of_all, operator, Rule(rule, owner))
        merged.absent.update(getattr(module, "ABSENT", {}))  # type: ignore[attr-defined]
    return merged


def _add(table: Any, name: str, rule: Rule) -> None:
    if name in table:
        raise DuplicateOperatorError(
            f"the ONNX rule for {name!r} is provided by {table[name].owner} and {rule.owner}; uninstall one, "
            "or set OPERAD_BLOCK to its name"
        )
    table[name] = rule
