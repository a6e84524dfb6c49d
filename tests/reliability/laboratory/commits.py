"""The rule of commits, proved on byte code: a marked stretch of source is one step of the interpreter.

Marks are comments: `# commit: begin` and `# commit: end` around a stretch, `# commit` behind a line that is
one by itself, `# commit: end with a call` where the last instruction is one call of a C function (the
interpreter looks at signals when that has returned, and by then all is done). A `finally` that holds a
commit reaches it without looking; one whose line is marked `# certain` ends its first statement so.

**Where the interpreter looks** at signals, asynchronous exceptions and other threads' wish to run was
measured on CPython 3.11.7, 3.12.1 and 3.13.0 (`python -m tests.reliability.laboratory delivery`; 240
traced signals, one before each instruction of a probe, and 20,000 of a timer, on each):

* at RESUME, the entry of a function or generator;
* at JUMP_BACKWARD, and in 3.11 at POP_JUMP_BACKWARD_IF_* where it jumps (the test at the end of a `while`);
* behind CALL and CALL_FUNCTION_EX (3.11: PRECALL, too, which makes the call of many C functions);
* signals alone: where an object's text is made (FORMAT_VALUE, FORMAT_SIMPLE: `PyObject_Str` asks);
* nowhere else: not at loads, stores and deletions of locals, attributes and items, arithmetic, comparison,
  building of tuples, lists and dictionaries, jumps forward, FOR_ITER, the beginning or end of `try`,
  `except`, `finally` and `with` (the call of a Python `__enter__` looks at its own RESUME).

**What is allowed in a stretch** is a list, `ALLOWED`, and all else is refused: what is on it neither looks,
nor runs Python code, nor allocates. Arithmetic is not on it, for a sum is a new object; nor is BUILD_TUPLE.
In 3.11 an allocation may also start the collector, and with it finalizers in Python. LOAD_ATTR is on it
where no class of the engine defines the name as a function or property, since a bound method is an
allocation and a property a call; STORE_ATTR and DELETE_ATTR where a class has a slot of that name: a slot
is a place in the object, and setting it allocates nothing, where a dictionary may have to grow.

Not proved, but for the author to see to: booleans, comparisons and items are those of built-in types,
and what a store lets go of is not the last reference to an object with a finalizer in Python.
"""

from __future__ import annotations

import dis
import importlib
import io
import pkgutil
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, MemberDescriptorType, ModuleType
from typing import Final, final

_LOOKS: Final = (
    "RESUME", "CALL", "PRECALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "SEND", "YIELD_VALUE", "FORMAT_",
    "IMPORT_", "BEFORE_WITH", "BEFORE_ASYNC", "GET_AWAITABLE", "GET_ANEXT", "RETURN_GENERATOR",
)  # fmt: skip
"""How the names of instructions begin that look, or call what may."""


def looks(name: str) -> bool:
    """Whether an instruction looks at signals, or calls what may."""
    return name.startswith(_LOOKS) and name != "JUMP_BACKWARD_NO_INTERRUPT"


ALLOWED: Final[Mapping[str, str]] = {
    "LOAD_FAST": "a place in the frame",
    "STORE_FAST": "a place in the frame",
    "DELETE_FAST": "a place in the frame",
    "LOAD_CONST": "a constant of the code",
    "LOAD_DEREF": "a place in a cell",
    "STORE_DEREF": "a place in a cell",
    "LOAD_GLOBAL": "a look-up by a text in a dictionary of texts",
    "COPY": "the frame's stack",
    "SWAP": "the frame's stack",
    "POP_TOP": "the frame's stack",
    "NOP": "nothing",
    "EXTENDED_ARG": "part of the next instruction",
    "CACHE": "part of the instruction before",
    "LOAD_ATTR": "of a slot or an attribute, see above",
    "STORE_ATTR": "of a slot, see above",
    "DELETE_ATTR": "of a slot, see above",
    "BINARY_SUBSCR": "an item of a list or deque, counted from the front; the index is a constant",
    "DELETE_SUBSCR": "the same; a list may find no memory to become shorter, so no store stands before it",
    "IS_OP": "compares addresses",
    "COMPARE_OP": "of small numbers",
    "UNARY_NOT": "the truth of a built-in object",
    "TO_BOOL": "the truth of a built-in object",
    "POP_JUMP_IF": "a jump forward, by the truth of a built-in object",
    "POP_JUMP_FORWARD_IF": "the same in 3.11",
    "JUMP_IF": "the same in 3.11",
    "JUMP_FORWARD": "a jump forward",
    "JUMP_BACKWARD_NO_INTERRUPT": "a jump that does not look: to a handler's shared end",
    "PUSH_EXC_INFO": "the entry of a handler",
    "POP_EXCEPT": "the end of a handler",
    "RERAISE": "leaves the stretch",
    "RETURN_VALUE": "leaves the stretch",
    "RETURN_CONST": "leaves the stretch",
}
"""Instructions that may stand in a stretch, by the beginning of their names, and why."""

