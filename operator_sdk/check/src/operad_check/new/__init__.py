"""New packages of operators, made from a template. Needs `operad-sdk[new]`."""

from operad_sdk.new.add import add as add
from operad_sdk.new.add import package_name as package_name
from operad_sdk.new.create import create as create
from operad_sdk.new.create import default_author as default_author
from operad_sdk.new.requests import KINDS as KINDS
from operad_sdk.new.requests import LICENCES as LICENCES
from operad_sdk.new.requests import ScaffoldError as ScaffoldError
