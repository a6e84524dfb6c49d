"""Names that functions of the registry had."""

from __future__ import annotations

import pytest

from operad import registry


@pytest.mark.parametrize(
    ("old", "new"),
    [("on_face", "find_attribute"), ("names_on_face", "attribute_names"), ("attribute", "module_attribute")],
)
def test_functions_are_found_by_their_old_names_with_a_warning(old, new):
    with pytest.warns(DeprecationWarning, match=f"operad.registry.{old} is {new} since operad 0.3"):
        assert getattr(registry, old) is getattr(registry, new)
