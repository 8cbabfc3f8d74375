"""What a terminal's hook reports becomes an event, at a bounded pace."""

from types import SimpleNamespace

import pytest

from termvisor.daemon.services.user_variables import Reports
from termvisor.errors import BadRequest
from termvisor.terminal.user_variables import RATE
from termvisor.testing.tmux import short_folder
from tests.unit.capture.scene import Memory


class NoonClock:
    """It is always the same second."""

    def now(self) -> int:
        return 1_767_268_800 * 10**9


@pytest.fixture
async def memory():
    with short_folder() as folder:
        opened = await Memory(folder).open()
        opened.pipeline.nonce = "5eed"
        yield opened
        await opened.close()


@pytest.fixture
def reports(memory):
    return Reports(
        SimpleNamespace(pipeline=memory.pipeline, chronicle=memory.chronicle, clock=NoonClock(), store=memory.store)
    )


async def test_a_report_is_stored_then_told(memory, reports):
    pane = await memory.pane()
    with memory.chronicle.news.subscribe() as news:
        stored = await reports.take(pane, "visor-ready", '{"nonce": "5eed", "port": 80}')
        assert news.drain() == [stored]
    assert await memory.store.events.list() == [stored]
    assert (stored.data["proven"], stored.data["value"], stored.data["source"]) == (True, '{"port":80}', "call")


async def test_a_flood_of_one_pane_is_counted_and_holds_up_no_other(memory, reports):
    pane, other = await memory.pane(), await memory.pane("%2")
    told = [await reports.take(pane, "visor-x", "1") for _ in range(RATE + 2)]
    assert [event is None for event in told] == [False] * RATE + [True] * 2
    assert await reports.take(other, "visor-x", "1") is not None
    assert len(await memory.store.events.list(pane=pane)) == RATE


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("visor-x", "{", "the value is not JSON"),
        ("visor-x", f'"{"x" * 5000}"', "the value has 5002 characters; at most 4096"),
        ("deploy", "{}", "'deploy' is no name of a user variable"),
        ("visor-", "{}", "'visor-' is no name"),
    ],
)
async def test_what_is_malformed_is_refused_with_what_is_wrong(memory, reports, name, value, why):
    with pytest.raises(BadRequest, match=why):
        await reports.take(await memory.pane(), name, value)
    assert await memory.store.events.list() == []
