"""Forked children of a process whose locks are held by threads that the children do not have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import operad

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
]

IN_CHILD = """
import os, signal, sys, threading
import operad as od
from operad import locks, registry, resource, storage

def child_of_fork(beside, use):
    \"\"\"Fork while another thread is within `beside`, which calls what it gets there; then `use`.\"\"\"
    is_there, is_over = threading.Event(), threading.Event()
    def hold():
        beside(lambda: (is_there.set(), is_over.wait()))
    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    is_there.wait()
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # which ends a child that hangs, and is no success
        use()
        os._exit(0)
    is_over.set()
    thread.join()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def exit_code_of_child(program: str) -> int:
    source = IN_CHILD + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", source], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_a_forked_child_works_though_another_thread_held_every_lock() -> None:
    pytest.importorskip("operad_elemwise", reason="the child imports its tanh")
    code = exit_code_of_child("""
        from contextlib import ExitStack
        storage.get(), resource.get().request(od.cpu(), resource.ResourceRequest.TEMP_SPACE)

        def holding_all(told):
            with ExitStack() as stack:
                for lock in list(locks._locks):
                    stack.enter_context(lock)
                told()

        def use():
            registry.refresh()
            assert registry.get("tanh").name == "tanh"
            storage.get().alloc(1 << 20, od.cpu(3))
            resource.get().request(od.cpu(3), resource.ResourceRequest.RANDOM).generator.random()

        print(child_of_fork(holding_all, use))
    """)
    assert code == 0


def test_what_the_forking_thread_holds_it_gives_back_itself_in_the_child() -> None:
    code = exit_code_of_child("""
        lock, free = locks.new_lock(), []

        def use():
            other = threading.Thread(target=lambda: free.append(lock.acquire(timeout=30)))
            other.start()
            other.join()

        with lock:
            pid = os.fork()
        if pid == 0:
            use()
            os._exit(0 if free == [True] else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    """)
    assert code == 0


@pytest.mark.more
def test_a_forked_child_reads_the_manifest_that_another_thread_was_reading() -> None:
    pytest.importorskip("operad_elemwise", reason="the child finds its tanh")
    code = exit_code_of_child("""
        parent, told_by = os.getpid(), []

        class Finder:
            @staticmethod
            def find_distributions(context):
                if os.getpid() == parent:
                    told_by.pop()() if told_by else None
                return ()

            @staticmethod
            def find_spec(*_):
                return None

        sys.meta_path.insert(0, Finder)

        def reading(told):
            told_by.append(told)
            registry.operators()

        print(child_of_fork(reading, lambda: registry.operators()["tanh"]))
    """)
    assert code == 0


def test_locks_outside_the_engine_are_those_that_a_child_renews() -> None:
    root = Path(operad.__file__).parent
    files = [path for path in root.rglob("*.py") if "engine" not in path.relative_to(root).parts]
    makes_own = re.compile(r"threading\.R?Lock\(|allocate_lock\(")
    found = {path.name for path in files if makes_own.search(path.read_text())}
    assert found == {"locks.py"}
