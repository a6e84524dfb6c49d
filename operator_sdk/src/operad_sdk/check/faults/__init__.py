"""Faults that are put into an operator to see whether the checks notice."""

from operad_sdk.check.faults.backward import BACKWARD
from operad_sdk.check.faults.declared import DECLARED
from operad_sdk.check.faults.fault import Fault as Fault
from operad_sdk.check.faults.forward import FORWARD

FAULTS = (*FORWARD, *BACKWARD, *DECLARED)
