"""For passes over graphs: what to keep, what may be one node, and what may run once more."""

from operad_passes.clusters import Clusters as Clusters
from operad_passes.facts import carried as carried
from operad_passes.facts import numbers as numbers
from operad_passes.facts import tables as tables
from operad_passes.flow import minimum_cut as minimum_cut
from operad_passes.repeat import Repetition as Repetition
from operad_passes.repeat import repetition as repetition
from operad_passes.verify import check_plan as check_plan
