"""Resources: what all kinds have."""

from __future__ import annotations

from operad import engine
from operad.device import cpu
from operad.resource import Resource, ResourceRequest


class Printer(Resource):
    """A resource that every operation has to itself."""


def test_requests_have_the_names_that_tables_show():
    assert [request.value for request in ResourceRequest] == ["random", "temp_space", "parallel_random"]


def test_a_resource_serves_one_device_and_has_a_variable_with_its_name():
    made = Printer(cpu(3), engine.get(), "printer")
    assert made.ctx is cpu(3)
    assert "printer of cpu(3)" in repr(made.var)


def test_operations_that_name_its_variable_take_turns_in_push_order():
    made, log = Printer(cpu(), engine.get(), "printer"), []
    for number in range(20):
        engine.get().push_sync(lambda _, number=number: log.append(number), cpu(), (), (made.var,))
    engine.get().wait_for_var(made.var)
    assert log == list(range(20))
