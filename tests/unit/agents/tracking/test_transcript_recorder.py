"""What is said to agents in panes is written down; strangers are left alone."""

import pytest

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.transcript_text import Words
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.transcript_recorder import LONGEST, Scribe
from termvisor.clock import NS
from termvisor.detection.scanner import RuleScan
from termvisor.errors import StorageError
from termvisor.model.detection.rule import Rule
from termvisor.pipeline.rule_matcher import Spotter
from termvisor.store.tables.detections import event_of
from termvisor.testing.world import NOON
from tests.unit.agents.tracking.house import began, says
from tests.unit.agents.tracking.toy import Toy


class Talker(Toy):
    """A toy whose records are what was said: `session|role|text`."""

    def words(self, record: Record) -> list[Words]:
        session, role, text = record.text.split("|", 2)
        return [Words(role=role, text=text, session=session, key=text, at=record.at - NS)]


class Shelf:
    def __init__(self):
        self.said, self.is_full = [], False

    async def add(self, said):
        if self.is_full:
            raise StorageError("the disk is full")
        self.said += said
        return len(said)

    async def add_found(self, said):
        found = [one for _, detections in said for one in detections]
        return await self.add([one for one, _ in said]), [event_of(one) for one in found]


@pytest.fixture
async def shelf():
    return Shelf()


@pytest.fixture
async def scribe(house, shelf):
    knowing = house.knowing
    knowing.take([began(NOON), says(NOON + 1, "running", session="mine")])
    await knowing.stored()
    return Scribe(knowing, Circle(lambda: [Talker()]), shelf)


def heard(text: str) -> list[tuple[str, Record]]:
    return [("toy", Record(source="notes", text=text, at=NOON + 5 * NS))]


async def test_words_of_a_session_in_a_pane_are_kept_with_their_place(scribe, shelf):
    await scribe.take(heard("mine|user|mend it"))
    (one,) = shelf.said
    assert (one.pane, one.runtime, one.agent, one.session) == (1, 1, "toy", "mine")
    assert (one.role, one.text, one.at) == ("user", "mend it", NOON + 4 * NS)


async def test_a_stranger_in_the_same_folder_is_left_alone(scribe, shelf):
    await scribe.take(heard("other|user|mend it"))
    assert shelf.said == []


async def test_secrets_are_taken_out_and_length_is_bounded(scribe, shelf):
    await scribe.take(heard("mine|user|use ghp_0123456789abcdefghijklmnopqrstuvwxyz " + "x" * 2 * LONGEST))
    assert "0123456789abcdef" not in shelf.said[0].text
    assert len(shelf.said[0].text) <= LONGEST + 100


async def test_it_can_be_switched_off(scribe, shelf):
    scribe.is_asked = False
    await scribe.take(heard("mine|user|mend it"))
    assert shelf.said == []


async def test_an_adapter_need_not_know_words(house, shelf):
    await Scribe(house.knowing, Circle(lambda: [Toy()]), shelf).take(heard("mine|user|mend it"))
    assert shelf.said == []


async def test_a_full_disk_stops_nobody(scribe, shelf):
    shelf.is_full = True
    await scribe.take(heard("mine|user|mend it"))
    assert scribe.written == 0


def rules(agent: str) -> Spotter:
    spotter = Spotter()
    rule = Rule(
        id="org.deploy",
        since="1",
        agent=agent,
        scope="transcript",
        pattern=r"deploy to (?P<where>\w+)",
        event="org.deploy",
        why="x",
        hits=(),
        misses=(),
    )
    spotter.words = RuleScan([rule])
    return spotter


@pytest.mark.parametrize(("agent", "count"), [("toy", 1), ("", 1), ("codex", 0)])
async def test_rules_look_at_what_is_said(scribe, shelf, agent, count):
    told = []
    scribe.spot, scribe.tell = rules(agent).spot_words, told.append
    await scribe.take(heard("mine|assistant|well\nI deploy to production"))
    assert [(one.kind, one.pane, one.data["captures.where"]) for one in told] == [
        ("org.deploy", 1, "production")
    ] * count
    assert len(shelf.said) == 1
