"""Store messages of agent transcripts once each, and index their text in the same transaction."""

from collections.abc import Sequence

from termvisor.model.agent.transcript_message import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import replace_surrogates
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.time_buckets import extend_time_buckets


class TranscriptTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, messages: Sequence[TranscriptMessage]) -> int:
        """Store the new messages; return how many were new."""
        return await self._db.write(lambda connection: sum(_add_message(connection, message) for message in messages))

    async def add_with_detections(
        self, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
    ) -> tuple[int, list[Event]]:
        """Store the new messages and their detections in one transaction; return their number and the events."""
        return await self._db.write(lambda connection: _add_with_detections(connection, messages))

    async def find_newest_time(self, pane: PaneId) -> int:
        """Return the time of the newest message in a pane; 0 if there is none."""
        query = "SELECT at FROM utterance WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get or 0))


def _add_with_detections(
    connection: Connection, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
) -> tuple[int, list[Event]]:
    new = [detections for message, detections in messages if _add_message(connection, message)]
    return len(new), [event for detections in new for event in add_detections(connection, detections)]


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
    row_id: int | None = connection.execute(
        "INSERT INTO utterance (pane, runtime, agent, session, role, key, at, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (session, key) DO NOTHING RETURNING id",
        row,
    ).get
    if row_id is None:
        return False
    connection.execute("INSERT INTO utterance_fts (rowid, text, pane) VALUES (?, ?, ?)", (row_id, text, message.pane))
    extend_time_buckets(connection, "utterance", [(row_id, message.at, message.at)])
    return True
