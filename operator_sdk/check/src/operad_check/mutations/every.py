"""All faults."""

from __future__ import annotations

from typing import Final

from operad_sdk.check.mutations.backward import BACKWARD
from operad_sdk.check.mutations.declared import DECLARED
from operad_sdk.check.mutations.forward import FORWARD

FAULTS: Final = (*FORWARD, *BACKWARD, *DECLARED)
