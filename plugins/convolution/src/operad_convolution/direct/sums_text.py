"""Kernels that add up the sums of parts of images to the gradient of the weights, as text of LLVM."""

from __future__ import annotations

from typing import Final, final

from operad_convolution.direct.images import BYTES
from operad_convolution.direct.tables import AcrossSumsTable, AcrossSumsUnit, SumsTable, SumsUnit
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Words, Writer


@final
class SumsText:
    """Sums in blocks of filters by positions, as `WeightText` leaves them; units are rows of blocks.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, parts: int, positions: int, rest: int) -> None:
        """Write it; a block has so many positions, and the last of a row `rest`, 0: as many."""
        code = Writer(NAME, KERNEL_PARAMETERS, LANES[BYTES[kind]])
        size, lanes = BYTES[kind], code.lanes
        table = Words(code, SumsTable._fields)
        sums, target, units = table.pointer("sums"), table.pointer("target"), table.pointer("units")
        part, row, blocks = table("part"), table("row"), table("blocks")

        def block(columns: int, filters: str, values: Values) -> Values:
            def one(_: str, values: Values) -> Values:
                source, to = values
                for first in range(0, columns, lanes):
                    used = min(lanes, columns - first)
                    begin, offset = code.address(source, str(first * size)), str(first * size)
                    found = [
                        code.load_vector(kind, each, used=used) for each in _parts(code, begin, part, parts)
                    ]
                    code.store_vector(kind, _total(code, kind, found), code.address(to, offset), used=used)
                return [code.address(source, str(columns * size)), code.address(to, row)]

            code.loop("0", filters, 1, [("ptr", each) for each in values], one)
            return []

        def unit(number: str, _: Values) -> Values:
            at = code.address(units, code.multiply(number, 8 * len(SumsUnit._fields)))
            own = code.record(SumsUnit, at)

            def blocks_of_row(_: str, values: Values) -> Values:
                block(positions, own.filters, values)
                return [code.address(values[0], own.block), code.address(values[1], str(positions * size))]

            start = [("ptr", code.address(sums, own.sums)), ("ptr", code.address(target, own.target))]
            found = code.loop("0", blocks, 1, start, blocks_of_row)
            if rest:
                block(rest, own.filters, found)
            return []

        code.loop("%first", "%last", 1, [], unit)
        self.text: Final = code.module()


@final
class AcrossSumsText:
    """Sums with the filters of a position side by side, as `AcrossWeightText` leaves them.

    Units are vectors of filters.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, parts: int) -> None:
        """Write it."""
        code = Writer(NAME, KERNEL_PARAMETERS, LANES[BYTES[kind]])
        size, lanes = BYTES[kind], code.lanes
        table = Words(code, AcrossSumsTable._fields)
        sums, target, units = table.pointer("sums"), table.pointer("target"), table.pointer("units")
        part, positions, step, row = table("part"), table("positions"), table("position"), table("row")
        last = code.add(positions, -1)

        def unit(number: str, _: Values) -> Values:
            at = code.address(units, code.multiply(number, 8 * len(AcrossSumsUnit._fields)))
            words = code.record(AcrossSumsUnit, at)
            source, own = code.address(sums, words.sums), code.address(target, words.target)
            behind = code.add(words.filters, -1)
            rows = [code.address(own, code.multiply(row, _least(code, str(i), behind))) for i in range(lanes)]

            def some(first: str, _: Values) -> Values:
                totals = []
                for i in range(lanes):
                    at = code.address(source, code.multiply(step, _least(code, code.add(first, i), last)))
                    found = [code.load_vector(kind, each) for each in _parts(code, at, part, parts)]
                    totals.append(_total(code, kind, found))
                mask, offset = code.mask(first, positions), code.multiply(first, size)
                turned = code.transposed(kind, totals)
                # What is behind the last filter goes to that one's place, and is then written over.
                for address, vector in reversed(list(zip(rows, turned, strict=True))):
                    code.store_masked(kind, vector, code.address(address, offset), mask)
                return []

            code.loop("0", positions, lanes, [], some)
            return []

        code.loop("%first", "%last", 1, [], unit)
        self.text: Final = code.module()


def _least(code: Writer, one: str, other: str) -> str:
    return code.call("i64", "llvm.smin.i64", ("i64", one), ("i64", other))


def _parts(code: Writer, begin: str, part: str, parts: int) -> Values:
    """Addresses of the same number of all parts."""
    found = [begin]
    for _ in range(parts - 1):
        found.append(code.address(found[-1], part))
    return found


def _total(code: Writer, kind: str, found: Values) -> str:
    total, *others = found
    for other in others:
        total = code.value(f"fadd {code.vector(kind)} {total}, {other}")
    return total
