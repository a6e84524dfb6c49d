"""Every check by its stable id: what it is, why it matters, an example, a fix."""

from operad_check.catalogue.catalogue import CATALOGUE as CATALOGUE
from operad_check.catalogue.catalogue import ENTRIES as ENTRIES
from operad_check.catalogue.catalogue import explain as explain
from operad_check.catalogue.entry import Check as Check
