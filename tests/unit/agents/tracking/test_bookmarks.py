"""What an agent writes while no daemon runs is heard by the next one: real files, a real store."""

import pytest

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.sources.appended_lines import LinesReader
from termvisor.agents.tracking import Hearing
from termvisor.clock import SystemClock
from termvisor.daemon.agents.assembly import ribbons
from termvisor.model.agent.agent_process import RuntimeEnded
from termvisor.model.agent.read_position import Bookmark
from termvisor.model.ids import PaneId, RuntimeId
from tests.unit.agents.tracking.house import ONE, began, circle


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes" / "a.log"
    path.parent.mkdir()
    path.write_text("state=error\n")
    return path


class Ears:
    """As a daemon has them: from what the store kept."""

    def __init__(self, house, notes):
        self.hearing = Hearing(house.knowing, circle(), house.clock)
        process = Process(pid=101, pid_started=9, env={"TOY_HOME": str(notes.parent)})
        self.hearing.follow(house.knowing.runtime_in(PaneId(1)), process)
        (watch,) = circle().watches("toy", process)
        self.reader = LinesReader(watch, SystemClock(), ribbons(house.knowing)(ONE, "notes"))
        self.house = house

    async def listen(self) -> list[str]:
        look = self.reader.look(None)
        await self.hearing.records(look.records)
        self.reader.delivered()
        await self.house.knowing.stored()
        return [record.text for record in look.records]


def append(path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


async def test_a_state_that_was_told_while_no_daemon_ran_is_known_by_the_next_one(house, notes):
    await house.tell(began(house.now()))
    first = Ears(house, notes)
    assert await first.listen() == []
    append(notes, "state=working\n")
    assert await first.listen() == ["state=working"]
    assert house.states[0].value == "running"
    await house.kill()
    append(notes, "state=blocked\n")
    await house.open()
    next_one = Ears(house, notes)
    assert await next_one.listen() == ["state=blocked"]
    assert house.states[0].value == "waiting_approval"
    await house.again()
    assert await Ears(house, notes).listen() == []


async def test_bookmarks_go_with_their_agent_and_none_comes_after_it(house, notes):
    await house.tell(began(house.now()))
    await Ears(house, notes).listen()
    assert [one.runtime for one in (await house.store.facts.kept()).bookmarks] == [ONE]
    late = Bookmark(runtime=ONE, watch="notes", body=b"late")
    assert house.knowing.take([RuntimeEnded(at=house.now(1), runtime=ONE)], reached=late)
    await house.knowing.stored()
    assert house.knowing.take((), reached=late)
    await house.knowing.stored()
    assert (await house.store.facts.kept()).bookmarks == ()


async def test_a_bookmark_is_told_once_to_whoever_reads_on_from_it(house, notes):
    await house.tell(began(house.now()))
    await Ears(house, notes).listen()
    await house.again()
    assert house.knowing.bookmark(ONE, "notes")
    assert house.knowing.bookmark(ONE, "notes") == house.knowing.bookmark(RuntimeId(7), "notes") == b""
