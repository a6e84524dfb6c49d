"""Addresses in checked kernels: each load and store asks first (`operad_sdk.vector.bounds`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

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
