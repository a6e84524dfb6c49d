"""Writing functions on vectors as text of LLVM.

A `Writer` appends one instruction after another to one function, in single assignment: each gives the name
of its value. Control flow is structured: the only thing that jumps is `loop`, which carries values along,
so no writer keeps track of blocks. Text is written, and not the objects of llvmlite's builder, because a
kernel has thousands of instructions, and printing those objects takes longer than compiling what they say.

A vector has as many lanes in every type, whatever registers the processor has: LLVM splits it over several
registers or none. So a sum over lanes has one order, and its result the same bits, on every machine.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar, final

from operad_sdk.vector.checked_addresses import CheckedAddresses, expect_checked
from operad_sdk.vector.settings import is_checked

FLOATS: Final = {"float32": "float", "float64": "double"}
"""Element types that are floating, and what LLVM calls them."""
INTEGERS: Final = {f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
ELEMENTS: Final = {**FLOATS, **INTEGERS, "float16": "half", "bool": "i1"}
BITS: Final = {name: 8 if name == "bool" else int(name.lstrip("uintfloa")) for name in ELEMENTS}
"""Bits of an element in memory."""

NAME: Final = "kernel"
KERNEL_PARAMETERS: Final = ("ptr %table", "i64 %first", "i64 %last", "ptr %scratch")
"""Parameters of a kernel: where everything is, which rows or images to compute, and memory."""
LANES: Final = {4: 16, 8: 8}
"""Elements of a vector by their size in bytes: 64 bytes, one register of AVX-512."""

Values = list[str]
Record = TypeVar("Record")
LoopBody = Callable[[str, Values], Values]


@final
class Writer(CheckedAddresses):
    """One function, `void name(...)`, while it is written.

    Attributes:
        lanes: Elements of a vector.
        has_scalef: Whether it is for processors with AVX-512's instruction of that name.
    """

    def __init__(self, name: str, parameters: Sequence[str], lanes: int, *, has_scalef: bool = False) -> None:
        """Begin the function; `parameters` are written with their types, `ptr %table`."""
        self.lanes = lanes
        self.has_scalef: Final = has_scalef
        self._head = f"define void @{name}({', '.join(parameters)}) #0 {{"
        self._lines: list[str] = []
        self._allocated: list[str] = []
        self._declarations: dict[str, None] = {}
        self._count = 0
        self._block = "%begin"

    def value(self, text: str) -> str:
        """Append an instruction that has a value, and give its name."""
        name = f"%v{self._count}"
        self._count += 1
        self._lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Append an instruction without a value."""
        self._lines.append(f"  {text}")

    def on_stack(self, kind: str) -> str:
        """Memory for a value of a type of LLVM's, one for all rounds of loops."""
        self._allocated.append(f"  %stack{len(self._allocated)} = alloca {kind}, align 64")
        return f"%stack{len(self._allocated) - 1}"

    def vector(self, kind: str) -> str:
        """The type of vectors of an element type."""
        return f"<{self.lanes} x {ELEMENTS[kind]}>"

    def call(self, returns: str, function: str, *args: tuple[str, str]) -> str:
        """Call a function of LLVM's or of C's; each argument is a type and a value."""
        types, given = ", ".join(kind for kind, _ in args), ", ".join(map(" ".join, args))
        self._declarations[f"declare {returns} @{function}({types})"] = None
        if returns == "void":
            self.line(f"call void @{function}({given})")
            return ""
        return self.value(f"call {returns} @{function}({given})")

    def intrinsic(self, name: str, kind: str, *args: str) -> str:
        """A function of LLVM from vectors of one floating type to such a vector."""
        vector = self.vector(kind)
        return self.call(vector, f"llvm.{name}.v{self.lanes}f{BITS[kind]}", *((vector, arg) for arg in args))

    def splat(self, kind: str, scalar: str) -> str:
        """A vector of one scalar value."""
        vector = self.vector(kind)
        first = self.value(f"insertelement {vector} poison, {ELEMENTS[kind]} {scalar}, i32 0")
        return self.value(
            f"shufflevector {vector} {first}, {vector} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def converted(self, kind: str, word: str) -> str:
        """A vector of one integer of 64 bits, in another element type."""
        if kind in FLOATS:
            return self.splat(kind, self.value(f"uitofp i64 {word} to {ELEMENTS[kind]}"))
        if BITS[kind] < 64:
            word = self.value(f"trunc i64 {word} to {ELEMENTS[kind]}")
        return self.splat(kind, word)

    @contextmanager
    def of_lanes(self, count: int) -> Iterator[None]:
        """Let vectors have so many lanes meanwhile."""
        before, self.lanes = self.lanes, count
        try:
            yield
        finally:
            self.lanes = before

    def once(self, kinds: Sequence[str], args: Values, kind: str, write: Callable[[Values], str]) -> str:
        """Value that `write` makes of vectors whose lanes are alike, of one lane, as division takes long."""
        firsts = [  # of a constant, that constant
            arg if arg.startswith("splat") else self.shuffled(of, arg, "poison", [0])
            for of, arg in zip(kinds, args, strict=True)
        ]
        with self.of_lanes(1):
            value = write(firsts)
        return self.in_all_lanes(kind, value)

    def in_all_lanes(self, kind: str, value: str) -> str:
        """A vector of the one lane of another."""
        if value.startswith("splat"):
            return value
        return self.shuffled(kind, value, "poison", [0] * self.lanes, 1)

    def constant(self, kind: str, number: float) -> str:
        """A vector of one number, rounded to the type."""
        return f"splat ({ELEMENTS[kind]} {scalar_constant(kind, number)})"

    def address(self, base: str, offset: str) -> str:
        """A pointer so many bytes further on."""
        return self.value(f"getelementptr i8, ptr {base}, i64 {offset}")

    # integers of 64 bits, which addresses are made of

    def word(self, pointer: str, number: int = 0) -> str:
        """Whole number that stands so many words behind a pointer."""
        at = self.address(pointer, str(8 * number)) if number else pointer
        return self.value(f"load i64, ptr {self.checked(at, 64, 1)}")

    def store_word(self, word: str, pointer: str) -> None:
        """Write an integer to memory."""
        self.line(f"store i64 {word}, ptr {self.checked(pointer, 64, 1, writes=True)}")

    def record(self, kind: type[Record], begin: str = "%table", first: int = 0) -> Record:
        """The words of a named tuple, which callers fill likewise; it stands `first` words behind `begin`."""
        named: Any = kind
        found: Record = named._make(self.word(begin, first + i) for i in range(len(named._fields)))
        return found

    def pointer(self, word: str) -> str:
        """An integer as a pointer."""
        return self.value(f"inttoptr i64 {word} to ptr")

    def add(self, one: str, other: str | int) -> str:
        """The sum of two integers."""
        return one if other == 0 else self.value(f"add i64 {one}, {other}")

    def multiply(self, one: str, other: str | int) -> str:
        """The product of two integers."""
        return one if other == 1 else self.value(f"mul i64 {one}, {other}")

    def smallest(self, one: str, other: str) -> str:
        """The smaller of two integers."""
        return self.call("i64", "llvm.smin.i64", ("i64", one), ("i64", other))

    def prefetch(self, address: str) -> None:
        """Ask for a line of the cache; of an address that is none, nothing happens."""
        given = (("i32", "0"), ("i32", "3"), ("i32", "1"))  # to be read, into all caches, of data
        self.call("void", "llvm.prefetch.p0", ("ptr", address), *given)

    def counters(self, number: str, lengths: Sequence[str]) -> list[str]:
        """The index along each axis of an element in a row-major order."""
        found = []
        for length in reversed(lengths[1:]):
            found.append(self.value(f"urem i64 {number}, {length}"))
            number = self.value(f"udiv i64 {number}, {length}")
        return [*([number] if lengths else []), *reversed(found)]

    # vectors

    def load_vector(self, kind: str, address: str, lanes: int | None = None, used: int | None = None) -> str:
        """A vector from memory, of `lanes` lanes; those from `used` on are zeros, and not read."""
        lanes = lanes or self.lanes
        if used is None or used == lanes:
            address = self.checked(address, BITS[kind], lanes)
            return self.value(f"load <{lanes} x {ELEMENTS[kind]}>, ptr {address}, align 1")
        return self.load_masked(kind, address, _first(used, lanes), lanes)

    def store_vector(
        self, kind: str, value: str, address: str, lanes: int | None = None, used: int | None = None
    ) -> None:
        """A vector into memory, or its first `used` lanes."""
        lanes = lanes or self.lanes
        if used is None or used == lanes:
            address = self.checked(address, BITS[kind], lanes, writes=True)
            self.line(f"store <{lanes} x {ELEMENTS[kind]}> {value}, ptr {address}, align 1")
        else:
            self.store_masked(kind, value, address, _first(used, lanes), lanes)

    def mask(self, begin: str, end: str, kind: str = "int64") -> str:
        """Mask of the lanes of a vector that begins at `begin` which lie before `end`.

        Args:
            kind: Of the numbers that are compared: those of 32 bits are half as many registers, but masks of
                them are divided for wider elements. Then `begin` lies before `end`, or near it.
        """
        left = self.value(f"sub i64 {end}, {begin}")
        if kind == "int32":
            left = self.smallest(left, str(self.lanes))
            left = self.value(f"trunc i64 {left} to i32")
        return self.value(f"icmp slt {self.vector(kind)} {self.numbers(kind=kind)}, {self.splat(kind, left)}")

    def numbers(self, first: int = 0, step: int = 1, kind: str = "int64") -> str:
        """A vector of integers that follow each other."""
        return f"<{', '.join(f'{ELEMENTS[kind]} {first + i * step}' for i in range(self.lanes))}>"

    def counted(self, kind: str, first: str, number: int) -> str:
        """A vector of integers from `first` on, the `number`-th of such vectors."""
        element, vector = ELEMENTS[kind], self.vector(kind)
        begin = self.splat(kind, first if BITS[kind] == 64 else self.value(f"trunc i64 {first} to {element}"))
        steps = ", ".join(f"{element} {number * self.lanes + i}" for i in range(self.lanes))
        return self.value(f"add {vector} {begin}, <{steps}>")

    def load_masked(self, kind: str, address: str, mask: str, lanes: int | None = None) -> str:
        """A vector from memory; lanes that are masked out are zeros, and not read."""
        vector, name, masked = self._masked(kind, mask, lanes)
        address = self.checked(address, BITS[kind], lanes or self.lanes, mask)
        given = (("ptr", address), ("i32", "1"), masked, (vector, "zeroinitializer"))
        return self.call(vector, f"llvm.masked.load.{name}.p0", *given)

    def store_masked(self, kind: str, value: str, address: str, mask: str, lanes: int | None = None) -> None:
        """The lanes of a vector that are not masked out into memory."""
        vector, name, masked = self._masked(kind, mask, lanes)
        address = self.checked(address, BITS[kind], lanes or self.lanes, mask, writes=True)
        self.call(
            "void", f"llvm.masked.store.{name}.p0", (vector, value), ("ptr", address), ("i32", "1"), masked
        )

    def gather(self, kind: str, addresses: str, mask: str) -> str:
        """Vector of elements at any addresses; masked lanes are zeros, and are not read."""
        vector, name, masked = self._masked(kind, mask)
        addresses = self.each_checked(addresses, BITS[kind], mask)
        given = ((f"<{self.lanes} x ptr>", addresses), ("i32", "1"), masked, (vector, "zeroinitializer"))
        return self.call(vector, f"llvm.masked.gather.{name}.v{self.lanes}p0", *given)

    def scatter(self, kind: str, value: str, addresses: str, mask: str) -> None:
        """Write the unmasked lanes of a vector to any addresses."""
        vector, name, masked = self._masked(kind, mask)
        addresses = self.each_checked(addresses, BITS[kind], mask, writes=True)
        given = ((vector, value), (f"<{self.lanes} x ptr>", addresses), ("i32", "1"), masked)
        self.call("void", f"llvm.masked.scatter.{name}.v{self.lanes}p0", *given)

    def _masked(self, kind: str, mask: str, lanes: int | None = None) -> tuple[str, str, tuple[str, str]]:
        lanes = lanes or self.lanes
        name = f"v{lanes}{'f' if kind.startswith('float') else 'i'}{BITS[kind]}"
        return f"<{lanes} x {ELEMENTS[kind]}>", name, (f"<{lanes} x i1>", mask)

    def broadcast(self, kind: str, address: str) -> str:
        """A vector of the one number that stands in memory."""
        address = self.checked(address, BITS[kind], 1)
        return self.splat(kind, self.value(f"load {ELEMENTS[kind]}, ptr {address}, align 1"))

    def store_first(self, kind: str, value: str, address: str) -> None:
        """The first lane of a vector into memory."""
        first = self.value(f"extractelement {self.vector(kind)} {value}, i32 0")
        address = self.checked(address, BITS[kind], 1, writes=True)
        self.line(f"store {ELEMENTS[kind]} {first}, ptr {address}, align 1")

    def shuffled(
        self, kind: str, one: str, other: str, order: Sequence[int], lanes: int | None = None
    ) -> str:
        """Lanes of two vectors, of `lanes` lanes each, picked by number."""
        vector = f"<{lanes or self.lanes} x {ELEMENTS[kind]}>"
        numbers = ", ".join(f"i32 {i}" for i in order)
        return self.value(f"shufflevector {vector} {one}, {vector} {other}, <{len(order)} x i32> <{numbers}>")

    def transposed(self, kind: str, vectors: Values) -> Values:
        """As many vectors as they have lanes, transposed: blocks change places, then halves of blocks."""
        lanes, half = self.lanes, self.lanes // 2
        while half:
            found = list(vectors)
            for one in (i for i in range(lanes) if not i & half):
                pair = vectors[one], vectors[one + half]
                low = [lane if not lane & half else lanes + lane - half for lane in range(lanes)]
                high = [lane + half if not lane & half else lanes + lane for lane in range(lanes)]
                found[one] = self.shuffled(kind, *pair, low)
                found[one + half] = self.shuffled(kind, *pair, high)
            vectors, half = found, half // 2
        return vectors

    def multiply_add(self, kind: str, one: str, other: str, third: str) -> str:
        """`one * other + third`, rounded once."""
        return self.intrinsic("fma", kind, one, other, third)

    def loop(
        self, begin: str, end: str, step: int, carried: Sequence[tuple[str, str]], body: LoopBody
    ) -> Values:
        """`for i in range(begin, end, step)`: the body takes `i` and the carried values, and gives new ones.

        Args:
            carried: For each value its type and its first value.
        Returns:
            The values after the last round; the first values, if there was none.
        """
        number = self._count
        self._count += 1
        before, head, done = self._block, f"%head{number}", f"%done{number}"
        enters = self.value(f"icmp slt i64 {begin}, {end}")
        self.line(f"br i1 {enters}, label {head}, label {done}")
        self._label(head)
        line_numbers = range(len(self._lines), len(self._lines) + 1 + len(carried))
        names = [f"%p{number}_{i}" for i in range(len(line_numbers))]
        self._lines += [""] * len(line_numbers)
        new = body(names[0], names[1:])
        last = self._block
        following = self.value(f"add i64 {names[0]}, {step}")
        again = self.value(f"icmp slt i64 {following}, {end}")
        self.line(f"br i1 {again}, label {head}, label {done}")
        self._label(done)
        rounds = [("i64", begin, following)]
        rounds += [(kind, first, then) for (kind, first), then in zip(carried, new, strict=True)]
        for line_number, name, (kind, first, then) in zip(line_numbers, names, rounds, strict=True):
            self._lines[line_number] = f"  {name} = phi {kind} [ {first}, {before} ], [ {then}, {last} ]"
        return [
            self.value(f"phi {kind} [ {first}, {before} ], [ {then}, {last} ]")
            for kind, first, then in rounds[1:]
        ]

    def when(
        self, condition: str, otherwise: Sequence[tuple[str, str]], body: Callable[[], Values]
    ) -> Values:
        """Values of a body that runs if a condition is true; else others, each given with its type."""
        number, before = self._count, self._block
        self._count += 1
        self.line(f"br i1 {condition}, label %then{number}, label %end{number}")
        self._label(f"%then{number}")
        found = body()
        last = self._block
        self.line(f"br label %end{number}")
        self._label(f"%end{number}")
        return [
            self.value(f"phi {kind} [ {other}, {before} ], [ {one}, {last} ]")
            for (kind, other), one in zip(otherwise, found, strict=True)
        ]

    def _label(self, name: str) -> None:
        self._block = name
        self._lines.append(f"{name[1:]}:")

    def module(self) -> str:
        """The whole text."""
        ends = ["  ret void", "}", _ATTRIBUTES]
        if is_checked():
            expect_checked([*self._allocated, *self._lines])
        return "\n".join(
            [*self._declarations, self._head, "begin:", *self._allocated, *self._lines, *ends, ""]
        )


_ATTRIBUTES: Final = (
    "attributes #0 = { nounwind "
    '"min-legal-vector-width"="512" "prefer-vector-width"="512" "no-trapping-math"="true" }'
)


def _first(used: int, lanes: int) -> str:
    """A mask of the first lanes."""
    return f"<{', '.join(f'i1 {int(i < used)}' for i in range(lanes))}>"


def scalar_constant(kind: str, number: float) -> str:
    """A number of an element type; a floating one by its bits, which say infinities and NaN too."""
    if kind == "bool":
        return "true" if number else "false"
    if kind in INTEGERS:
        return str(int(number))
    if kind == "float32":
        number = _as_single(number)
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _as_single(number: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    return rounded
