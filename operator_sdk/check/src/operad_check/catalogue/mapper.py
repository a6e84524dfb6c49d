"""Group A: scalar mappers and scalar forms."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

MAPPER: Final = (
    Check(
        "A701",
        "all back ends of a mapper agree within a few units in the last place",
        "A mapper runs as Python, NumPy, compiled code and on GPUs, and nobody chooses which.",
        "SLOPE = 0.1\n@mapper\ndef leaky(x): return x if x > 0 else SLOPE * x\nSLOPE = 0.2    # too late",
        "Pass what varies as an argument; constants are fixed when the mapper is made.",
    ),
    Check(
        "A702",
        "the examples enter every branch of a mapper",
        "A branch that no example enters is untested, and one that none can enter is a mistake.",
        "if x > limit and x < -limit:    # never\n    return 0.0",
        "Correct the condition, or declare values that reach it: Contract(inputs=..., params=...).",
    ),
    Check(
        "A703",
        "a written slope is the mapper's own, but for kinks",
        "Whoever differentiates by hand errs; whoever changes the function forgets the slope.",
        "from_mapper(softplus, slope=softplus_slope)    # that of another sharpness",
        'Correct the slope, or leave it out: slope="auto".',
    ),
    Check(
        "A704",
        "the scalar form of each part gives what the operator gives, values and gradients",
        "Plans compute the form in place of the kernels; a network must not change when it is fused.",
        '@from_mapper_operator.kernel("cpu", priority=1)\ndef fast(data): ...    # approximates',
        "Change the function with the kernel, or keep the kernel out of where they differ with when=.",
    ),
)
