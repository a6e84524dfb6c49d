"""What is done once: under a lock of our own, which nothing waits for for ever."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading

import pytest

from operad import first_use as module
from operad.first_use import cached_property, first_use, import_module, parse_source
from tools.workspace import ROOT


class Square:
    def __init__(self, side: int) -> None:
        self.side, self.times = side, 0

    @cached_property
    def area(self) -> int:
        """Side by side."""
        self.times += 1
        return self.side**2


def test_a_cached_property_is_worked_out_once_for_each_object() -> None:
    one, two = Square(3), Square(4)
    assert [one.area, one.area, two.area] == [9, 9, 16]
    assert (one.times, two.times) == (1, 1)
    assert Square.area.__doc__ == "Side by side."


def test_two_threads_that_work_a_property_out_get_what_the_first_one_found() -> None:
    meeting = threading.Barrier(2)

    class Slow:
        @cached_property
        def found(self) -> object:
            meeting.wait()
            return object()

    slow, seen = Slow(), []
    threads = [threading.Thread(target=lambda: seen.append(slow.found)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen[0] is seen[1]


def test_threads_do_what_is_done_once_one_at_a_time() -> None:
    inside, most = [], []

    def work() -> None:
        inside.append(1)
        most.append(len(inside))
        inside.pop()

    threads = [threading.Thread(target=lambda: [first_use(work) for _ in range(200)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1


def test_it_is_reentrant_and_free_after_an_error() -> None:
    assert first_use(first_use, len, "abc") == 3
    with pytest.raises(ZeroDivisionError):
        first_use(lambda: 1 / 0)
    assert module._lock.owner is None


def test_a_thread_does_not_wait_for_one_that_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_POLLS", 3)
    found: list[int] = []

    def start_another() -> None:
        other = threading.Thread(target=lambda: found.append(first_use(len, "abc")))
        other.start()
        other.join()

    first_use(start_another)
    assert found == [3]


def test_a_thread_in_the_midst_of_an_import_never_waits(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imports_and_uses.py").write_text(
        "from operad.first_use import first_use\nfound = first_use(len, 'abc')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module.time, "sleep", lambda _: pytest.fail("it waited"))
    module._lock.owner = -2
    del module._lock.token
    try:
        assert __import__("imports_and_uses").found == 3
    finally:
        module._lock.owner = module._lock.token = None


def test_a_parse_that_python_breaks_off_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, times = ast.parse, []

    def broken(*args: object, **options: object) -> object:
        times.append(1)
        if len(times) < 4:
            raise SystemError("AST constructor recursion depth mismatch")
        return parse(*args, **options)

    monkeypatch.setattr(ast, "parse", broken)
    assert ast.unparse(parse_source("1 + x", "eval")) == "1 + x"
    with pytest.raises(SyntaxError):
        parse_source("1 +", "eval")


def test_a_module_that_is_there_is_given_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "first_use", lambda *_: pytest.fail("it took the lock"))
    assert import_module("ast") is ast


def child_beside(folder, before: str, ready: str) -> None:
    """A child that is forked while another thread imports a module, which it imports too, and goes on.

    Args:
        before: What is done before the import begins.
        ready: What is done when it has begun, before the fork.
    """
    (folder / "slow_module.py").write_text("import slow_gate\nslow_gate.reached.set()\nslow_gate.go.wait()\n")
    (folder / "slow_gate.py").write_text(
        "import threading\nreached, held, free, go = (threading.Event() for _ in range(4))\n"
    )
    program = (
        "import os, signal, sys, threading\n"
        f"sys.path.insert(0, {str(folder)!r})\n"
        "import slow_gate\n"
        "from operad import engine, first_use\n"
        f"engine.get()\n{before}"
        "importer = threading.Thread(target=first_use.import_module, args=('slow_module',))\n"
        f"importer.start(); slow_gate.reached.wait()\n{ready}"
        "threading.Timer(0.1, slow_gate.go.set).start()\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    signal.alarm(20)\n"
        "    assert not first_use._lock.beside and not first_use._lock.slow\n"
        "    first_use.import_module('slow_module'); first_use.first_use(len, ''); os._exit(7)\n"
        "importer.join(); print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stdout == "7\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_for_an_import_of_another_thread(tmp_path) -> None:
    """The child would find the module's own lock taken."""
    child_beside(tmp_path, "", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_for_an_import_beside_a_slow_one_too(tmp_path) -> None:
    child_beside(
        tmp_path,
        "def hold(): slow_gate.held.set(); slow_gate.free.wait()\n"
        "holder = threading.Thread(target=first_use.first_use, args=(hold,))\n"
        "holder.start(); slow_gate.held.wait()\n",
        "assert first_use._lock.beside == {importer.ident}\nslow_gate.free.set(); holder.join()\n",
    )


def test_no_class_of_operads_turns_an_interrupt_into_another_error() -> None:
    """Python 3.11 and before wrap whatever comes out of `__set_name__`, as where a plugin is imported."""
    sources = [path for folder in ("core", "operator_sdk/*", "plugins/*", "contrib_ops/*")
               for path in ROOT.glob(f"{folder}/src/**/*.py")]  # fmt: skip
    assert len(sources) > 500
    assert [path for path in sources if "def __set_name__" in path.read_text("utf-8")] == []
