"""Lines and bytes of a span."""

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.ops.history._export_chunks import Span, lines, raw
from termvisor.testing.world import NOON, MemoryWorld, shell

PANE = PaneId(1)


async def lasting() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell())
    for word in ("one", "two", "three"):
        world.say(PANE, word)
        world.print_bytes(PANE, word.encode())
        await world.clock.advance(10)
    return world


async def test_only_what_lies_in_the_span_is_given():
    world, span = await lasting(), Span(NOON + 5 * NS, NOON + 15 * NS)
    assert [piece.text async for piece in lines(world, PANE, span, "text")] == ["two"]
    assert [piece.data async for piece in raw(world, PANE, span, is_unredacted=True)] == [b"two"]


async def test_an_open_span_has_everything():
    world = await lasting()
    assert [piece.text async for piece in lines(world, PANE, Span(), "text")] == ["one", "two", "three"]
    assert b"".join([piece.data async for piece in raw(world, PANE, Span(), is_unredacted=False)]) == b"onetwothree"
