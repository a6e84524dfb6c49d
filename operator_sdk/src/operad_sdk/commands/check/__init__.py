"""`operad check`: whether operators keep their contract."""

from operad_sdk.commands.check.command import check as check
