"""Contexts as users import them: those of `operad.device`, with what plugins add."""

from __future__ import annotations

import pytest

from operad import context, device, registry


def test_all_that_users_have_is_the_rooms_own():
    for name in ("Context", "as_context", "cpu", "cpu_pinned", "current_context", "gpu", "num_gpus"):
        assert getattr(context, name) is getattr(device, name)


def test_a_plugins_method_is_bound_to_the_context(site):
    site.install(
        "acme-context",
        attributes={"Context.describe": "context_acme:describe", "context.limit": "context_acme:limit"},
        modules={"context_acme": "limit = 5\n\ndef describe(ctx, mark):\n    return f'{ctx}{mark}'\n"},
    )
    registry.refresh()
    assert context.cpu(2).describe("!") == "cpu(2)!"
    assert context.limit == 5


def test_what_nobody_adds_is_an_attribute_error(site):
    with pytest.raises(AttributeError, match="no attribute 'describe'"):
        context.cpu().describe("!")
    with pytest.raises(AttributeError, match="no attribute 'limit'"):
        _ = context.limit
