"""Kinds of cases, among which each check names the kinds of its examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final


@final
@dataclass(frozen=True, slots=True)
class CaseKind:
    """Kind of cases: sizes, numbers of axes and element types.

    Attributes:
        name: For reports, and the key under which cases are kept.
        sizes: Sizes of axes, smallest example first.
        ranks: Numbers of axes where any will do, smallest example first.
        dtypes: Element types to try, the preferred first; the first two that the operator takes
            are used.
        max_elements: Largest number of elements of all inputs together.
        each_at_most: Largest number of elements of each input, instead, for a goal that has no case within
            `max_elements` and is tried again with shorter axes; 0: all together are limited there too.
        share: Examples that are drawn, as a part of the profile's number; 0: all are designed.
    """

    name: str
    sizes: tuple[int, ...] = (1, 2, 3, 4)
    ranks: tuple[int, ...] = (1, 2, 3, 4)
    dtypes: tuple[str, ...] = ("float32", "float64", "int32", "int64", "bool")
    max_elements: int = 400
    each_at_most: int = 0
    share: float = 1.0


ORDINARY: Final = CaseKind("ordinary")
"""For properties of a forward pass."""

EDGES: Final = CaseKind("edges", sizes=(1, 0, 2), ranks=(1, 0, 2, 3, 4))
"""Axes of length 0 and 1, and no axes at all."""

SMOOTH: Final = CaseKind("smooth", sizes=(1, 2, 3), dtypes=("float64",), max_elements=40, share=0.5)
"""Small arrays in float64, for derivatives element by element."""

WIDE: Final = CaseKind("wide", sizes=(1, 2, 3, 5, 7), dtypes=("float64",), max_elements=1000)
"""Larger arrays in float64, for derivatives along directions and for identities of gradients."""

LARGE: Final = CaseKind("large", sizes=(2, 3, 4), ranks=(2, 1, 3), max_elements=20_000, share=0.0)
"""One axis that is long: blocks, vectors and threads of a kernel, sums of many terms."""

LONG: Final = CaseKind("long", sizes=(2, 3, 4), ranks=(2, 1, 3), max_elements=20_000, share=0.0)
"""Each of the sizes long, in float64: results beside a reference, gradients beside a derivative."""

BULK: Final = CaseKind("bulk", sizes=(2, 3, 4), ranks=(2, 1, 3), max_elements=20_000, share=0.0)
"""Long axes of values of one sort, for results alone: sums that overflow, places in a narrow type."""

EXTREME: Final = CaseKind(
    "extreme", sizes=(3, 4, 5, 2), ranks=(1, 2, 3), max_elements=60, each_at_most=400, share=0.0
)
"""Values at the ends of a type, and those that cancel, saturate or are all alike."""

SPECIAL: Final = CaseKind(
    "special",
    sizes=(1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096),
    dtypes=("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"),
    max_elements=2**17,
    share=0.0,
)
"""Cases that satisfy the condition of a kernel, whatever that takes."""

PARTS: Final = CaseKind("parts", sizes=(1,), ranks=(1,), max_elements=2**20, share=0.0)
"""Arrays of more elements than an operator computes at once, where the author says how many those are."""

ALL_KINDS: Final = (ORDINARY, EDGES, SMOOTH, WIDE, LARGE, LONG, BULK, EXTREME, SPECIAL, PARTS)

DESIGNED: Final = (BULK, EDGES, EXTREME, LARGE)
"""Kinds of cases that any operator might take, and that are designed for the most part."""
