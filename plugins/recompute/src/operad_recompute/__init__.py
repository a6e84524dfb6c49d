"""Less memory for training: values that backward reads are computed again instead of kept."""

from operad_recompute.recompute import recompute as recompute
