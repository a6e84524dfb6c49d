"""The text of a team's threads (`team.ll`) as Python: every atomic operation is a step of a chosen thread.

Each line of the text becomes one of Python, in generators that yield behind what other threads can see:
atomic operations and semaphores. What lies between two yields is of one thread, since only these order
its memory.
"""

from __future__ import annotations

import re
from collections import defaultdict

END_OF_WAITS = (-1, 0)
"""Values of a wait that ends without a post: by a signal, and for no reason."""
SIZES = {"i64": 8, "ptr": 8, "i8": 1}
COMPARISONS = {"eq": "==", "ne": "!=", "slt": "<", "sgt": ">", "sge": ">=", "sle": "<="}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "sdiv": "//", "or": "|"}
VALUE = r"(?:%\w+|-?\d+)"

LINES = [  # pattern, and Python; `$1` is the first group, and behind `@` there is a step
    (rf"load atomic i64, ptr ({VALUE}) .*", "world.load($1) @"),
    (rf"load \w+, ptr ({VALUE})", "world.load($1)"),
    (rf"store \w+ ({VALUE}), ptr ({VALUE})", "world.store($2, $1)"),
    (rf"cmpxchg ptr ({VALUE}), i64 ({VALUE}), i64 ({VALUE}) .*", "world.exchange($1, $2, $3) @"),
    (rf"atomicrmw add ptr ({VALUE}), i64 ({VALUE}) .*", "world.replace($1, lambda old: old + $2) @"),
    (rf"atomicrmw xchg ptr ({VALUE}), i64 ({VALUE}) .*", "world.replace($1, lambda old: $2) @"),
    (rf"extractvalue \{{ i64, i1 \}} ({VALUE}), 1", "$1[1]"),
    (rf"select i1 ({VALUE}), \w+ ({VALUE}), \w+ ({VALUE})", "$2 if $1 else $3"),
    (r"alloca .*", "world.memory(2)"),
    (r"call void @llvm\.x86\.sse2\.pause\(\)", "None"),
    (rf"call i32 @clock_gettime\(i32 1, ptr ({VALUE})\)", "world.tell_time($1)"),
    (rf"call i32 @sem_wait\(ptr ({VALUE})\)", "yield from world.wait(me, $1)"),
    (rf"call i32 @sem_post\(ptr ({VALUE})\)", "world.post($1) @"),
    (
        rf"call void ({VALUE})\(ptr ({VALUE}), i64 ({VALUE}), i64 ({VALUE}), ptr ({VALUE})\)",
        "world.compute(me, $1, $2, $3, $4, $5) @",
    ),
]  # fmt: skip


def name(value):
    return f"v_{value[1:]}" if value.startswith("%") else value


def translated(line):
    """One instruction as Python, and whether a step ends behind it."""
    for pattern, python in LINES:
        if found := re.fullmatch(pattern, line):
            for i, value in enumerate(found.groups(), 1):
                python = python.replace(f"${i}", name(value))
            return python.removesuffix(" @"), python.endswith("@")
    if found := re.fullmatch(rf"getelementptr (\w+), ptr ({VALUE}), i64 ({VALUE})", line):
        return f"{name(found[2])} + {SIZES[found[1]]} * {name(found[3])}", False
    if found := re.fullmatch(rf"icmp (\w+) \w+ ({VALUE}), ({VALUE})", line):
        return f"{name(found[2])} {COMPARISONS[found[1]]} {name(found[3])}", False
    if found := re.fullmatch(rf"(\w+) i(?:1|64) ({VALUE}), ({VALUE})", line):
        return f"{name(found[2])} {ARITHMETIC[found[1]]} {name(found[3])}", False
    if found := re.fullmatch(r"call \w+ @(\w+)\((.*)\)", line):
        args = [name(each.split()[1]) for each in found[2].split(", ")]
        return f"yield from {found[1]}(world, me, {', '.join(args)})", False
    raise AssertionError(f"the model does not know {line!r}")


def jump(line):
    if found := re.fullmatch(r"br label %(\w+)", line):
        return f"came, block = block, {found[1]!r}"
    if found := re.fullmatch(rf"br i1 ({VALUE}), label %(\w+), label %(\w+)", line):
        return f"came, block = block, {found[2]!r} if {name(found[1])} else {found[3]!r}"
    return f"return {name(line.split()[-1])}" if line.startswith("ret i") else "return None"


