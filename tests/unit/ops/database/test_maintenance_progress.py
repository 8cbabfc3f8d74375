from collections.abc import AsyncIterator

from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.database._maintenance_progress import build_step, render_text, stream_steps
from termvisor.ops.render.text import RenderOptions
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices

LOOK = RenderOptions(width=80, colour=False, now=NOON)
SEAL = MaintenanceRun(operation="seal", started_at=NOON, duration=2.5, rows=3, bytes=24_000_000, detail="3 segments")


async def test_progress_is_limited_to_one_item_per_second_finished_steps_are_not() -> None:
    services = FakeServices()

    async def runs() -> AsyncIterator[MaintenanceRun]:
        for number in range(20):
            await services.clock.advance(0.25)
            yield MaintenanceRun(operation="seal", started_at=NOON, rows=number, is_done=False)
        yield SEAL

    found = [(item.rows, item.is_done) async for item in stream_steps(services, runs())]
    assert found == [(3, False), (7, False), (11, False), (15, False), (19, False), (3, True)]


async def test_closing_the_stream_stops_the_maintenance() -> None:
    stopped = []

    async def runs() -> AsyncIterator[MaintenanceRun]:
        try:
            yield SEAL
            yield SEAL
        finally:
            stopped.append(True)

    items = stream_steps(FakeServices(), runs())
    await anext(items)
    await items.aclose()  # type: ignore[attr-defined]
    assert stopped == [True]


def test_steps_are_formatted_when_done_running_and_in_a_dry_run() -> None:
    assert render_text(build_step(SEAL), LOOK) == "seal          3 segments, 24.0 MB  2.5 s"
    going = MaintenanceRun(operation="seal", started_at=NOON, rows=1, detail="1 of 3 segments", is_done=False)
    assert render_text(build_step(going), LOOK) == "seal          … 1 of 3 segments"
    assert render_text(build_step(SEAL, is_dry_run=True), LOOK) == "seal          would: 3 segments, 24.0 MB"
    assert (
        render_text(build_step(MaintenanceRun(operation="seal", started_at=NOON)), LOOK)
        == "seal          nothing to do"
    )
