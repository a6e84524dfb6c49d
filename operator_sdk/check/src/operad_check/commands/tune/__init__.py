"""`operad tune`: measured constants of this machine's speed."""

from operad_sdk.commands.tune.command import tune as tune
