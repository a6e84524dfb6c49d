"""Records in tables of kernels, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.writer import Values, Writer


@final
class Words:
    """As `Writer.record`, for words that are not all loaded at once; `names` are the record's fields."""

    def __init__(self, code: Writer, names: Sequence[str], begin: str = "%table", first: int = 0) -> None:
        self._code, self._names, self._begin, self._first = code, names, begin, first

    def __call__(self, name: str) -> str:
        """Load a word."""
        return self._code.word(self._begin, self._first + self._names.index(name))

    def pointer(self, name: str) -> str:
        """Load an address."""
        return self._code.pointer(self(name))

    def call_kernel(self, table: str, first: str, last: str) -> None:
        """Call the kernel of the record for some of its units."""
        kernel = self.pointer("kernel")
        call = f"call void {kernel}(ptr {table}, i64 {first}, i64 {last}, ptr %scratch)"
        if not is_checked():
            self._code.line(call)
            return

        def write() -> Values:
            self._code.line(call)
            return []

        # Of a record that lies outside its table the address is zero.
        self._code.when(self._code.value(f"icmp ne ptr {kernel}, null"), [], write)
