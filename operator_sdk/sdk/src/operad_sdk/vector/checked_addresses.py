"""Addresses in checked kernels: each load and store asks first (`operad_sdk.vector.bounds`).

Values on the stack need not ask: `expect_checked` reads the text, and finds that each is loaded and stored
as a whole, or element by element, in the type that it was allocated in; and that nothing else was left out.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from operad.errors import OperadError
from operad_sdk.vector.settings import is_checked

IN_BOUNDS: Final = "operad_in_bounds"
"""Function that gives an address without its tag, where all bytes that are touched lie within bounds."""


class CheckedAddresses(ABC):
    """Part of a writer: addresses as loads and stores take them; other kernels' are left as they are.

    Attributes:
        lanes: Elements of a vector.
    """

    lanes: int

    @abstractmethod
    def value(self, text: str) -> str:
        """Append an instruction that has a value, and give its name."""

    @abstractmethod
    def call(self, returns: str, function: str, *args: tuple[str, str]) -> str:
        """Call a function; each argument is a type and a value."""

    def checked(
        self, address: str, bits: int, lanes: int, mask: str | None = None, *, writes: bool = False
    ) -> str:
        """The address of some elements, of which those that are not masked are touched."""
        if not is_checked():
            return address
        size, low, high = bits // 8, "0", str(bits // 8 * lanes)
        if mask is not None:
            touched = self.value(f"bitcast <{lanes} x i1> {mask} to i{lanes}")
            touched = self.value(f"zext i{lanes} {touched} to i64")
            before = self.call("i64", "llvm.cttz.i64", ("i64", touched), ("i1", "false"))
            behind = self.call("i64", "llvm.ctlz.i64", ("i64", touched), ("i1", "false"))
            low = self.value(f"mul i64 {before}, {size}")
            high = self.value(f"mul i64 {self.value(f'sub i64 64, {behind}')}, {size}")
        return self._in_bounds(address, low, high, writes)

    def each_checked(self, addresses: str, bits: int, mask: str, *, writes: bool = False) -> str:
        """A vector of addresses of one element each."""
        if not is_checked():
            return addresses
        vector, found = f"<{self.lanes} x ptr>", "poison"
        for lane in range(self.lanes):
            address = self.value(f"extractelement {vector} {addresses}, i32 {lane}")
            is_touched = self.value(f"extractelement <{self.lanes} x i1> {mask}, i32 {lane}")
            high = self.value(f"select i1 {is_touched}, i64 {bits // 8}, i64 0")
            address = self._in_bounds(address, "0", high, writes)
            found = self.value(f"insertelement {vector} {found}, ptr {address}, i32 {lane}")
        return found

    def _in_bounds(self, address: str, low: str, high: str, writes: bool) -> str:
        given = (("ptr", address), ("i64", low), ("i64", high), ("i64", str(int(writes))))
        return self.call("ptr", IN_BOUNDS, *given)


_TYPE: Final = r"(<[^>]*>|\w+)"
_MADE: Final = re.compile(r"(%\w+) = (.*)")
_ALLOCATED: Final = re.compile(rf"alloca {_TYPE}, align 64")
_PART: Final = re.compile(r"getelementptr (\w+), ptr (%\w+), i64 (\d+)")
_LOADED: Final = re.compile(rf"load (?:volatile )?{_TYPE}, ptr (%\w+)")
_STORED: Final = re.compile(rf"store {_TYPE} .*, ptr (%\w+)")
_MASKED: Final = re.compile(r"call .* @llvm\.masked\..*[(,] ?(?:ptr|<\d+ x ptr>) (%\w+)")
_INSERTED: Final = re.compile(r"insertelement <(\d+) x ptr> (%?\w+), ptr (%\w+), i32 (\d+)")


def expect_checked(lines: Iterable[str]) -> None:
    """Expect that each address of a function was checked, or is that of a value on the stack, in its type.

    Raises:
        OperadError: A line touches another address, or another type than the stack has there.
    """
    checked, stack, gathered = set[str](), dict[str, str](), {"poison": 0}
    for line in lines:
        made = _MADE.match(line.strip())
        name, text = made.groups() if made else ("", line.strip())
        if f"@{IN_BOUNDS}(" in text:
            checked.add(name)
        elif found := _ALLOCATED.match(text):
            stack[name] = found[1]
        elif (found := _PART.match(text)) and found[2] in stack:
            count, _, element = stack[found[2]].strip("<>").partition(" x ")
            stack[name] = element if element == found[1] and int(found[3]) < int(count) else "nothing"
        elif found := _INSERTED.match(text):  # lane by lane
            if found[3] in checked and gathered.get(found[2]) == int(found[4]):
                gathered[name] = int(found[4]) + 1
                if gathered[name] == int(found[1]):
                    checked.add(name)
        elif found := _LOADED.match(text) or _STORED.match(text):
            if found[2] not in checked and stack.get(found[2]) != found[1]:
                raise OperadError(f"a checked kernel does not check {line.strip()!r}; please report it")
        elif text.startswith(("load", "store")) or (
            "@llvm.masked." in text and not ((found := _MASKED.match(text)) and found[1] in checked)
        ):
            raise OperadError(f"a checked kernel does not check {line.strip()!r}; please report it")
