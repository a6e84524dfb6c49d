"""The smooth L1 function, `smooth_l1`."""

from operad_smooth_l1.smooth_l1 import smooth_l1 as smooth_l1
