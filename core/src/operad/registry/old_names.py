"""Names that the registry's functions had, which work with a warning for one version."""

from __future__ import annotations

import warnings
from typing import Any, Final

from operad.registry.entries import attribute_names, find_attribute, get_attribute
from operad.registry.methods import module_attribute

_OLD_NAMES: Final = {
    "attribute": module_attribute,
    "names_on_face": attribute_names,
    "on_face": find_attribute,
}


def own_attribute(name: str) -> Any:
    """An attribute of `operad.registry` that a plugin adds, or a function by its old name.

    Raises:
        AttributeError: It is neither.
    """
    found = _OLD_NAMES.get(name)
    if found is None:
        return get_attribute("registry", name)
    warnings.warn(
        f"operad.registry.{name} is {found.__name__} since operad 0.3; the old name ends with 0.4",
        DeprecationWarning,
        stacklevel=3,
    )
    return found
