"""What a report says of one check."""

from __future__ import annotations


def failure(report, id):
    """The failure of a check that is red."""
    (found,) = [outcome for outcome in report.outcomes if outcome.check_id == id]
    assert found.failure is not None, found
    return found.failure
