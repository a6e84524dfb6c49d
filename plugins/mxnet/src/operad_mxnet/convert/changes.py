"""Differences between the file that is written and the one that was read, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from operad_mxnet.convert.upgrade import Node, attributes

_OF_ARGUMENTS: Final = ("_lr_mult", "_wd_mult")
"""Ends of what operators said of their arguments, as `weight_lr_mult`."""


@final
@dataclass(frozen=True, slots=True)
class Change:
    """One kind of difference.

    Attributes:
        what: The difference, in words.
        nodes: How many nodes have it.
    """

    what: str
    nodes: int


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Differences between two symbol files' documents, the most frequent first."""
    old_nodes: dict[str, Node] = {node["name"]: node for node in before["nodes"]}
    found = Counter(words for node in after["nodes"] for words in _words(old_nodes.get(node["name"]), node))
    return [Change(what, count) for what, count in found.most_common()]


def _words(old: Node | None, new: Node) -> Iterator[str]:
    if old is None:
        yield (
            "a variable that the file left out stands in it"
            if new["op"] == "null"
            else "a node has a new name"
        )
        return
    if old["op"] != new["op"]:
        yield f"operator {old['op']} is {new['op']}"
    if "param" in old or "attr" in old:
        yield "attributes stand under 'attrs'"
    said, says = attributes(old), attributes(new)
    for key, value in said.items():
        if key in says:
            if says[key] != value:
                yield f"{key}={value} is {key}={says[key]}"
        elif f"__{key}__" in says:
            yield f"attribute {key} is __{key}__"
        elif key.endswith(_OF_ARGUMENTS):
            yield f"attribute {key} stands at the variable"
        else:
            yield f"{key}={value} is left out"
