"""Every marked stretch of the core is one step of the running interpreter; what is none is refused."""

from __future__ import annotations

import textwrap
from collections import deque
from heapq import heappop
from pathlib import Path

import pytest

from tests.reliability.laboratory.commits import MODULES, PACKAGES, Names, check, check_operad, marks_of

ROOT = Path(__file__).parents[3]


class _Slots:
    __slots__ = ("count", "next", "owner", "token")


class _Other:
    def method(self) -> None:
        pass

    @property
    def derived(self) -> int:
        return 1


NAMES = Names([_Slots, _Other], {"heappop": heappop, "deque": deque, "helper": lambda: None})


def _checked(body: str, opening: str = "# commit: begin", closing: str = "# commit: end") -> list[str]:
    return _check(f"{opening}\n{textwrap.dedent(body).strip()}\n{closing}")


def _check(body: str) -> list[str]:
    text = f"{textwrap.dedent(body)}\nreturn\n"
    source = "def f(lock, items, other, value):\n" + textwrap.indent(text, "    ")
    _, wrong = check(source, "f.py", NAMES)
    return wrong


def test_the_stretches_of_the_core_are_steps() -> None:
    count, wrong = check_operad()
    assert wrong == []
    assert count > 60


def test_no_source_has_a_stretch_that_is_not_checked() -> None:
    checked = tuple(name.replace(".", "/") for name in (*PACKAGES, *MODULES))
    marked = [
        path.as_posix() for folder in ("core", "operator_sdk", "plugins", "contrib_ops")
        for path in (ROOT / folder).rglob("src/**/*.py") if marks_of(path.read_text()).stretches
    ]  # fmt: skip
    assert marked
    assert [path for path in marked if not path.partition("/src/")[2].startswith(checked)] == []


@pytest.mark.parametrize(
    "body",
    [
        "lock.owner = value\nlock.token = None",
        "owner = lock.owner\nif owner is not None and not lock.count:\n    lock.owner = lock.token = None",
        "del lock.token; lock.owner = value",
        "first = items[0]\nlast = items[-1]\ndel items[0]\nlock.owner = first",
        "if lock.owner is value:\n    return\nlock.owner = value",
        "lock.next.owner = lock.next = value",
    ],
)
def test_a_stretch_of_loads_and_stores_is_a_step(body: str) -> None:
    assert _checked(body) == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("lock.owner = other()", "looks at signals"),
        ("lock.owner = other(*items)", "looks at signals"),
        ("while lock.owner:\n    lock.owner = lock.next", "looks at signals"),
        ("for each in items:\n    lock.owner = each", "is not allowed"),
        ("import os", "looks at signals"),
        ("lock.owner = yield", "looks at signals"),
        ("lock.owner = f'{value}'", "looks at signals"),
        ("with other:\n    lock.owner = value", "looks at signals"),
        ("lock.owner = lambda: 1", "is not allowed"),
        ("lock.count += 1", "is not allowed"),
        ("lock.owner = (value, other)", "is not allowed"),
        ("lock.owner = [value]", "is not allowed"),
        ("lock.owner = {}", "is not allowed"),
        ("lock.owner = items[1:]", "is not allowed"),
        ("lock.owner = items[value]", "not counted by a constant"),
        ("items[0] = value", "is not allowed"),
        ("items['key'] = value", "is not allowed"),
        ("lock.owner = -value", "is not allowed"),
        ("lock.owner = value in items", "is not allowed"),
        ("lock.owner, lock.next = items", "is not allowed"),
        ("lock.owner = value\ndel items[0]", "behind a store"),
        ("lock.owner = other.method", "is a function"),
        ("lock.owner = other.derived", "is a property"),
        ("lock.unknown = value", "is no slot"),
        ("del lock.unknown", "is no slot"),
        ("# nothing", "without an instruction"),
    ],
)
def test_what_looks_allocates_or_runs_code_is_refused(body: str, why: str) -> None:
    found = _checked(body)
    assert found
    assert any(why in text for text in found), found


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("lock.owner = value\nitems.append(value)", None),
        ("lock.owner = items[0]\nheappop(items)", None),
        ("items.append(value)\nlock.owner = value", "stands behind the call"),
        ("items.append(value)\nitems.append(value)", "more than one call"),
        ("lock.owner = value\nhelper()", "none of C's functions"),
        ("lock.owner = value\nother.method()", "none of C's functions"),
        ("lock.owner = value", "ends without a call"),
    ],
)
def test_a_stretch_may_end_with_one_call_of_c(body: str, why: str | None) -> None:
    found = _checked(body, closing="# commit: end with a call")
    assert bool(found) is (why is not None)
    assert all(why is not None and why in text for text in found), found


def test_a_line_may_be_a_stretch_of_its_own() -> None:
    assert _check("lock.owner = lock.token = None  # commit") == []
    assert "CALL" in _check("lock.owner = other()  # noqa: X # commit")[0]
    assert _check("lock.owner = other()  # no commitment") == []


@pytest.mark.parametrize(
    "body",
    [
        "# commit: begin\npass",
        "pass\n# commit: end",
        "# commit: begin\n# commit: begin\nlock.owner = None\n# commit: end",
    ],
)
def test_marks_that_do_not_fit_are_refused(body: str) -> None:
    assert _check(body)


@pytest.mark.parametrize(
    ("mark", "body", "is_right"),
    [
        ("", "lock.owner = lock.token = None  # commit\nother()", True),
        ("", "other()\nlock.owner = lock.token = None  # commit", False),
        ("", "if lock.count:\n    other()\n# commit: begin\nlock.token = None\n# commit: end", False),
        ("", "other()", True),  # nothing is promised
        ("  # certain", "lock.owner = value\nother()", True),
        ("  # certain", "# for good\nother()\nlock.owner = value", False),
    ],
)
def test_a_finally_reaches_its_commit_without_a_call(mark: str, body: str, is_right: bool) -> None:
    found = _check(f"try:\n    other()\nfinally:{mark}\n{textwrap.indent(body, '    ')}")
    assert (found == []) is is_right, found


def test_only_a_finally_can_be_certain() -> None:
    assert _check("lock.owner = value  # certain")
