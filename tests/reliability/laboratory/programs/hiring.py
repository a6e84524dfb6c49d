"""Programs in which engines start workers, and let them go."""

from __future__ import annotations

from operad import engine, errors
from tests.reliability.laboratory.programs.program import Cell, Parts, expect, program


@program(num_threads=2)
def hire_and_stop() -> Parts:
    """Two threads push to an engine without workers; one of them stops it, and pushes to the next."""
    engine.stop()
    one, other, accepted = Cell("one"), Cell("other"), list[str]()

    def push_and_stop() -> None:
        one.push("a")
        engine.stop()
        one.push("b")
        one.wait("a", "b")

    def push() -> None:
        try:
            other.push("c")
        except errors.EngineStoppedError:
            return
        accepted.append("c")
        other.wait("c")

    def check() -> None:
        expect(one.ran, ["a", "b"])
        expect(other.ran, accepted)

    return [push_and_stop, push], check
