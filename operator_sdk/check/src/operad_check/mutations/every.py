"""All faults."""

from __future__ import annotations

from typing import Final

from operad_check.mutations.backward import BACKWARD
from operad_check.mutations.declared import DECLARED
from operad_check.mutations.forward import FORWARD

FAULTS: Final = (*FORWARD, *BACKWARD, *DECLARED)