_OF_A_CALL: Final = ("CALL", "PRECALL", "PUSH_NULL", "LOAD_METHOD")
_BEHIND_A_CALL: Final = (
    "POP_TOP", "NOP", "EXTENDED_ARG", "CACHE", "JUMP_FORWARD", "JUMP_BACKWARD", "LOAD_CONST", "RETURN",
    "POP_EXCEPT", "RERAISE", "COPY", "SWAP",
)  # fmt: skip
_C_METHODS: Final = frozenset({"append", "appendleft", "pop", "popleft", "release"})
"""Methods of lists, deques and locks that a stretch may end with."""

PACKAGES: Final = ("operad.engine", "operad.imperative", "operad.storage")
MODULES: Final = ("operad.executor.single_user", "operad.first_use")
"""Where commits are."""

_MARK: Final = re.compile(r"# (commit|certain)(?:: (begin|end with a call|end))?$")


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that are one step.

    Attributes:
        first: The first line.
        last: The last line.
        has_call: Whether its last instruction may be the call of a C function.
    """

    first: int
    last: int
    has_call: bool

    def holds(self, line: int | None) -> bool:
        return line is not None and self.first <= line <= self.last


@final
@dataclass(slots=True)
class Marks:
    """What is marked in one source file.

    Attributes:
        stretches: The commits.
        certain: Lines of `finally:` that are marked.
        wrong: Marks that make no sense, each with its line.
    """

    stretches: list[Stretch] = field(default_factory=list)
    certain: list[int] = field(default_factory=list)
    wrong: list[tuple[int, str]] = field(default_factory=list)


def marks_of(source: str) -> Marks:
    """The marks in the comments of a source text."""
    marks, begun = Marks(), 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = _MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found is None:
            continue
        line, (what, which) = token.start[0], found.groups()
        if what == "certain":
            marks.certain.append(line)
        elif which == "begin":
            if begun:
                marks.wrong.append((line, "a stretch begins in a stretch"))
            begun = line
        elif which is None:
            marks.stretches.append(Stretch(line, line, has_call=False))
        elif not begun:
            marks.wrong.append((line, "a stretch ends that has not begun"))
        else:
            marks.stretches.append(Stretch(begun + 1, line - 1, which != "end"))
            begun = 0
    if begun:
        marks.wrong.append((begun, "a stretch does not end"))
    return marks


@cache
def within_commits(filename: str) -> frozenset[int]:
    """Lines of a source that stand in a commit and do not begin it: only a trace function comes between."""
    stretches = marks_of(Path(filename).read_text()).stretches if Path(filename).exists() else []
    return frozenset(line for each in stretches for line in range(each.first + 1, each.last + 1))


@final
class Names:
    """What is known of the names that stretches use.

    Args:
        classes: Those whose objects they may be attributes of.
        module: The names of the module.
    """

    def __init__(self, classes: Iterable[type], module: Mapping[str, object]) -> None:
        self._found: dict[str, list[object]] = {}
        for each in classes:
            for name, value in vars(each).items():
                self._found.setdefault(name, []).append(value)
        self._module = module

    def why_not_load(self, name: str) -> str | None:
        """Why loading the attribute is no step, if it is none."""
        for value in self._found.get(name, ()):
            if not isinstance(value, MemberDescriptorType) and hasattr(type(value), "__get__"):
                return f"{name} is a {type(value).__name__} of a class: loading it calls or allocates"
        return None

    def why_not_store(self, name: str) -> str | None:
        """Why storing the attribute is no step, if it is none."""
        if not any(isinstance(value, MemberDescriptorType) for value in self._found.get(name, ())):
            return f"{name} is no slot of any class: storing it may allocate"
        return None

    def is_c_function(self, name: str) -> bool:
        """Whether a stretch may end with a call of what has this name."""
        return name in _C_METHODS or isinstance(self._module.get(name), BuiltinFunctionType)


def check(source: str, path: str, names: Names) -> tuple[int, list[str]]:
    """How many stretches a source file has, and what is wrong with them, one line each."""
    marks = marks_of(source)
    wrong = list(marks.wrong)
    codes = list(_codes(compile(source, path, "exec")))
    for stretch in marks.stretches:
        pieces = [piece for code in codes for piece in _pieces(code, stretch)]
        if not pieces:
            wrong.append((stretch.first, "a stretch without an instruction"))
        for piece in pieces:
            wrong += _faults(piece, stretch, names)
    wrong += _uncertain(source, codes, marks)
    return len(marks.stretches), [f"{path}:{line}: {text}" for line, text in sorted(set(wrong))]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


Instructions = list[tuple[int | None, dis.Instruction]]
"""Instructions, each with its line."""


def _lined(code: CodeType) -> Instructions:
    lines = {start: line for first, end, line in code.co_lines() for start in range(first, end, 2)}
    return [(lines.get(each.offset), each) for each in dis.get_instructions(code)]


def _pieces(code: CodeType, stretch: Stretch) -> Iterator[Instructions]:
    """The instructions of a stretch; a `finally` is compiled twice or more, and each copy is a piece."""
    piece: Instructions = []
    for line, each in _lined(code):
        if stretch.holds(line):
            piece.append((line, each))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _faults(piece: Instructions, stretch: Stretch, names: Names) -> Iterator[tuple[int, str]]:
    offsets = {each.offset for _, each in piece}
    calls = [place for place, (_, each) in enumerate(piece) if each.opname.startswith("CALL")]
    for place, (line, each) in enumerate(piece):
        if stretch.has_call and each.opname.startswith(_OF_A_CALL):
            continue
        if "JUMP_BACKWARD" in each.opname and each.argval not in offsets:
            continue  # it leaves the stretch, which is over
        why = _why_no_step(each, piece[place - 1][1].opname, names)
        if why is not None:
            yield line or stretch.first, why
    stores = [place for place, (_, each) in enumerate(piece) if each.opname.endswith("E_ATTR")]
    for line, each in piece[stores[0] :] if stores else ():
        if each.opname == "DELETE_SUBSCR":
            yield line or stretch.first, "DELETE_SUBSCR may fail, and stands behind a store"
    if calls:
        yield from _call_faults(piece, calls, names)
    elif stretch.has_call:
        yield stretch.last, "the stretch ends without a call"


def _why_no_step(each: dis.Instruction, before: str, names: Names) -> str | None:
    name = each.opname
    if looks(name):
        return f"{name} looks at signals"
    if not name.startswith(tuple(ALLOWED)):
        return f"{name} is not allowed"
    if name in ("BINARY_SUBSCR", "DELETE_SUBSCR") and before != "LOAD_CONST":
        return f"{name} of an item that is not counted by a constant"
    if name == "LOAD_ATTR" and not _is_of_call(each):
        return names.why_not_load(each.argval)
    if name in ("STORE_ATTR", "DELETE_ATTR"):
        return names.why_not_store(each.argval)
    return None


def _is_of_call(each: dis.Instruction) -> bool:
    return "NULL|self" in each.argrepr


def _call_faults(piece: Instructions, calls: list[int], names: Names) -> Iterator[tuple[int, str]]:
    """What is wrong with the call that a stretch ends with."""
    last = calls[-1]
    line = piece[last][0] or 0
    if len(calls) > 1:
        yield line, "more than one call"
    for at, each in piece[last + 1 :]:
        if not each.opname.startswith(_BEHIND_A_CALL):
            yield at or line, f"{each.opname} stands behind the call"
    named = [
        each.argval for _, each in piece[:last]
        if each.opname in ("LOAD_METHOD", "LOAD_GLOBAL") or _is_of_call(each)
    ]  # fmt: skip
    if not any(names.is_c_function(name) for name in named):
        yield line, f"the call is of none of C's functions known here: {', '.join(map(str, named))}"


_FINALLY: Final = re.compile(r"\s*finally:")


def _uncertain(source: str, codes: list[CodeType], marks: Marks) -> Iterator[tuple[int, str]]:
    """What looks in a `finally` before its commit, or before the end of its first statement."""
    lines = source.splitlines()
    for number, text in enumerate(lines, 1):
        if not _FINALLY.match(text):
            if number in marks.certain:
                yield number, "`# certain` stands behind `finally:` alone"
            continue
        indent = len(text) - len(text.lstrip())
        until = _commit_within(lines, number, indent, marks)
        if until is None:
            if number not in marks.certain:
                continue
            until = _first_statement(lines, number) + 1
        before = Stretch(number + 1, until - 1, has_call=False)
        for code in codes:
            for line, each in _lined(code):
                if before.holds(line) and looks(each.opname):
                    yield line or number, f"{each.opname} looks at signals in a `finally`, before its commit"


def _commit_within(lines: list[str], number: int, indent: int, marks: Marks) -> int | None:
    """The first line of the first commit in the block below line `number`."""
    for below in range(number + 1, len(lines) + 1):
        text = lines[below - 1]
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            return None
        if any(stretch.first == below for stretch in marks.stretches):
            return below
    return None


def _first_statement(lines: list[str], number: int) -> int:
    return next(
        below for below in range(number + 1, len(lines) + 1)
        if lines[below - 1].strip() and not lines[below - 1].lstrip().startswith("#")
    )  # fmt: skip


def check_operad() -> tuple[int, list[str]]:
    """`check_modules` of what has marks: the packages of the engine's surroundings, and single modules."""
    packages = [module for package in PACKAGES for module in _modules(importlib.import_module(package))]
    return check_modules([*packages, *map(importlib.import_module, MODULES)])


def check_modules(modules: Collection[ModuleType]) -> tuple[int, list[str]]:
    """`check` of every module, whose classes are those that names may belong to."""
    classes = {
        each for module in modules for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    }  # fmt: skip
    count, wrong = 0, []
    for module in modules:
        path = Path(str(module.__file__))
        found, faults = check(path.read_text(), str(path), Names(classes, vars(module)))
        count += found
        wrong += faults
    return count, wrong


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)
