"""Random programs for an engine, and what they compute when they are run one operation after another."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from operad.device import cpu
from operad.engine import Engine

CTX = cpu()

Program = list[tuple[tuple[int, ...], tuple[int, ...], bool]]
VARIABLES = 6


@st.composite
def programs(draw: st.DrawFn, most: int) -> Program:
    """Programs of at most `most` operations: what each reads, what it writes, and whether it is inline."""
    size = draw(st.integers(1, most))
    named = st.lists(st.integers(0, VARIABLES - 1), unique=True, max_size=4)
    program = []
    for _ in range(size):
        variables = draw(named)
        cut = draw(st.integers(0, len(variables)))
        program.append((tuple(variables[:cut]), tuple(variables[cut:]), draw(st.booleans())))
    return program


def serial(program: Program) -> list[int]:
    """The values after `program`, one operation after another."""
    values = [0] * VARIABLES
    for number, (reads, writes, _) in enumerate(program):
        compute(values, number, reads, writes)
    return values


def compute(values: list[int], number: int, reads: tuple[int, ...], writes: tuple[int, ...]) -> None:
    total = sum(values[i] for i in (*reads, *writes)) * 31 + number
    for i in writes:
        values[i] = (total + i) % 1_000_003


def on_engine(engine: Engine, program: Program) -> list[int]:
    """Run `program`; where its third entry says so, inline if the engine allows it."""
    values = [0] * VARIABLES
    variables = [engine.new_variable() for _ in range(VARIABLES)]
    for number, (reads, writes, is_inline) in enumerate(program):
        const_vars, mutable_vars = [variables[i] for i in reads], [variables[i] for i in writes]
        arguments = (values, number, reads, writes)
        if is_inline and engine.run_inline(compute, arguments, CTX, const_vars, mutable_vars, None):
            continue
        engine.push_sync(
            lambda _, arguments=arguments: compute(*arguments),
            CTX,
            const_vars,
            mutable_vars,
            priority=number % 3,
        )
    for var in variables:
        engine.wait_to_write(var)
    return values


def random_program(seed: int, size: int) -> Program:
    """A program of `size` operations, the same for the same seed."""
    source, program = random.Random(seed), []
    for _ in range(size):
        variables = source.sample(range(VARIABLES), source.randint(0, 4))
        cut = source.randint(0, len(variables))
        program.append((tuple(variables[:cut]), tuple(variables[cut:]), source.random() < 0.3))
    return program
