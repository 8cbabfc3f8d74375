"""User variables reported by a terminal's hook become events, with a rate limit."""

from types import SimpleNamespace

import pytest

from termvisor.daemon.services.updates import LiveUpdates
from termvisor.errors import BadRequest
from termvisor.terminal.user_variables import MAX_EVENTS_PER_SECOND
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.capture.capture_harness import CaptureStore


class NoonClock:
    """A clock that always returns the same second."""

    def now(self) -> int:
        return 1_767_268_800 * 10**9


@pytest.fixture
async def memory():
    with make_short_folder() as folder:
        opened = await CaptureStore(folder).open()
        opened.pipeline.nonce = "5eed"
        yield opened
        await opened.close()


@pytest.fixture
def updates(memory):
    return LiveUpdates(
        SimpleNamespace(pipeline=memory.pipeline, event_log=memory.event_log, clock=NoonClock(), store=memory.store)
    )


async def test_a_report_is_stored_then_published(memory, updates):
    pane = await memory.add_pane()
    with memory.event_log.events.subscribe() as news:
        stored = await updates.report_user_variable(pane, "visor-ready", '{"nonce": "5eed", "port": 80}')
        assert news.drain() == [stored]
    assert await memory.store.events.list() == [stored]
    assert (stored.data["proven"], stored.data["value"], stored.data["source"]) == (True, '{"port":80}', "call")


async def test_a_flood_from_one_pane_is_limited_and_does_not_affect_others(memory, updates):
    pane, other = await memory.add_pane(), await memory.add_pane("%2")
    events = [await updates.report_user_variable(pane, "visor-x", "1") for _ in range(MAX_EVENTS_PER_SECOND + 2)]
    assert [event is None for event in events] == [False] * MAX_EVENTS_PER_SECOND + [True] * 2
    assert await updates.report_user_variable(other, "visor-x", "1") is not None
    assert len(await memory.store.events.list(pane=pane)) == MAX_EVENTS_PER_SECOND


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("visor-x", "{", "the value is not JSON"),
        ("visor-x", f'"{"x" * 5000}"', "the value has 5002 characters; the limit is 4096"),
        ("deploy", "{}", "'deploy' is not a valid user variable name"),
        ("visor-", "{}", "'visor-' is not a valid"),
    ],
)
async def test_a_malformed_report_is_rejected_with_the_reason(memory, updates, name, value, why):
    with pytest.raises(BadRequest, match=why):
        await updates.report_user_variable(await memory.add_pane(), name, value)
    assert await memory.store.events.list() == []
