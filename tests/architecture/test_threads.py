"""Every thread that operad starts leaves signals to the program: its first step is `block_signals()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tools.workspace import distributions


def started(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """The target of each thread, or the pool, and whether it calls `block_signals`."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func).split(".")[-1]
        if name == "ThreadPoolExecutor":
            yield (
                ast.unparse(call),
                any(
                    ast.unparse(value) == "block_signals"
                    for value in [*call.args, *(keyword.value for keyword in call.keywords)]
                ),
            )
        if name in ("Thread", "Timer") and any(keyword.arg == "target" for keyword in call.keywords):
            target = next(ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "target")
            function = functions.get(target.split(".")[-1])
            # An engine's worker does so where it bears exceptions, a few lines on.
            yield (
                target,
                function is not None
                and any(call in ast.unparse(function) for call in ("block_signals()", "become_helper()")),
            )


def test_the_scan_sees_each_way_to_start_a_thread() -> None:
    source = (
        "def good(): block_signals()\ndef bad(): pass\nThread(target=good)\nThread(target=self.bad)\n"
        "threading.Thread(target=print)\nThreadPoolExecutor(3)\nThreadPoolExecutor(3, 'a', block_signals)"
    )
    assert [is_right for _, is_right in started(ast.parse(source))] == [True, False, False, False, True]


def test_every_thread_blocks_signals() -> None:
    found = [
        (file.name, *one)
        for distribution in distributions()
        for file in (distribution.folder / "src").rglob("*.py")
        if "templates" not in file.parts
        if "Thread" in (text := file.read_text()) or "Timer" in text
        for one in started(ast.parse(text))
    ]
    assert len(found) > 10
    assert [(name, what) for name, what, is_right in found if not is_right] == []
