"""What was said in conversations with agents, each once, and its words in the index in the same transaction."""

from collections.abc import Sequence

from termvisor.model.agent.transcript_message import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import replace_surrogates
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.pipeline_commit import TIME_BUCKET_BITS

_UPSERT_TIME_BUCKET = (
    "INSERT INTO utterance_time VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE"
    " SET at = min(at, excluded.at), until = max(until, excluded.until)"
)


class TranscriptTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, messages: Sequence[TranscriptMessage]) -> int:
        """Store those that are new; how many were."""
        return await self._db.write(lambda connection: sum(_add_message(connection, one) for one in messages))

    async def add_with_detections(
        self, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
    ) -> tuple[int, list[Event]]:
        """The same, and in the same transaction what was detected in those that are new; the events of that."""
        return await self._db.write(lambda connection: _add_with_detections(connection, messages))

    async def find_newest_time(self, pane: PaneId) -> int:
        """When the agent in a pane said something last, or was told something; 0 where nothing is known."""
        query = "SELECT at FROM utterance WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get or 0))


def _add_with_detections(
    connection: Connection, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
) -> tuple[int, list[Event]]:
    new = [found for one, found in messages if _add_message(connection, one)]
    return len(new), [event for found in new for event in add_detections(connection, found)]


def _add_message(connection: Connection, message: TranscriptMessage) -> bool:
    text = replace_surrogates(message.text)
    row = (
        message.pane,
        message.runtime,
        message.agent,
        replace_surrogates(message.session),
        message.role,
        replace_surrogates(message.key),
        message.at,
        text,
    )
    number = connection.execute(
        "INSERT INTO utterance (pane, runtime, agent, session, role, key, at, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session, key) DO NOTHING RETURNING id",
        row,
    ).get
    if number is None:
        return False
    connection.execute("INSERT INTO utterance_fts (rowid, text, pane) VALUES (?, ?, ?)", (number, text, message.pane))
    connection.execute(_UPSERT_TIME_BUCKET, (number >> TIME_BUCKET_BITS, message.at))
    return True
