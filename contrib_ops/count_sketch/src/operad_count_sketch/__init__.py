"""Count sketch, `_contrib_count_sketch`."""

from operad_count_sketch.count_sketch import CountSketch as CountSketch
