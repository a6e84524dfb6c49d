"""Mutation testing: mutants of an operator, and the faults put into it to see whether the checks notice."""

from operad_check.mutations.every import FAULTS as FAULTS
from operad_check.mutations.fault import Fault as Fault
