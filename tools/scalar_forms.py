"""Write into `docs/authoring/scalar-forms.md` which operators have scalar forms, and why others have none.

Asked are all operators whose arrays have one shape, in float32 and float64, at every value of every
parameter that the contract checks plan, and some of each family whose arrays have several. `--check`
changes nothing and fails where the page is not what would be written.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad import registry
from operad.cli.samples import sample_property
from operad.errors import OperadError
from operad.operator import OperatorProperty
from operad_check.cases.params import planned_values
from operad_check.trials.subject import subject_of
from tools.generated import keep_current, parser_of
from tools.workspace import ROOT

PAGE: Final = ROOT / "docs" / "authoring" / "scalar-forms.md"
BEGIN: Final = "<!-- written by `python -m tools.scalar_forms`, do not edit -->"
END: Final = "<!-- end -->"
SHAPE: Final = (4, 5)
_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))
_LENGTHS: Final = (2, 1)
_IMAGES: Final = (4, 6, 5, 7)
FAMILIES: Final[tuple[tuple[str, dict[str, Any], list[Any]], ...]] = (
    ("FullyConnected", {"num_hidden": 3}, [(4, 6), (3, 6), (3,)]),
    ("Convolution", {"num_filter": 8, "kernel": (3, 3)}, [_IMAGES, (8, 6, 3, 3), (8,)]),
    ("broadcast_add", {}, [(4, 5), (5,)]),
    ("LeakyReLU", {"act_type": "prelu"}, [_IMAGES, (6,)]),
    ("LayerNorm", {}, [(4, 6, 5), (5,), (5,)]),
    ("InstanceNorm", {}, [_IMAGES, (6,), (6,)]),
    ("GroupNorm", {"num_groups": 2}, [_IMAGES, (2,), (2,)]),
    ("BatchNorm", {"use_global_stats": True, "fix_gamma": False}, [_IMAGES, (6,), (6,)]),
    ("BatchNorm", {"fix_gamma": False}, [_IMAGES, (6,), (6,)]),
    ("L2Normalization", {}, [_IMAGES]),
    ("softmax", {"axis": 1}, [_IMAGES]),
    ("log_softmax", {}, [(4, 5)]),
    ("SoftmaxOutput", {}, [(4, 5), (4,)]),
    ("sum", {"axis": (0, 2)}, [_IMAGES]),
    ("mean", {}, [_IMAGES]),
    ("norm", {}, [_IMAGES]),
    ("max", {"axis": 1}, [_IMAGES]),
    ("transpose", {}, [_IMAGES]),
    ("expand_dims", {"axis": 1}, [_IMAGES]),
    ("reshape", {"shape": (4, -1)}, [_IMAGES]),
    ("slice_axis", {"axis": 1, "begin": 1, "end": 3}, [_IMAGES]),
    ("SliceChannel", {"num_outputs": 2}, [_IMAGES]),
    ("Concat", {"num_args": 2}, [_IMAGES, _IMAGES]),
    ("broadcast_axis", {"axis": 0, "size": 4}, [(1, 5)]),
    ("Pooling", {"kernel": (2, 2)}, [_IMAGES]),
    ("Embedding", {"input_dim": 5, "output_dim": 6}, [(4,), (5, 6)]),
)
"""Operators whose arrays have several shapes: names, parameters and the shapes of arguments."""


@final
class Found(NamedTuple):
    """Findings about one part of an operator.

    Attributes:
        asked: How often it was asked for.
        reasons: Why there was no form, and one parameter value for each reason.
        missing: How often there was none.
    """

    asked: int
    missing: int
    reasons: dict[str, str]


def found_forms() -> tuple[dict[str, Found], dict[str, Found]]:
    """Forms of operators, by name: of the forward pass, and of all gradients together."""
    forward, gradients = {}, {}
    for name in registry.list_operators(aliases=False):
        parts = _asked(name)
        if "forward" in parts:
            forward[name] = _summary([parts.pop("forward")])
        if parts:
            gradients[name] = _summary(list(parts.values()))
    return forward, gradients


@final
class Counts(NamedTuple):
    """Numbers of operators: all, and those that have a form always, sometimes and never."""

    all: int
    always: int
    sometimes: int
    never: int


def counts(found: dict[str, Found]) -> Counts:
    """Numbers of operators by the forms of one part."""
    always = sum(not one.missing for one in found.values())
    never = sum(one.missing == one.asked for one in found.values())
    return Counts(len(found), always, len(found) - always - never, never)


def _asked(name: str) -> dict[str, list[tuple[str, str | None]]]:
    """For each part, and each time: the parameter that was changed, and why there is no form."""
    parts: dict[str, list[tuple[str, str | None]]] = defaultdict(list)
    for changed, prop in variants(name):
        shapes = [SHAPE] * len(prop.list_arguments())
        for dtype in _TYPES:
            types = [dtype] * len(shapes)
            if not has_same_shapes(prop, shapes, types):
                continue
            for part in prop.list_parts():
                form = prop.scalar_form(part, shapes, types)
                parts[part].append((changed, form if isinstance(form, str) else None))
    return parts


def variants(name: str) -> Iterator[tuple[str, OperatorProperty]]:
    """The operator as it is, and with one parameter at a time at each planned value."""
    subject = subject_of(name)
    try:
        base = sample_property(subject.cls, {})
    except OperadError:
        return
    yield "", base
    own = {key: getattr(base, key) for key in subject.cls.params}
    for key, declared in subject.cls.params.items():
        values = {repr(v): v for length in _LENGTHS for v in planned_values(subject, declared, length)}
        for text, value in values.items():
            try:
                yield f"{key}={text}", subject.cls(**{**own, key: value})
            except OperadError:
                continue


def has_same_shapes(prop: OperatorProperty, shapes: Sequence[Any], types: Sequence[Any]) -> bool:
    """Return whether an operator takes arrays of these shapes and types, and all arrays have one shape."""
    try:
        inferred = prop.infer_shape(shapes)
        prop.infer_type(types)
    except OperadError:
        return False
    return bool(shapes) and all(shape == SHAPE for group in inferred for shape in group)


def _summary(parts: Sequence[Sequence[tuple[str, str | None]]]) -> Found:
    every = [answer for part in parts for answer in part]
    reasons: dict[str, str] = {}
    for changed, reason in every:
        if reason is not None:
            reasons.setdefault(reason, changed)
    return Found(len(every), sum(reason is not None for _, reason in every), reasons)


def families() -> str:
    """The table of operators whose arrays have several shapes."""
    lines = ["| operator | a form | none |", "|---|---|---|"]
    for name, params, shapes in FAMILIES:
        prop = registry.get(name)(**params)
        forms = {
            part: prop.scalar_form(part, shapes, [_TYPES[0]] * len(shapes)) for part in prop.list_parts()
        }
        having = [f"`{part}`" for part, form in forms.items() if not isinstance(form, str)]
        reasons: dict[str, list[str]] = defaultdict(list)
        for part, form in forms.items():
            if isinstance(form, str):
                reasons[form].append(f"`{part}`")
        shown = ", ".join(f"{key}={value}" for key, value in params.items())
        lacking = "; ".join(f"{', '.join(parts)}: {reason}" for reason, parts in reasons.items())
        lines.append(f"| `{name}`{f' ({shown})' if shown else ''} | {', '.join(having)} | {lacking} |")
    return "\n".join(lines)


def table() -> str:
    """Text of the page between its markers."""
    found = dict(zip(("forward", "gradients"), found_forms(), strict=True))
    lines = ["| part | operators | a form at every value | at some values | none |", "|---|---|---|---|---|"]
    lines += [f"| {part} | {' | '.join(map(str, counts(one)))} |" for part, one in found.items()]
    for part, one in found.items():
        lines += ["", f"Without a form at every value, {part}:", "", "| reason | operators |", "|---|---|"]
        by_reason: dict[str, list[str]] = defaultdict(list)
        for name, each in one.items():
            for reason, changed in each.reasons.items():
                is_always = each.missing == each.asked or not changed
                by_reason[reason].append(f"`{name}`" if is_always else f"`{name}` (`{changed}`)")
        lines += [f"| {reason} | {', '.join(names)} |" for reason, names in sorted(by_reason.items())]
    lines += ["", "Operators whose arrays have several shapes, in float32:", "", families()]
    return "\n".join(lines)


def with_table(page: str, text: str) -> str:
    """The page with the table between its markers."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the table, or with `--check` say whether it is current."""
    arguments = parser_of(main.__doc__, "the table", has_root=False).parse_args()
    stale = f"stale: {PAGE}; run `python -m tools.scalar_forms`"
    return keep_current(PAGE, with_table(PAGE.read_text(), table()), stale, is_check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
