"""New packages of operators, made from a template. Needs `operad-check[new]`."""

from operad_check.new.add import add as add
from operad_check.new.add import package_name as package_name
from operad_check.new.create import create as create
from operad_check.new.create import default_author as default_author
from operad_check.new.requests import KINDS as KINDS
from operad_check.new.requests import LICENCES as LICENCES
from operad_check.new.requests import ScaffoldError as ScaffoldError
