"""`operad check`: the contract checks of operators."""

from operad_sdk.commands.check.command import check as check
