"""Ways from what users import to what plugins add: attributes of modules and classes, and modules.

Above all rooms, beside the modules that users import: `operad.nd`, `operad.sym`, `operad.context`,
`operad.operator`, `operad.random`, `operad.profiler`.
"""

from operad.front.attributes import added as added
from operad.front.finder import spec_of as spec_of
