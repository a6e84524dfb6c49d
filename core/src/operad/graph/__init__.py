"""The graph and its passes: one pass a file, each says what it needs and what it gives."""

from operad.graph.gradient import gradient as gradient
from operad.graph.infer import ShapeTable as ShapeTable
from operad.graph.infer import TypeTable as TypeTable
from operad.graph.infer import infer_shapes as infer_shapes
from operad.graph.infer import infer_types as infer_types
from operad.graph.ir import BackwardNode as BackwardNode
from operad.graph.ir import Entry as Entry
from operad.graph.ir import Graph as Graph
from operad.graph.ir import Node as Node
from operad.graph.ir import OpNode as OpNode
from operad.graph.ir import Variable as Variable
from operad.graph.ir import nodes_with_forward as nodes_with_forward
from operad.graph.ir import topological_order as topological_order
from operad.graph.json import from_json as from_json
from operad.graph.json import to_json as to_json
from operad.graph.memory import Block as Block
from operad.graph.memory import MemoryPlan as MemoryPlan
from operad.graph.memory import Placement as Placement
from operad.graph.memory import plan_memory as plan_memory
from operad.graph.place import place as place
from operad.graph.primitives import PRIMITIVES as PRIMITIVES
from operad.graph.primitives import CrossDeviceCopy as CrossDeviceCopy
from operad.graph.primitives import GradAdd as GradAdd
from operad.graph.primitives import GraphPrimitive as GraphPrimitive
from operad.graph.primitives import ZerosLike as ZerosLike
from operad.graph.verify import check_plan as check_plan
