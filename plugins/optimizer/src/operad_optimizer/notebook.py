"""Optimizers in notebooks."""

from __future__ import annotations

from typing import Any

from operad_sdk.arguments import settings
from operad_sdk.notebook import html_table


def page_of(optimizer: Any) -> str:
    """A table of an optimizer's settings."""
    counted = {"num_update": optimizer.num_update, "lr_scheduler": optimizer.lr_scheduler or "none"}
    return html_table(type(optimizer).__name__, {**settings(optimizer), **counted}.items())
