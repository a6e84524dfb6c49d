"""Group X: evidence that the checks compare something and notice faults."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

EVIDENCE: Final = (
    Check(
        "X801",
        "every check that applies compared something",
        "A check whose examples are all empty, constant or refused passes whatever the operator does.",
        "labels = np.zeros(n)    # every example in class 0, so every other class is untested",
        "Declare domains, parameter values or shapes that exercise the operator: "
        "Contract(inputs=..., params=..., shapes=...).",
    ),
    Check(
        "X802",
        "every expected failure has a reason",
        "A failure that nobody explains is a bug that nobody mends.",
        'Contract(expected_failures={"F212": ""})',
        "Say why it is expected, and where that is tracked.",
    ),
    Check(
        "X803",
        "every expected failure fails",
        "An exemption that is no longer needed would hide the next mistake.",
        'Contract(expected_failures={"B301": "the slope at 0"})    # and B301 passes',
        "Remove the declaration.",
    ),
    Check(
        "X804",
        "the checks notice faults that are put into this operator",
        "That all checks pass says little if they would pass for a wrong operator too. So the operator is "
        "broken on purpose, in every way that could apply to it, and some check must fail each time.",
        "@rounded.gradient\ndef _(data_grad): data_grad[...] = 0    # and no reference: any steps would do",
        "Give examples on which the fault named shows: Contract(inputs=..., params=..., shapes=..., "
        "reference=...).",
    ),
    Check(
        "X805",
        "every gradient, output, state, kernel and value of a parameter is compared in some case",
        "A check that does not apply is silent. A kernel that no case selects, or an output or a state whose "
        "value nothing knows, may compute anything.",
        '@smooth.kernel("cpu", priority=1, when=lambda prop, shapes, types: shapes[0] == (77, 3))\n'
        "def fast(data): ...    # no case has that shape",
        "Declare what is missing in the Contract: domains of arguments, a reference that returns states too, "
        "shapes that a kernel wants.",
    ),
    Check(
        "X806",
        "no check breaks",
        "A check is broken where its own code raises, and not the operator's, or where it finds no case of a "
        "kind though the operator's shape line says which there are. That is operad's own fault: it says "
        "nothing for or against the operator, which was not checked in this respect.",
        "assert allowed is not None    # a line of a check, for an argument that it did not expect",
        "Report it, with the traceback and the declaration of the operator.",
    ),
)
