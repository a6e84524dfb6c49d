"""A specialized function is the function with some parameters fixed, by fewer steps."""

from __future__ import annotations

import dis
import inspect
import traceback
from itertools import product

import pytest

from operad.imperative import specialize
from operad.imperative.specialize import specialized


def shown(data: list, *, count: int, has_more: bool) -> list:
    found = []
    if count == 1:
        found.append("one")
    elif count > 2 and has_more:
        found.append("many and more")
    else:
        found.append("some")
    if not has_more:
        found.append("no more")
    if (count > 1 and data) or (count > 2 and not data):
        found.append("data" if data else "none")
    if data and has_more and count == 3:
        raise ValueError("specialized")
    return found


@pytest.mark.parametrize(("count", "has_more"), list(product([1, 2, 3], [False, True])))
@pytest.mark.parametrize("data", [[], [1]])
def test_a_copy_gives_what_the_function_gives(data: list, count: int, has_more: bool) -> None:
    def outcome(call, **known):  # type: ignore[no-untyped-def]
        try:
            return call(data, **known)
        except ValueError as error:
            return str(error)

    copy = specialized(shown, count=count, has_more=has_more)
    assert outcome(copy) == outcome(shown, count=count, has_more=has_more)


def test_what_is_known_is_neither_taken_nor_asked_for() -> None:
    copy = specialized(shown, count=1, has_more=False)
    assert list(inspect.signature(copy).parameters) == ["data"]
    assert not {"count", "has_more"} & {step.argval for step in dis.get_instructions(copy)}
    assert len(list(dis.get_instructions(copy))) < len(list(dis.get_instructions(shown))) / 2


def together(values: tuple, *, has_more: bool) -> list:
    return shown([*values], count=max(0, *values), has_more=has_more)


@pytest.mark.parametrize("values", [(1,), (1, 2), (0, 0, 5)])
def test_tuples_of_known_length_are_written_out(values: tuple) -> None:
    copy = specialized(together, {"values": len(values)}, has_more=False)
    assert copy(values) == together(values, has_more=False)
    calls = [step.opname for step in dis.get_instructions(copy)]
    assert "CALL_FUNCTION_EX" not in calls
    assert "CALL_FUNCTION_EX" in [step.opname for step in dis.get_instructions(together)]


def test_a_traceback_shows_the_lines_of_the_function() -> None:
    with pytest.raises(ValueError, match="specialized") as caught:
        specialized(shown, count=3, has_more=True)([1])
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (__file__, "shown", 'raise ValueError("specialized")')


def test_without_source_text_the_values_are_passed_along(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        raise OSError("could not get source code")

    monkeypatch.setattr(specialize, "_source_lines", none)
    copy = specialized(shown, count=1, has_more=False)
    assert copy([]) == shown([], count=1, has_more=False)
