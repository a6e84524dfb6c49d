"""All faults."""

from __future__ import annotations

from typing import Final

from operad_sdk.check.faults.backward import BACKWARD
from operad_sdk.check.faults.declared import DECLARED
from operad_sdk.check.faults.forward import FORWARD

FAULTS: Final = (*FORWARD, *BACKWARD, *DECLARED)
