"""Group S: the operator as it stands."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

STATIC: Final = (
    Check(
        "S101",
        "the entry point's name is the operator's own, or that of an alias beside it",
        "Graphs are saved under the operator's own name. If no entry point has it, a saved file cannot be "
        "loaded.",
        'ReLU6 = "acme_ops.relu:relu6"    # and in the code: @unary("relu_6")',
        "Give the entry point and the decorator one name; an alias is a second entry point.",
    ),
    Check(
        "S102",
        "tensor and parameter names are identifiers, all different, and the lists agree with each other",
        "Names are keyword arguments of calls and prefixes of saved arrays; of two alike, one is hidden.",
        "class Scale(operad.operator.OperatorProperty):\n    scale = param(float, 1.0)\n"
        '    def list_arguments(self): return ["data", "scale"]',
        "Rename one of them; list one flag per argument in differentiable_inputs.",
    ),
    Check(
        "S103",
        "parameters survive the trip to strings and back",
        "Graphs are saved as JSON, where parameters are strings. An operator whose parameters do not come "
        "back equal is another operator after loading.",
        "def get_params(self):\n    return {'alpha': f'{self.alpha:.2f}'}",
        "Leave get_params to param(...), or print every digit.",
    ),
    Check(
        "S104",
        "parameters within their bounds are accepted, and others refused with a ParamError",
        "A wrong parameter that passes shows up later, as a shape error or a wrong result.",
        "def __init__(self, **params):\n    super().__init__(num_hidden=params['num_hidden'])",
        "Say the bounds in param(...), and raise ParamError for what depends on several parameters.",
    ),
    Check(
        "S105",
        "every default is a value that the parameter itself accepts",
        "Defaults are not validated when used, but they are when a saved graph is loaded: it then fails.",
        "num_group = param(int, 0, ge=1)",
        "Change the default or the bounds; a parameter that may be left out altogether has the default None.",
    ),
    Check(
        "S106",
        "every pair declared to share memory can: both are there, and of one shape and type for some case",
        "A pair that never matches is a saving that never happens, and often a wrong name.",
        'inplace = "data -> output"    # but output is (N,), data (N, D)',
        "Delete the pair, or name the array that has the output's shape.",
    ),
    Check(
        "S107",
        "the operator and each of its parameters are documented",
        "Generated documentation, `operad describe` and editors show these texts.",
        "alpha = param(float, 1.0)    # no doc=",
        "Give the class or function a docstring whose first line says what it computes, and param(doc=...).",
    ),
    Check(
        "S108",
        "the docstring has an example, and the example gives what it says",
        "An example is what most readers look at first; one that is wrong misleads all of them.",
        '""">>> od.nd.twice(od.nd.array([1])).asnumpy()\narray([3.], dtype=float32)"""',
        "Add a doctest (lines that start with >>>), or correct its output.",
    ),
    Check(
        "S109",
        "what the backward pass declares to read exists, and asking for fewer gradients never reads more",
        "The executor keeps exactly the arrays that are declared, and no others.",
        "def declare_backward_dependency(self, out_grad, in_data, out_data):\n    return [out_grad[9]]",
        "Return entries of the lists that are handed in, and only gradients of visible outputs.",
    ),
    Check(
        "S110",
        "what the contract names exists, and every exemption has a reason",
        "A misspelt name in a contract declares nothing, silently.",
        'Contract(inputs={"lable": Integers(0, 9)})',
        "Use names of arguments, auxiliary states and parameters, ids of checks, and say why.",
    ),
    Check(
        "S111",
        "the docstring's shapes are those of the spec line",
        "Readers believe the docstring, and the executor the line.",
        '"""...\n\nShapes:\n    data: (N, D).\n"""    # and spec = "data:(D, N) -> output:(D)"',
        "Correct the section Shapes: of the docstring, which names each tensor and its axes.",
    ),
    Check(
        "S112",
        "lists of another length, and negative and huge numbers, are refused by inference, or work",
        "A call with a wrong parameter should end in words, and not in the middle of a computation, whose "
        "message names neither the parameter nor the operator.",
        "def forward(data, offset):\n    top, left = offset    # what if there are three?",
        "Give the parameter bounds, write its length into the shape line, or refuse it in infer_shape.",
    ),
    Check(
        "S113",
        "an axis counted from the end is the same one, and one beyond either end is refused",
        "Conditions such as -n <= axis < n are easily off by one at one end, where no example looks. Then an "
        "axis that is there is refused, or one that is not is read.",
        "def infer_shape(self, in_shapes):\n"
        "    if not -len(in_shapes[0] or ()) < self.axis < len(in_shapes[0] or ()):\n"
        '        raise ShapeError(f"there is no axis {self.axis}")',
        "Refuse what is not in range(-n, n); one that is not counted from the end has a lower bound of 0.",
    ),
)
