"""The checks themselves, one module per group, or per part of one; importing the room registers them all."""

from operad_check.checks import room as room
