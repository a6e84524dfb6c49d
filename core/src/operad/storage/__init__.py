"""Storage allocator: allocates blocks of device memory and keeps freed ones for reuse."""

from operad.storage.handle import Handle as Handle
from operad.storage.manager import Storage as Storage
from operad.storage.manager import get as get
from operad.storage.manager import on_sweep as on_sweep
from operad.storage.pool import POISON as POISON
from operad.storage.size_class import ALIGNMENT_BYTES as ALIGNMENT_BYTES
from operad.storage.size_class import Stats as Stats
from operad.storage.size_class import class_bytes as class_bytes
