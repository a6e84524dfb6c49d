"""`operad tune`: how fast this machine computes."""

from operad_sdk.commands.tune.command import tune as tune
