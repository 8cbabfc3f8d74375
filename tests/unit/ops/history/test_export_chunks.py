"""Export of lines and raw bytes of a period."""

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.ops.history._export_chunks import TimeRange, export_lines, export_raw
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


async def build_services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    for word in ("one", "two", "three"):
        services.print_lines(PANE, word)
        services.print_bytes(PANE, word.encode())
        await services.clock.advance(10)
    return services


async def test_only_lines_in_the_period_are_exported():
    services, span = await build_services(), TimeRange(NOON + 5 * NS, NOON + 15 * NS)
    assert [piece.text async for piece in export_lines(services, PANE, span, "text")] == ["two"]
    assert [piece.data async for piece in export_raw(services, PANE, span, is_unredacted=True)] == [b"two"]


async def test_an_open_span_has_everything():
    services = await build_services()
    assert [piece.text async for piece in export_lines(services, PANE, TimeRange(), "text")] == ["one", "two", "three"]
    assert (
        b"".join([piece.data async for piece in export_raw(services, PANE, TimeRange(), is_unredacted=False)])
        == b"onetwothree"
    )
