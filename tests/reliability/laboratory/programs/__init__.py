"""Programs of two or three threads, and what each must give: what some serial order of its pushes gives."""

from tests.reliability.laboratory.programs import ending as ending
from tests.reliability.laboratory.programs import hiring as hiring
from tests.reliability.laboratory.programs import preparing as preparing
from tests.reliability.laboratory.programs import pushing as pushing
from tests.reliability.laboratory.programs.program import PROGRAMS as PROGRAMS
from tests.reliability.laboratory.programs.program import Parts as Parts
from tests.reliability.laboratory.programs.program import Program as Program
