"""The shape language: one line that states the arguments and results of an operator."""

from operad_sdk.shapes.bound import BoundSpec as BoundSpec
from operad_sdk.shapes.bound import bind as bind
from operad_sdk.shapes.formatter import describe as describe
from operad_sdk.shapes.grammar import Axis as Axis
from operad_sdk.shapes.grammar import Item as Item
from operad_sdk.shapes.grammar import Spec as Spec
from operad_sdk.shapes.grammar import parse as parse