def function(head, body):
    """A function of the text as a generator."""
    called, parameters = re.fullmatch(r"define (?:private )?\w+ @(\w+)\((.*)\) \{", head).groups()
    args = ["world", "me", *(name(each.split()[1]) for each in parameters.split(", "))]
    lines = [f"def {called}({', '.join(args)}):", "  came, block = None, 'entry'", "  while True:"]
    if not body[0].endswith(":"):
        body = ["entry:", *body]
    for line in body:
        if line.endswith(":"):
            lines.append(f"    {'el' * (line != body[0])}if block == {line[:-1]!r}:")
        elif line.startswith(("br ", "ret ")):
            lines.append(f"      {jump(line)}")
        elif found := re.fullmatch(r"%(\w+) = phi \w+ (.*)", line):
            ways = re.findall(rf"\[ ({VALUE}), %(\w+) \]", found[2])
            choice = ", ".join(f"{block!r}: lambda: {name(value)}" for value, block in ways)
            lines.append(f"      v_{found[1]} = {{{choice}}}[came]()")
        else:
            target, _, instruction = line.rpartition(" = ")
            python, is_step = translated(instruction)
            lines.append(f"      {name(target) + ' = ' if target else ''}({python})")
            lines += ["      yield"] * is_step
    # A function without a step is a generator too.
    return "\n".join([*lines, "    else:", "      raise AssertionError(block)", "    if 0: yield"])


def functions(text):
    """The functions of a text, by name."""
    found, lines = {}, [line.partition(";")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("declare")]
    while lines:
        end = lines.index("}")
        exec(function(lines[0], lines[1:end]), found)  # noqa: S102 - the text of this repository
        del lines[: end + 1]
    return found


class World:
    """Memory, semaphores and a clock; a job's memory is of that job alone.

    Attributes:
        done: Parts of the job that were computed.
        ends: By thread that waits at a semaphore, how its wait ends; None: by a post.
    """

    def __init__(self):
        self._words, self._next, self._clock = defaultdict(int), 8, 0
        self._owner, self._owners = {}, set()
        self.done, self.ends = [], {}
        self.num_jobs = 0

    def memory(self, count, owner=None):
        """The address of so many words, which are valid until their owner is ended."""
        begin, self._next = self._next, self._next + 8 * count
        if owner is not None:
            self._owners.add(owner)
            self._owner.update(dict.fromkeys(range(begin, self._next, 8), owner))
        return begin

    def end(self, owner):
        self._owners.remove(owner)

    def forget(self):
        """Be the memory of a forked child: no thread waits, and no job of the parent's may be touched."""
        self._owners.clear()
        self.ends.clear()

    def load(self, at):
        owner = self._owner.get(at)
        assert owner is None or owner in self._owners, "a thread reads a job that is over"
        return self._words[at]

    def store(self, at, value):
        owner = self._owner.get(at)
        assert owner is None or owner in self._owners, "a thread writes into a job that is over"
        self._words[at] = value

    def replace(self, at, change):
        before = self.load(at)
        self.store(at, change(before))
        return before

    def exchange(self, at, before, after):
        found = self.load(at)
        if found == before:
            self.store(at, after)
        return found, found == before

    def tell_time(self, at):
        self._clock += 1
        self.store(at, 0)
        self.store(at + 8, self._clock)
        return 0

    def post(self, at):
        self.store(at, self.load(at) + 1)
        return 0

    def wait(self, me, at):
        """Steps of a wait, and its value; it also ends where the order of steps says so."""
        self.ends[me] = None
        yield  # what comes before is a step: one that cannot go on changes nothing
        while not self.load(at) and self.ends[me] is None:
            yield "blocked"
        end = self.ends.pop(me)
        if end is None:
            self.store(at, self.load(at) - 1)
            return 0
        return end

    def compute(self, me, job, table, first, last, scratch):
        assert scratch == me, "scratch memory of another thread"
        owner = self._owner[table]
        assert job == "kernel"
        assert owner in self._owners, "a part of a job that is over is computed"
        self.done.append((first, last))
