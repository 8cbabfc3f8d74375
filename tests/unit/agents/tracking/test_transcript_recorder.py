"""What is said to agents in panes is written down; strangers are left alone."""

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.transcript_recorder import MAX_MESSAGE_CHARS, TranscriptRecorder
from termvisor.clock import NS
from termvisor.detection.scanner import RuleScanner
from termvisor.errors import StorageError
from termvisor.model.detection.rule import Rule
from termvisor.pipeline.rule_matcher import RuleMatcher
from termvisor.store.tables.detections import build_detection_event
from termvisor.testing.fake_services import NOON
from tests.unit.agents.tracking.toy_agent import ToyAdapter
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal


class Talker(ToyAdapter):
    """A toy whose records are what was said: `session|role|text`."""

    def read_transcript(self, record: SourceRecord) -> list[TranscriptText]:
        session, role, text = record.text.split("|", 2)
        return [TranscriptText(role=role, text=text, session=session, key=text, at=record.at - NS)]


class Shelf:
    def __init__(self):
        self.said, self.is_full = [], False

    async def add(self, said):
        if self.is_full:
            raise StorageError("the disk is full")
        self.said += said
        return len(said)

    async def add_with_detections(self, said):
        found = [one for _, detections in said for one in detections]
        return await self.add([one for one, _ in said]), [build_detection_event(one) for one in found]


@pytest.fixture
async def shelf():
    return Shelf()


@pytest.fixture
async def scribe(tracker_scene, shelf):
    knowing = tracker_scene.tracker
    knowing.submit_facts([build_agent_started(NOON), build_signal(NOON + 1, "running", session="mine")])
    await knowing.wait_stored()
    return TranscriptRecorder(knowing, AdapterRegistry(lambda: [Talker()]), shelf)


def heard(text: str) -> list[tuple[str, SourceRecord]]:
    return [("toy", SourceRecord(source="notes", text=text, at=NOON + 5 * NS))]


async def test_words_of_a_session_in_a_pane_are_kept_with_their_place(scribe, shelf):
    await scribe.record_messages(heard("mine|user|mend it"))
    (one,) = shelf.said
    assert (one.pane, one.runtime, one.agent, one.session) == (1, 1, "toy", "mine")
    assert (one.role, one.text, one.at) == ("user", "mend it", NOON + 4 * NS)


async def test_a_stranger_in_the_same_folder_is_left_alone(scribe, shelf):
    await scribe.record_messages(heard("other|user|mend it"))
    assert shelf.said == []


async def test_secrets_are_taken_out_and_length_is_bounded(scribe, shelf):
    await scribe.record_messages(
        heard("mine|user|use ghp_0123456789abcdefghijklmnopqrstuvwxyz " + "x" * 2 * MAX_MESSAGE_CHARS)
    )
    assert "0123456789abcdef" not in shelf.said[0].text
    assert len(shelf.said[0].text) <= MAX_MESSAGE_CHARS + 100


async def test_it_can_be_switched_off(scribe, shelf):
    scribe.is_asked = False
    await scribe.record_messages(heard("mine|user|mend it"))
    assert shelf.said == []


async def test_an_adapter_need_not_know_words(tracker_scene, shelf):
    await TranscriptRecorder(tracker_scene.tracker, AdapterRegistry(lambda: [ToyAdapter()]), shelf).record_messages(
        heard("mine|user|mend it")
    )
    assert shelf.said == []


async def test_a_full_disk_stops_nobody(scribe, shelf):
    shelf.is_full = True
    await scribe.record_messages(heard("mine|user|mend it"))
    assert scribe.stored_count == 0


def rules(agent: str) -> RuleMatcher:
    spotter = RuleMatcher()
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
    spotter.transcript_scanner = RuleScanner([rule])
    return spotter


@pytest.mark.parametrize(("agent", "count"), [("toy", 1), ("", 1), ("codex", 0)])
async def test_rules_look_at_what_is_said(scribe, shelf, agent, count):
    told = []
    scribe.spot, scribe.tell = rules(agent).detect_in_message, told.append
    await scribe.record_messages(heard("mine|assistant|well\nI deploy to production"))
    assert [(one.kind, one.pane, one.data["captures.where"]) for one in told] == [
        ("org.deploy", 1, "production")
    ] * count
    assert len(shelf.said) == 1
