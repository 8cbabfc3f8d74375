"""Store the transcript messages of agents in panes, so that they can be searched.

In: records, each with its agent. Out: stored messages and their detections. A message of a session that no agent
in a pane has reported belongs to another agent in the same folder and is ignored.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.agent.session import AgentSession, TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.redaction import redact
from termvisor.store.tables.transcripts import TranscriptTable

# Longer messages are truncated.
MAX_MESSAGE_CHARS = 16_000
log = get_logger("agents")


class TranscriptRecorder:
    """Recorder of messages; ``find_detections`` returns a message's detections, which are stored with it, each once."""

    def __init__(
        self,
        tracker: AgentTracker,
        registry: AdapterRegistry,
        transcript_table: TranscriptTable,
        *,
        is_enabled: bool = True,
        find_detections: Callable[[TranscriptMessage], Sequence[Detection]] = lambda message: (),
        publish_event: Callable[[Event], None] = lambda event: None,
    ):
        self._tracker, self._registry, self._transcript_table = tracker, registry, transcript_table
        self.is_enabled, self.find_detections, self._publish_event = is_enabled, find_detections, publish_event
        self.stored_count = 0

    async def record_messages(self, records: Iterable[tuple[str, SourceRecord]]) -> None:
        """Store the messages of these records. A storage error is only logged: the transcript file still has them."""
        if not self.is_enabled:
            return
        messages = [message for agent, record in records for message in self._read_messages(agent, record)]
        if not messages:
            return
        try:
            await self._store_messages([(message, self.find_detections(message)) for message in messages])
        except StorageError as error:
            # Not retried, because the signals of these records are stored and the transcript file still has the text.
            log.warning("%d transcript messages were not stored: %s", len(messages), error)

    async def _store_messages(self, messages: list[tuple[TranscriptMessage, Sequence[Detection]]]) -> None:
        if not any(detections for _, detections in messages):
            self.stored_count += await self._transcript_table.add([message for message, _ in messages])
            return
        count, events = await self._transcript_table.add_with_detections(messages)
        self.stored_count += count
        for event in events:
            self._publish_event(event)

    def _read_messages(self, agent: str, record: SourceRecord) -> Iterator[TranscriptMessage]:
        for text in self._registry.read_transcript(agent, record):
            session = self._find_session(agent, text.session)
            if session is not None:
                yield _build_message(text, session, record)

    def _find_session(self, agent: str, name: str) -> AgentSession | None:
        sessions = self._tracker.state.sessions.open_sessions.values()
        return next((one for one in sessions if (one.agent, one.external_id) == (agent, name)), None)


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
