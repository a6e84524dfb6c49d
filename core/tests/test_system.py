"""What only some systems have: what stands in its place elsewhere, and that no other module asks."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from operad import system
from operad.system import last_level_cache_bytes
from tools.workspace import ROOT, distributions


def cache_folder(tmp_path, sizes):
    for number, text in enumerate(sizes):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(text)
    return tmp_path


def test_the_largest_cache_that_the_system_shows_counts(tmp_path):
    folder = cache_folder(tmp_path, ["32K\n", "1M\n", "32768K\n"])
    assert last_level_cache_bytes(folder) == 32 << 20


@pytest.mark.parametrize("sizes", [[], ["", "K", "some", "0K"]])
def test_where_the_system_shows_no_cache_a_usual_one_is_taken(tmp_path, sizes):
    assert last_level_cache_bytes(cache_folder(tmp_path, sizes)) == 16 << 20
    assert last_level_cache_bytes(tmp_path / "absent") == 16 << 20


def test_a_file_that_the_kernel_does_not_have_is_empty(tmp_path):
    assert system.kernel_text(str(tmp_path / "cpuinfo")) == ""
    assert system.machine()


PLAIN = """
import contextlib, ctypes, io, mmap, os, platform, signal, sys, tempfile
import numpy as np, pytest, hypothesis
from pathlib import Path
with contextlib.suppress(ImportError):
    import llvmlite, numba

LACKING = {
    os: "register_at_fork fork sched_getaffinity getloadavg fchmod fchown killpg O_CLOEXEC O_NONBLOCK",
    signal: "pthread_sigmask SIGHUP SIGALRM setitimer",
    mmap: "MADV_HUGEPAGE MAP_PRIVATE MAP_ANONYMOUS",
}
for module, names in LACKING.items():
    for name in names.split():
        delattr(module, name)
sys.modules |= {"resource": None, "fcntl": None, "pwd": None, "termios": None}
given = io.open
def opened(file, *words, **named):
    if str(file).startswith(("/proc/", "/sys/")):
        raise FileNotFoundError(file)
    return given(file, *words, **named)
io.open = __builtins__.open = opened
sys.platform = "other"

import operad as od
from operad_check.mutants.judged import judged

x = od.nd.array(np.linspace(-1, 1, 1 << 20).reshape(1 << 10, -1))  # a block of 4 MiB
np.testing.assert_allclose(od.nd.tanh(x).asnumpy(), np.tanh(x.asnumpy()), rtol=1e-5, atol=1e-7)
net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=8), od.sym.var("label"))
bound = net.simple_bind(data=(64, 512), label=(64,))
bound.forward(is_train=True)
bound.backward()
assert bound.grad_dict["data"].asnumpy().shape == (64, 512)
with tempfile.TemporaryDirectory() as folder:
    for _ in range(2):  # the second takes the place of the first
        od.nd.save(f"{folder}/x", [x])
    np.testing.assert_array_equal(od.nd.load(f"{folder}/x")[0].asnumpy(), x.asnumpy())
assert judged("_plus_scalar", "operad_elemwise.nothing", None, 600.0).killed_by == ""
print("computed")
"""


@pytest.mark.more
def test_operad_computes_where_a_system_has_none_of_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PLAIN],
        env={**os.environ, "OPERAD_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "computed\n", done.stderr


ONLY_THERE = {
    "fchmod", "fchown", "fork", "getloadavg", "killpg", "pthread_kill", "pthread_sigmask", "register_at_fork",
    "sched_getaffinity", "sched_setaffinity", "setitimer",
}  # fmt: skip
NAMES = ("MADV_", "MAP_ANON", "MAP_PRIVATE", "RLIMIT_", "SIGHUP")
MODULES = {"fcntl", "grp", "pwd", "resource", "termios"}
MODULES_ASKED = {"mmap", "os", "signal", "sys"}
WORDS = {*ONLY_THERE, *NAMES, *(f"import {name}" for name in MODULES), "sys.platform", "/proc/", "/sys/"}
"""Modules without any of these need not be parsed."""


def of_one_system(source):
    """Lines and names in a module that only some systems have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.attr
            if node.value.id in MODULES_ASKED and (name in ONLY_THERE or name.startswith(NAMES)):
                yield node.lineno, name
            if node.value.id == "sys" and name == "platform":
                yield node.lineno, "sys.platform"
        elif isinstance(node, ast.Import) and (found := {each.name for each in node.names} & MODULES):
            yield node.lineno, *found
        elif isinstance(node, ast.Constant) and str(node.value).startswith(("/proc/", "/sys/")):
            yield node.lineno, node.value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import resource", [(1, "resource")]),
        ("import os\nos.register_at_fork(before=f)", [(2, "register_at_fork")]),
        ("open('/proc/meminfo')", [(1, "/proc/meminfo")]),
        ("import sys\nsys.platform == 'linux'", [(2, "sys.platform")]),
        ("signal.signal(signal.SIGHUP, f)", [(1, "SIGHUP")]),
        ("from operad import resource\nos.replace(a, b)\nself.fork()", []),
    ],
)
def test_what_only_some_systems_have_is_recognized(source, expected):
    assert list(of_one_system(source)) == expected


def test_one_module_alone_asks_for_what_only_some_systems_have():
    found = {
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for each in distributions()
        for file in (each.folder / "src").rglob("*.py")
        if file != ROOT / "core/src/operad/system.py"
        if any(word in (text := file.read_text("utf-8")) for word in WORDS)
        for line, name in of_one_system(text)
    }
    assert found == set()
