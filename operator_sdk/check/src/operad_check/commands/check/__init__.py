"""`operad check`: the contract checks of operators."""

from operad_check.commands.check.command import check as check
