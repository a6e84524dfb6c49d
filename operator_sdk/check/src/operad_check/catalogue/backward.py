"""Group B: the backward pass."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

BACKWARD: Final = (
    Check(
        "B301",
        "each element of each gradient is the derivative of the outputs",
        "A gradient that is wrong by a factor, a sign or one element still trains, only worse.",
        "@square.gradient\ndef _(output_grad, data): return output_grad * data    # and the factor 2?",
        "Derive it again for the element printed; a loss that ignores the head gradient declares so.",
    ),
    Check(
        "B302",
        "the gradient along any direction is the derivative along it, on larger arrays too",
        "Mistakes that need size show here: blocks, strides, axes that small arrays do not have.",
        "def bias_grad(output_grad): return output_grad[:4].sum(0)    # right up to four rows",
        "Look at what changes with the shape printed.",
    ),
    Check(
        "B303",
        "the gradient is linear in the gradient of the output",
        "The chain rule is linear. What is not, is wrong in every network in which something follows.",
        "def data_grad(output_grad, slope): return np.sign(output_grad) * slope",
        "Multiply by the gradient of the output once; clip gradients elsewhere.",
    ),
    Check(
        "B304",
        "an operator that declares to ignore the gradient of the output does so",
        "Heads of networks are losses; if it is documented that their gradient does not matter, it must not.",
        'Contract(ignores_head_gradient="a loss")    # and output_grad is multiplied in',
        "Remove the declaration, or output_grad from what the gradient names.",
    ),
    Check(
        "B305",
        "every mixture of write, add and null requests gives the same gradients",
        "`grad_req='add'` accumulates over batches; where several paths meet, gradients are added in place.",
        "in_grad[0][...] = value    # whatever req[0]",
        "Leave requests to the toolkit: return the gradient or fill it, without accumulate=True. "
        "In a long form, write through operad.operator.assign.",
    ),
    Check(
        "B306",
        "backward runs wherever forward does, and its results have the shape and type of their arguments",
        "A gradient of another shape is silently repeated to fill the array, or fails during a run.",
        "def bias_grad(output_grad): return output_grad    # (N, D) where (D,) is wanted: works for one row",
        "Sum over exactly the axes that were broadcast, and write into the array that is there.",
    ),
    Check(
        "B307",
        "every element of every gradient is written, or added to",
        "Memory of gradients is recycled: what is not written holds values of another array.",
        "def data_grad(output_grad, rows, data_grad):\n    data_grad[rows] = output_grad    # the others?",
        "Fill with zeros first: data_grad[...] = 0.",
    ),
    Check(
        "B308",
        "outputs do not depend smoothly on arguments that are declared to have no gradient",
        "Zeros then flow where a gradient should; the layers below never learn.",
        "def forward(data, scale): return data * scale    # and no scale_grad",
        "Write the missing gradient, or declare Contract(no_numeric_gradient=reason).",
    ),
    Check(
        "B309",
        "backward changes nothing but the gradients",
        "It reads arrays that belong to others: the head gradient may be summed into a second gradient.",
        "def data_grad(output_grad, data):\n    output_grad *= data\n    return output_grad",
        "Compute into the gradient or a new array; sharing memory is declared with inplace=.",
    ),
    Check(
        "B310",
        "the same arrays give the same gradients, bit for bit, whatever ran before and however it is called",
        "As for forward; one that keeps something from forward in self gives another node's gradient.",
        "def forward(self, data):\n    self.mask = data > 0    # and data_grad reads self.mask",
        "Keep what backward needs in an output, hidden if need be.",
    ),
    Check(
        "B311",
        "a NaN in a head gradient shows in the gradients that depend on it",
        "It says that something above went wrong. A gradient that turns it into a number hides that.",
        "def data_grad(output_grad): return np.nan_to_num(output_grad)",
        "Let NaN pass; clip and clean outside of operators, where it can be seen.",
    ),
    Check(
        "B312",
        "the gradient of the gradient, where there is one, is the gradient's derivative",
        "Gradient penalties and Newton steps are trained with it, and nothing else ever looks at it.",
        "@gradient(traced=lambda output_grad, data: output_grad)\n"
        "def data_grad(output_grad, data): return 2 * data * output_grad",
        "Give traced= the formula that the gradient computes; leave it out where that uses NumPy alone.",
    ),
    Check(
        "B313",
        "at a kink each gradient lies between the derivatives to the left and to the right",
        "Zeros and ties are frequent: padding, dead units, equal scores; other checks look beside them.",
        "def data_grad(output_grad, data):    # of a maximum with 0\n"
        "    return output_grad * np.where(data == 0, 2, data > 0)",
        "Use one of the two derivatives, or a number between them, such as 0 for the magnitude at 0; "
        'or say why it is another: Contract(expected_failures={"B313": reason}).',
    ),
)
