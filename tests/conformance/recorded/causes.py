"""Causes of failed checks, found in a message or the id before it; the telling ones first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Cause:
    """A kind of difference.

    Attributes:
        pattern: Searched for in `id: message`.
        reason: In plain words; `{which}` is the pattern's group of that name.
        row: The first cell of the row in docs/differences.md that explains a deliberate one.
    """

    pattern: re.Pattern[str]
    reason: str
    row: str = ""

    @property
    def kind(self) -> str:
        """Kind of the difference."""
        return "deliberate" if self.row else "finding"


def _deliberate(pattern: str, row: str, reason: str) -> Cause:
    return Cause(re.compile(pattern), reason, row)


def _finding(pattern: str, reason: str) -> Cause:
    return Cause(re.compile(pattern), reason)


CAUSES: Final = (
    _deliberate(
        r"/(\w*empty\w*|of_nothing|\w*zero_length\w*|\w*no_rows\w*):forward: .*expected a refusal",
        "arrays of length 0",
        "MXNet refuses arrays of length 0",
    ),
    _deliberate(
        r"/refused_(\w*_)?(float16|float64|bool|u?int\d+)(_\w+)?:forward: .*expected a refusal"
        r"|expected a refusal: .*(not implemented|Unknown type enum|only support floating|do not support type"
        r"|mshadow: :DataType|only supports \w*float)",
        "element types",
        "MXNet has no kernel for the element type on a CPU",
    ),
    _deliberate(
        r"expected a refusal: .*index = -\d must be in range|/negative_axis:forward: .*expected a refusal",
        "negative axes",
        "MXNet refuses to count the axis from the end",
    ),
    _deliberate(
        r"Too many broadcast dimensions", "`broadcast_*` of six axes", "MXNet broadcasts five axes at most"
    ),
    _finding(
        r"array of \w+ has no gradient|which has no gradient", "arguments that are no floats get no gradient"
    ),
    _finding(r"head \d+ was not recorded", "backward is refused, where MXNet gives zeros"),
    _finding(r"refused: .*expected a floating type", "integers are refused, MXNet computes and truncates"),
    _finding(r"refused: .*data is bool, expected", "bool is refused, where MXNet computes"),
    _finding(r"unknown parameter '(?P<which>\w+)'", "parameter {which} is missing"),
    _finding(r"parameter '(?P<which>\w+)' is missing", "parameter {which} is required, MXNet has a default"),
    _finding(r"^\w+:aliases: ", "names that MXNet also has for the operator are missing"),
    _finding(r"^\w+:resaved: ", "MXNet's symbol file is not written again as it was"),
    _finding(r"^\w+:positional: ", "parameters by position come in another order"),
    _finding(r"^\w+:parameters: ", "the parameters are others"),
    _finding(r"^\w+:types: (?P<which>\w+): ", "parameter {which} is of another type"),
    _finding(r"^\w+:defaults: (?P<which>\w+): ", "parameter {which} has another default, or none"),
    _finding(r"^\w+:attributes: ", "hidden attributes of variables, such as `__init__`, differ"),
    _finding(r":(arguments|outputs|auxiliary|names): ", "names of variables or outputs differ"),
    _finding(r":dtype\.\w+: is", "the output has another element type"),
    _finding(r"expected a refusal", "computed, where MXNet refuses"),
    _finding(r"refused: ", "refused, where MXNet computes"),
    _finding(
        r"/\w*(inf|nan|special)\w*:(gradient|add): ", "gradients differ at infinite or undefined values"
    ),
    _finding(r"/\w*(inf|nan|special)\w*:(forward|bound): ", "results differ at infinite or undefined values"),
    _finding(r": gradient of input", "gradients differ"),
    _finding(r": new value ", "what the call changes of its inputs differs"),
    _finding(r": output \d+: \w+ \(.*expected \w+ \(", "the output's shape or element type differs"),
    _finding(r": output ", "outputs differ"),
    _finding(r": gradient ", "the inputs that get gradients are others"),
)


def cause_of(failure: str) -> Cause:
    """The cause that `id: message` points at, its reason filled in."""
    for cause in CAUSES:
        if found := cause.pattern.search(failure):
            return Cause(cause.pattern, cause.reason.format(**found.groupdict()), cause.row)
    return Cause(re.compile(""), failure)
