"""Lines and bytes of a span."""

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.ops.history._export_chunks import TimeRange, export_lines, export_raw
from termvisor.testing.fake_services import NOON, FakeServices, build_shell_facts

PANE = PaneId(1)


async def lasting() -> FakeServices:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    for word in ("one", "two", "three"):
        world.print_lines(PANE, word)
        world.print_bytes(PANE, word.encode())
        await world.clock.advance(10)
    return world


async def test_only_what_lies_in_the_span_is_given():
    world, span = await lasting(), TimeRange(NOON + 5 * NS, NOON + 15 * NS)
    assert [piece.text async for piece in export_lines(world, PANE, span, "text")] == ["two"]
    assert [piece.data async for piece in export_raw(world, PANE, span, is_unredacted=True)] == [b"two"]


async def test_an_open_span_has_everything():
    world = await lasting()
    assert [piece.text async for piece in export_lines(world, PANE, TimeRange(), "text")] == ["one", "two", "three"]
    assert (
        b"".join([piece.data async for piece in export_raw(world, PANE, TimeRange(), is_unredacted=False)])
        == b"onetwothree"
    )
