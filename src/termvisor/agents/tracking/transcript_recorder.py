"""Writes down what was said in the conversations of agents that live in panes, for those who search.

What comes in: records, each with the agent whose it is. What goes out: utterances, to the store. Words of a session
that no agent in a pane has shown are a stranger's, who only shares a folder, and are left alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.transcript_message import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.redaction import redact

MAX_MESSAGE_CHARS = 16_000
"""Characters of one utterance that are kept."""
log = get_logger("scribe")


class TranscriptStore(Protocol):
    async def add(self, messages: Sequence[TranscriptMessage]) -> int: ...

    async def add_with_detections(
        self, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
    ) -> tuple[int, list[Event]]: ...


class TranscriptRecorder:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, transcript_store: TranscriptStore):
        self._tracker, self._registry, self._transcript_store = tracker, registry, transcript_store
        self.is_enabled = True
        """Whether anything is to be written down."""
        self.stored_count = 0
        self.find_detections: Callable[[TranscriptMessage], Sequence[Detection]] = lambda said: ()
        """What rules find in it; stored with it, so each once."""
        self.publish_event: Callable[[Event], None] = lambda event: None

    async def record_messages(self, records: Iterable[tuple[str, SourceRecord]]) -> None:
        """What these records hold of words. What cannot be stored is told in the log: the transcript still has it."""
        if not self.is_enabled:
            return
        said = [one for agent, record in records for one in self._read_messages(agent, record)]
        if not said:
            return
        try:
            await self._store_messages([(one, self.find_detections(one)) for one in said])
        except StorageError as error:
            log.warning("%d utterances were not stored: %s", len(said), error)

    async def _store_messages(self, messages: list[tuple[TranscriptMessage, Sequence[Detection]]]) -> None:
        if not any(found for _, found in messages):
            self.stored_count += await self._transcript_store.add([one for one, _ in messages])
            return
        count, events = await self._transcript_store.add_with_detections(messages)
        self.stored_count += count
        for event in events:
            self.publish_event(event)

    def _read_messages(self, agent: str, record: SourceRecord) -> Iterator[TranscriptMessage]:
        for words in self._registry.read_transcript(agent, record):
            session = self._find_session(agent, words.session)
            if session is not None:
                yield _build_message(words, session, record)

    def _find_session(self, agent: str, name: str) -> AgentSession | None:
        going_on = self._tracker.state.story.going_on.values()
        return next((one for one in going_on if (one.agent, one.external_id) == (agent, name)), None)


def _build_message(transcript_text: TranscriptText, session: AgentSession, record: SourceRecord) -> TranscriptMessage:
    at = min(transcript_text.at, record.at) if transcript_text.at > 0 else record.at
    return TranscriptMessage(
        pane=session.pane,
        runtime=session.runtime,
        agent=session.agent,
        session=transcript_text.session[:200],
        role=transcript_text.role,
        key=transcript_text.key[:200],
        at=at,
        text=redact(transcript_text.text[:MAX_MESSAGE_CHARS]),
    )
