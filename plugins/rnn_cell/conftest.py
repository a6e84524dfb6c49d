"""`BucketSentenceIter` needs the package of iterators; without it there is nothing to collect of it."""

from __future__ import annotations

import operad

collect_ignore = [] if hasattr(operad, "io") else ["src/operad_rnn_cell/buckets.py"]
