"""The table of who provides what, which the core knows by heart, against what the plugins declare."""

from __future__ import annotations

import pytest

from operad.registry.first_party import providers
from tools.workspace import Distribution, distributions

PLUGINS = [distribution for distribution in distributions() if distribution.is_plugin]
DECLARED = [
    pytest.param(plugin, group, id=f"{plugin.name}-{group}")
    for plugin in PLUGINS
    for group in plugin.declared["project"]["entry-points"]
    if providers(group)  # hooks and the like are found, never asked for by name
]


@pytest.mark.parametrize(("plugin", "group"), DECLARED)
def test_the_table_promises_exactly_what_a_plugin_declares(plugin: Distribution, group: str) -> None:
    promised = {name for name, distribution in providers(group).items() if distribution == plugin.name}

    assert promised == set(plugin.entry_points(group))
