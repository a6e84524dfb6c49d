"""`operad bench`: the speed of an operator, after a comparison of its results."""

from operad_check.commands.bench.command import bench as bench
