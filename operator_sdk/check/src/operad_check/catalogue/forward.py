"""Group F: the forward pass."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

FORWARD: Final = (
    Check(
        "F201",
        "forward runs on all shapes and types that inference accepts",
        "Inference is the promise on which graphs are bound; one that then raises fails in a run, "
        "far from the cause.",
        'spec = "lhs:(N), rhs:(M) -> output:(N)"    # and forward computes lhs + rhs',
        "Make the shapes that do not work an error of inference, or make forward work on them.",
    ),
    Check(
        "F202",
        "the result has the inferred shape and type, and from complete arguments nothing is left open",
        "Arrays are allocated as inferred. A smaller result is silently repeated to fill them.",
        '@unary("total")    # data:(...) -> output:(...)\ndef total(data): return data.sum(0, keepdims=True)',
        "Let shape and type inference say what the function returns.",
    ),
    Check(
        "F203",
        "inference from partly known shapes never guesses",
        "What inference says of an incomplete graph is final: a guess that turns out wrong makes a correct "
        "network fail to bind.",
        "def infer_shape(self, in_shapes):\n    n = in_shapes[0][0] or 1    # unknown is not 1",
        "Leave None what does not follow; `is_known` and `unify_shapes` help.",
    ),
    Check(
        "F204",
        "inference accepts every part of shapes that it accepts as a whole, and keeps what it was given",
        "Graphs are inferred in several rounds, from parts. Raising, or forgetting a known axis, stops them.",
        "def infer_shape(self, in_shapes):\n    (n, d), w = in_shapes    # raises where data is unknown yet",
        "Handle None for a shape and for an axis, and return what was given with more filled in.",
    ),
    Check(
        "F205",
        "inferring again from what was inferred gives the same",
        "Inference runs until nothing changes; one that always changes something never ends.",
        "def infer_shape(self, in_shapes):\n    n = self.seen = self.seen + 1",
        "Compute the result from the arguments and parameters alone, and complete the arguments in one go.",
    ),
    Check(
        "F206",
        "shapes that do not fit raise a ShapeError that names the argument and the axis",
        "This message is all that the user of a large network has to find the mistake.",
        'raise ValueError("bad shape")',
        'Raise ShapeError(f"{self.name}: weight has shape {shape}, expected {expected}: axis 1 ..."), or use '
        "a spec line, which does.",
    ),
    Check(
        "F207",
        "forward leaves its inputs as they are",
        "Inputs are other operators' outputs and the user's own arrays.",
        "def forward(data):\n    data -= data.max()\n    return np.exp(data)",
        "Compute into the output or a new array; sharing memory is declared with inplace=.",
    ),
    Check(
        "F208",
        "every element of every output is written",
        "Memory of outputs is recycled: what is not written holds values of another array.",
        "def forward(data, output):\n    output[1:] = data[:-1]    # and output[0]?",
        "Write the rest as well, zeros if nothing else is meant.",
    ),
    Check(
        "F209",
        "the same inputs give the same outputs, bit for bit, whatever ran before",
        "Without it no result can be reproduced, and no failure found again. Operators are shared between "
        "nodes, so one that remembers a call changes another's result.",
        "def forward(data): return data + np.random.normal(size=data.shape)",
        "Keep no state in self; draw random numbers from op_ctx.requested, with ResourceRequest.RANDOM.",
    ),
    Check(
        "F210",
        "axes of length 0 and 1, and no axes at all, work, or are refused by inference",
        "Empty batches occur at the end of an epoch, scalars in losses.",
        "def forward(data): return data / data[0]    # there may be no data[0]",
        "Let the computation cover the empty case, or make it a ShapeError.",
    ),
    Check(
        "F211",
        "the memory layout of inputs and outputs does not matter",
        "Slices and transposes are views: their elements are not side by side, or run backwards.",
        "def forward(data, output): native.kernel(data.ctypes.data, output.ctypes.data, data.size)",
        "Use strides, or make a contiguous copy first: np.ascontiguousarray.",
    ),
    Check(
        "F212",
        "a NaN in an input shows in the outputs that depend on it, and infinities do no harm",
        "A NaN says that something upstream went wrong; an operator that turns it into a number hides that.",
        "def forward(data): return np.where(data > 0, data, 0)    # NaN > 0 is False",
        "Use functions that pass NaN on (np.maximum), or declare Contract(nan_policy=reason).",
    ),
    Check(
        "F213",
        "the result is that of the reference function",
        "Only a reference tells a wrong result from a right one of the right shape.",
        "Contract(reference=lambda data: data.mean(0))    # and the code divides by n - 1",
        "Correct whichever of the two is wrong.",
    ),
    Check(
        "F214",
        "outputs that are to be added to are, those not wanted are left alone, and the others do not change",
        "Executors ask for `add` where gradients meet and for `null` where nothing reads an output.",
        "def forward(self, op_ctx, in_data, req, out_data, aux):\n    out_data[0][...] = np.exp(in_data[0])",
        "Leave requests to the toolkit: return the output, or fill it. In a long form, write through "
        "operad.operator.assign.",
    ),
    Check(
        "F215",
        "all ways to call the operator give the same: forward, forward_templates, direct",
        "An executor takes the fastest one there is.",
        "class Fast(Operator):\n    direct = staticmethod(np.tanh)    # and forward is an approximation",
        "Have all of them end in one function.",
    ),
    Check(
        "F216",
        "auxiliary states change in training runs only, or alike in all runs where that is declared",
        "A prediction that changes the model cannot be repeated.",
        "moving_mean += (1 - momentum) * (mean - moving_mean)    # whatever is_train",
        "Update states where is_train holds; of an update of weights declare Contract(states_move='always').",
    ),
    Check(
        "F217",
        "inference from partly known element types never guesses, never contradicts, and is idempotent",
        "As for shapes: types of a graph are found in rounds.",
        "def infer_type(self, in_types):\n    single = np.dtype('float32')\n"
        "    return [single], [single], []    # whatever is given",
        "Leave None what does not follow, and return what was given.",
    ),
    Check(
        "F218",
        "random draws have the declared distribution, and follow the seed and nothing else",
        "A wrong scale or a biased mask trains, only worse; nobody notices.",
        "mask = generator.random(shape) < p    # keeps with probability p, and should drop",
        "Compare the formula with Contract(distribution=...), and draw from op_ctx.requested.",
    ),
    Check(
        "F219",
        "finite arguments and states give finite gradients and states, and results without holes",
        "One NaN ends a training run, and it comes where nobody tests: far out, at a row of zeros, at the "
        "bound of a parameter. Far out, the product of two arguments may be infinite: a NaN that this makes "
        "of the outputs in one mode is no fault.",
        "def data_grad(output_grad, data, output): return output_grad * data / output    # 0 / 0 at zeros",
        "Write the limit where the formula has none: np.divide(..., where=output != 0).",
    ),
    Check(
        "F220",
        "inference leaves the lists it is handed as they are, and never overrules a known argument",
        "The lists are the graph's own. An argument that inference changes is another graph.",
        "def infer_shape(self, in_shapes):\n    in_shapes[1] = in_shapes[0]    # the caller's list",
        "Return new lists; raise a ShapeError where known shapes contradict each other.",
    ),
    Check(
        "F221",
        "declared relations hold: of a batch and its items, of permuted elements, of scaled and shifted data",
        "What must hold whatever the values finds mistakes where no reference exists.",
        'Contract(relations=("items",))    # and data is normalised over the batch',
        "Correct the computation, or remove the relation from Contract(relations=...).",
    ),
    Check(
        "F222",
        "positions beyond an axis are refused one by one, and alike at both ends, or computed",
        "A test for positions that are out of range has two ends and a word between them, each easily wrong. "
        "Then a position is read that is not there, or one refused that is.",
        "if index.size and index.min() < 0 and index.max() >= len(table):    # and, for or\n"
        '    raise OperadError(f"index is {index.min()} to {index.max()}")',
        "Refuse positions below -length and from length on, each alone; or clip them, or wrap them around.",
    ),
    Check(
        "F223",
        "inference from outputs, where an operator has its own, completes some shape of an argument",
        "A condition that is the wrong way round gives back what is known already. Nothing contradicts it, "
        "and a network stays without shapes.",
        "def infer_shape_backward(self, in_shapes, out_shapes):\n"
        "    return in_shapes if out_shapes[0] is not None else list(out_shapes)    # is, for is not",
        "Return what follows from the outputs; without such a method, nothing is inferred from them.",
    ),
)
