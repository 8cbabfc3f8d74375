"""Which resources a bridge reports as changed."""

import asyncio
from contextlib import aclosing

import pytest

from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.ops.api.resource_updates import list_event_uris, list_output_uris, watch_resources
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts


@pytest.mark.parametrize(
    ("kind", "pane", "uris"),
    [
        ("alert", None, ["visor://events"]),
        ("pane_appeared", 7, ["visor://events", "visor://panes"]),
        ("state_changed", 7, ["visor://events", "visor://panes", "visor://pane/7/explain"]),
        ("rules_reloaded", None, ["visor://events", "visor://rules"]),
    ],
)
def test_an_event_changes_resources(kind: str, pane: int | None, uris: list[str]) -> None:
    event = Event(id=1, at=1, kind=kind, pane=None if pane is None else PaneId(pane))
    assert list(list_event_uris(event)) == uris


def test_output_changes_the_text_and_the_screen_of_its_pane() -> None:
    assert list(list_output_uris(PaneId(7))) == ["visor://pane/7/text", "visor://pane/7/screen"]


async def test_changes_are_gathered_and_each_resource_is_named_once() -> None:
    services = FakeServices()
    async with aclosing(watch_resources(services)) as stream, asyncio.TaskGroup() as group:
        first = group.create_task(anext(stream))
        await let_tasks_run()
        pane = services.add_pane(build_shell_facts("%1"))
        services.print_lines(pane.id, "one", "two")
        services.store_event(Event(at=1, kind="state_changed", pane=pane.id))
        await services.clock.wait_until_asleep()
        await services.clock.advance(1.0)
        changed = await first
    assert changed.uris.count("visor://events") == 1
    assert f"visor://pane/{pane.id}/explain" in changed.uris
