"""`operad bench`: the speed of an operator, after a comparison of its results."""

from operad_sdk.commands.bench.command import bench as bench
