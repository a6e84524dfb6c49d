"""Every thread of operad leaves signals to the program, and no signal's handler ends its start half-way.

`start_thread` starts threads; pools, whose threads begin with `block_signals`, are the other way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools.workspace import distributions

_STARTING = ("Thread", "Timer", "ThreadPoolExecutor", "start_new_thread", "start_thread")


def started(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Each call that starts a thread or a pool, and whether it is one of those two ways."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func).split(".")[-1]
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            is_own = name == "Thread" and not any(keyword.arg == "target" for keyword in call.keywords)
            if name in _STARTING and not is_own:
                blocks = "block_signals" in map(ast.unparse, values)
                yield (
                    ast.unparse(call),
                    name == "start_thread" or (name == "ThreadPoolExecutor" and blocks),
                )


def test_the_scan_sees_each_way_to_start_a_thread() -> None:
    source = (
        "start_thread('a', print)\nThread(target=good)\nThread(a, b)\nthreading.Timer(1, print)\n"
        "_thread.start_new_thread(a, ())\nThreadPoolExecutor(3)\nThreadPoolExecutor(3, 'a', block_signals)"
    )
    assert [is_right for _, is_right in started(ast.parse(source))] == [
        True,
        False,
        False,
        False,
        False,
        True,
    ]


def test_every_thread_is_started_so() -> None:
    found = [
        (file.name, *one)
        for distribution in distributions()
        for file in (distribution.folder / "src").rglob("*.py")
        if "templates" not in file.parts
        if "hread" in (text := file.read_text()) or "Timer" in text
        for one in started(ast.parse(text))
    ]
    assert len(found) > 10
    wrong = [(name, what) for name, what, is_right in found if not is_right]
    assert {name for name, _ in wrong} == {"interrupts.py"}, wrong  # `start_thread` itself
