"""`operad bench`: how fast an operator is, after a look at whether it is right."""

from operad_sdk.commands.bench.command import bench as bench
