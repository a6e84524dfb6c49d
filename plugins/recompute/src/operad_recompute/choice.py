"""Choice of the values that are kept and of those that are computed again.

Forward is walked in order and cut into stretches. What a stretch computes again follows from what stands
before it, so backward, on its way up, holds the values of one stretch at a time beside those that are kept.
In every stretch the values to keep are a minimum cut in bytes.

How long a stretch may be follows from the peak that is aimed at. On its way up backward meets, beside the
last stretch, everything that was kept; beside the first nothing. So the first stretches may be long and later
ones are shorter, by what was kept before them: for `n` equal layers the peak is about `sqrt(2 n)` of them,
where stretches of one length need `2 sqrt(n)` (Chen et al., Training Deep Nets with Sublinear Memory Cost,
2016). As soon as all that is left fits under the peak, it is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, final

from operad_passes import minimum_cut
from operad_recompute.values import FORCED, Values


@final
class Stretch(NamedTuple):
    """A part of forward of which values are computed again.

    Attributes:
        start: Its first step; what was made before is computed again with it only where the user says so.
        again: Values that backward reads and that are computed again.
        kept: Values that they are computed of and that are kept for that.
        steps: The nodes that run once more.
    """

    start: int
    again: frozenset[int]
    kept: frozenset[int]
    steps: frozenset[int]

    def groups(self, values: Values) -> list[set[int]]:
        """The nodes that run once more, apart where none reads what another made."""
        group_of: dict[int, set[int]] = {}
        for step in sorted(self.steps):
            read = [values.owners[entry] for entry in values.sources(step) if entry not in self.kept]
            found = {id(group): group for group in (group_of[owner] for owner in read if owner in group_of)}
            # The largest takes the others in, so that a step changes its group few times.
            first, *others = sorted(found.values(), key=len, reverse=True) or [set[int]()]
            first.add(step)
            group_of[step] = first
            for other in others:
                first |= other
                group_of.update(dict.fromkeys(other, first))
        return list({id(group): group for group in group_of.values()}.values())

    def freed_bytes(self, values: Values, steps: Collection[int]) -> int:
        """Bytes that need not be kept if these nodes run once more, less what must be kept for that alone."""
        freed = sum(values.bytes_of(entry) for entry in self.again if values.owners[entry] in steps)
        read = {entry for step in steps for entry in values.sources(step)} & self.kept
        return freed - sum(
            values.bytes_of(entry)
            for entry in read
            if entry not in values.read and not values.is_there(entry)
        )


@final
class Rules:
    """Values that may be computed again, and what they are computed of.

    Args:
        values: The graph's.
        allowed: The steps that may run once more; None: all that can.
        is_careful: Whether backward may come to read only what `Values.may_be_read` allows.
    """

    def __init__(self, values: Values, allowed: Collection[int] | None, is_careful: bool) -> None:
        self._values = values
        self._allowed = allowed
        self._is_careful = is_careful
        self._sources: dict[int, list[int] | None] = {}

    def within(self, allowed: Collection[int]) -> Rules:
        """The same rules for fewer steps."""
        fewer = Rules(self._values, allowed, self._is_careful)
        owners = self._values.owners
        fewer._sources = {
            entry: found if owners[entry] in allowed else None for entry, found in self._sources.items()
        }
        return fewer

    def sources(self, entry: int) -> list[int] | None:
        """Entries that a value is computed of; None where it may not be computed again."""
        if entry not in self._sources:
            self._sources[entry] = self._find_sources(entry)
        return self._sources[entry]

    def _find_sources(self, entry: int) -> list[int] | None:
        values = self._values
        step = values.owners[entry]
        if values.is_there(entry) or not (self._allowed is None or step in self._allowed):
            return None
        how = values.repetition(step)
        if how is None or entry - values.graph.first_entries[step] >= len(how.op.list_outputs()):
            return None
        found = values.sources(step)
        return found if all(values.may_be_read(source, self._is_careful) for source in found) else None

    def is_kept_anyhow(self, entry: int) -> bool:
        """Return whether backward has a value whatever is chosen."""
        return self._values.is_there(entry) or (entry in self._values.read and self.sources(entry) is None)

    def stretch(self, start: int, needed: Sequence[int]) -> Stretch:
        """The cheapest choice for values that are needed of a stretch."""
        values, owners = self._values, self._values.owners

        def sources_of(entry: int) -> list[int] | None:
            is_behind = owners[entry] < start and owners[entry] not in values.forced
            return None if is_behind else self.sources(entry)

        def size_of(entry: int) -> int:
            if self.is_kept_anyhow(entry):
                return 0
            may_go = owners[entry] in values.forced and self.sources(entry) is not None
            return FORCED if may_go else values.bytes_of(entry)

        kept = minimum_cut(needed, sources_of, size_of)
        steps: set[int] = set()
        waiting = [entry for entry in needed if entry not in kept]
        while waiting:
            step = owners[waiting.pop()]
            if step not in steps:
                steps.add(step)
                waiting += [source for source in values.sources(step) if source not in kept]
        return Stretch(start, frozenset(needed) - kept, frozenset(kept), frozenset(steps))

    def stretches(self, peak_bytes: int | None) -> list[Stretch]:
        """The choice for all of forward.

        Args:
            peak_bytes: What the kept values and those of one stretch may need together; None: one stretch.
        """
        values = self._values
        left = values.kept_bytes
        found: list[Stretch] = []
        group: list[int] = []
        start = kept = opened = 0

        def close() -> None:
            nonlocal kept, opened, start
            made = self.stretch(start, group)
            kept += sum(values.bytes_of(entry) for entry in made.kept if not self.is_kept_anyhow(entry))
            found.append(made)
            start, opened = values.owners[group[-1]] + 1, 0
            group.clear()

        for entry in values.needed:
            if values.is_there(entry):
                continue
            size = values.bytes_of(entry)
            if self.sources(entry) is None:
                kept, left = kept + size, left - size
                continue
            if peak_bytes is not None:
                if group and kept + opened + size > peak_bytes:
                    close()
                if kept + opened + left <= peak_bytes and values.owners[entry] not in values.forced:
                    kept, left = kept + size, left - size
                    continue
            group.append(entry)
            opened, left = opened + size, left - size
        if group:
            close()
        return [stretch for stretch in found if stretch.again]

    def peak_bytes(self, stretches: Sequence[Stretch]) -> int:
        """The most that is kept beside the values of one stretch, by arithmetic: plans need a little more."""
        values, stretch_of = self._values, {entry: one for one in stretches for entry in one.again}
        kept = peak = opened = 0
        last: Stretch | None = None
        for entry in values.needed:
            if values.is_there(entry):
                continue
            stretch = stretch_of.get(entry)
            if stretch is None:
                kept += values.bytes_of(entry)
                continue
            if stretch is not last:
                last, opened = stretch, 0
                kept += sum(
                    values.bytes_of(one) for one in stretch.kept - values.read if not values.is_there(one)
                )
            opened += values.bytes_of(entry)
            peak = max(peak, kept + opened)
        return max(peak, kept)
