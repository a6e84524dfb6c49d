"""`gluon.contrib.data`: a sampler of every k-th sample."""

from operad_gluon.contrib.data.sampler import IntervalSampler as IntervalSampler
