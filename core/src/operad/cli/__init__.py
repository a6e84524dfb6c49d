"""The command `operad`, and what a plugin's own command (`operad.commands`) is made with."""

from operad.cli.group import main as main
from operad.cli.listing import Listing as Listing
from operad.cli.listing import Result as Result
from operad.cli.modules import declared_in as declared_in
from operad.cli.modules import imported as imported
from operad.cli.modules import located as located
from operad.cli.modules import module_option as module_option
from operad.cli.modules import operator_named as operator_named
from operad.cli.options import complete_operators as complete_operators
from operad.cli.options import complete_plugins as complete_plugins
from operad.cli.options import param_option as param_option
from operad.cli.page import Cell as Cell
from operad.cli.page import Mark as Mark
from operad.cli.page import Page as Page
from operad.cli.progress import progress as progress
from operad.cli.samples import sample_property as sample_property
from operad.cli.samples import sample_shapes as sample_shapes
