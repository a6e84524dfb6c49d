"""Mutation testing: faults that are put into an operator to see whether the checks notice."""

from operad_sdk.check.faults.every import FAULTS as FAULTS
from operad_sdk.check.faults.fault import Fault as Fault
