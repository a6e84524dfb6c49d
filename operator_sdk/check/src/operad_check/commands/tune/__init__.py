"""`operad tune`: measured constants of this machine's speed."""

from operad_check.commands.tune.command import tune as tune
