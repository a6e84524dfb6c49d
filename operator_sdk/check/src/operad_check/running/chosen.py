"""The operators that a package's contract is about."""

from __future__ import annotations

from operad import registry
from operad.registry.plugins import normalized


def operators_of(name: str) -> list[str]:
    """Main names of the operators that a package or distribution provides, or has kernels for."""
    known = registry.operators()
    provided = {
        record.name
        for record in known.values()
        if not record.is_alias
        and (
            record.value.partition(":")[0].partition(".")[0] == name
            or normalized(record.distribution) == normalized(name)
        )
    }
    added = {
        entry.partition(".")[0]
        for plugin in registry.plugins()
        if normalized(plugin.name) == normalized(name)
        for entry in plugin.groups.get("operad.kernels", ())
    }
    return sorted(provided | {known[each].canonical for each in added if each in known})
