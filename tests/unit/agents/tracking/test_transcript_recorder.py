"""Messages of agents in panes are stored; those of unknown sessions are ignored."""

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
from termvisor.testing.fake_clock import NOON
from tests.unit.agents.tracking.toy_agent import ToyAdapter
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal


class TranscriptToyAdapter(ToyAdapter):
    """A toy agent whose records are messages: `session|role|text`."""

    def read_transcript(self, record: SourceRecord) -> list[TranscriptText]:
        session, role, text = record.text.split("|", 2)
        return [TranscriptText(role=role, text=text, session=session, key=text, at=record.at - NS)]


class FakeTranscriptStore:
    def __init__(self):
        self.messages, self.is_full = [], False

    async def add(self, messages):
        if self.is_full:
            raise StorageError("the disk is full")
        self.messages += messages
        return len(messages)

    async def add_with_detections(self, messages):
        found = [one for _, detections in messages for one in detections]
        return await self.add([one for one, _ in messages]), [build_detection_event(one) for one in found]


@pytest.fixture
async def transcript_store():
    return FakeTranscriptStore()


@pytest.fixture
async def tracker_with_session(tracker_scene):
    tracker = tracker_scene.tracker
    tracker.submit_facts([build_agent_started(NOON), build_signal(NOON + 1, "running", session="mine")])
    await tracker.wait_stored()
    return tracker


@pytest.fixture
async def recorder(tracker_with_session, transcript_store):
    return TranscriptRecorder(tracker_with_session, AdapterRegistry(lambda: [TranscriptToyAdapter()]), transcript_store)


def build_records(text: str) -> list[tuple[str, SourceRecord]]:
    return [("toy", SourceRecord(source="notes", text=text, at=NOON + 5 * NS))]


async def test_messages_of_a_session_in_a_pane_are_stored(recorder, transcript_store):
    await recorder.record_messages(build_records("mine|user|mend it"))
    (one,) = transcript_store.messages
    assert (one.pane, one.runtime, one.agent, one.session) == (1, 1, "toy", "mine")
    assert (one.role, one.text, one.at) == ("user", "mend it", NOON + 4 * NS)


async def test_messages_of_an_unknown_session_are_ignored(recorder, transcript_store):
    await recorder.record_messages(build_records("other|user|mend it"))
    assert transcript_store.messages == []


async def test_messages_are_redacted_and_truncated(recorder, transcript_store):
    await recorder.record_messages(
        build_records("mine|user|use ghp_0123456789abcdefghijklmnopqrstuvwxyz " + "x" * 2 * MAX_MESSAGE_CHARS)
    )
    assert "0123456789abcdef" not in transcript_store.messages[0].text
    assert len(transcript_store.messages[0].text) <= MAX_MESSAGE_CHARS + 100


async def test_recording_can_be_disabled(recorder, transcript_store):
    recorder.is_enabled = False
    await recorder.record_messages(build_records("mine|user|mend it"))
    assert transcript_store.messages == []


async def test_an_adapter_without_transcripts_stores_nothing(tracker_scene, transcript_store):
    await TranscriptRecorder(
        tracker_scene.tracker, AdapterRegistry(lambda: [ToyAdapter()]), transcript_store
    ).record_messages(build_records("mine|user|mend it"))
    assert transcript_store.messages == []


async def test_a_storage_error_is_not_raised(recorder, transcript_store):
    transcript_store.is_full = True
    await recorder.record_messages(build_records("mine|user|mend it"))
    assert recorder.stored_count == 0


def build_matcher(agent: str) -> RuleMatcher:
    matcher = RuleMatcher()
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
    matcher.transcript_scanner = RuleScanner([rule])
    return matcher


@pytest.mark.parametrize(("agent", "count"), [("toy", 1), ("", 1), ("codex", 0)])
async def test_detections_in_messages_are_stored_and_published(tracker_with_session, transcript_store, agent, count):
    events = []
    recorder = TranscriptRecorder(
        tracker_with_session,
        AdapterRegistry(lambda: [TranscriptToyAdapter()]),
        transcript_store,
        find_detections=build_matcher(agent).detect_in_message,
        publish_event=events.append,
    )
    await recorder.record_messages(build_records("mine|assistant|well\nI deploy to production"))
    assert [(event.kind, event.pane, event.data["captures.where"]) for event in events] == [
        ("org.deploy", 1, "production")
    ] * count
    assert len(transcript_store.messages) == 1
