"""Entry points of extras that are not installed: they cannot be imported, and nothing is broken."""

from __future__ import annotations

import re
from typing import Final

from operad.registry import PluginRecord
from operad.registry.plugins import Broken, normalized

_MISSING: Final = re.compile(r"ModuleNotFoundError: No module named '(?P<package>\w+)[\w.]*'$")


def missing_extra(broken: Broken) -> str:
    """The requirement that brings what an entry point lacks, such as `operad-check[new]`; "" if none does.

    A module is taken to be of the distribution whose name contains its own, as `yaml` is of `PyYAML`.
    """
    found = _MISSING.search(broken.reason)
    if found is None or broken.entry is None:
        return ""
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - 40 ms of `--help`

    for line in broken.entry.owner.requires:
        try:
            wanted = Requirement(line)
        except InvalidRequirement:  # a finding of its own
            continue
        extra = re.search(r"""extra\s*==\s*["']([\w.-]+)["']""", str(wanted.marker))
        if extra is not None and normalized(found["package"]) in normalized(wanted.name):
            return f"{broken.entry.owner.name}[{extra[1]}]"
    return ""


def without_optional(record: PluginRecord) -> PluginRecord:
    """The record without the entry points of extras that are not installed."""
    if record.state != "broken":
        return record
    broken = tuple(one for one in record.broken if not missing_extra(one))
    if len(broken) == len(record.broken):
        return record
    if not broken:
        return record._replace(state="ok", reason=None, broken=())
    reason = "; ".join(f"{one.entry.title}: {one.reason}" for one in broken if one.entry)
    return record._replace(reason=reason, broken=broken)


def lacking_extras(record: PluginRecord) -> dict[str, str]:
    """The requirements that bring what entry points lack, and which entry points lack what."""
    found: dict[str, list[str]] = {}
    for broken in record.broken:
        if broken.entry is not None and (extra := missing_extra(broken)):
            package = _MISSING.search(broken.reason)
            words = f"{broken.entry.title} needs {package['package'] if package else 'a module'}"
            found.setdefault(extra, []).append(words)
    return {extra: f"optional, and not installed: {', '.join(words)}" for extra, words in found.items()}
