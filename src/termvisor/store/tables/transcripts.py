"""Store each message of agent transcripts once, and index its text in the same transaction."""

from collections.abc import Sequence

from termvisor.model.agent.session import TranscriptMessage
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, replace_surrogates, run_read, run_write
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.indexed_table import UTTERANCES


class TranscriptTable(StoreTable):
    @run_write
    def add(self, connection: Connection, messages: Sequence[TranscriptMessage]) -> int:
        """Store the new messages; return how many were new."""
        return sum(_add_message(connection, message) for message in messages)

    @run_write
    def add_with_detections(
        self, connection: Connection, messages: Sequence[tuple[TranscriptMessage, Sequence[Detection]]]
    ) -> tuple[int, list[Event]]:
        """Store the new messages and their detections in one transaction; return their number and the events."""
        new = [detections for message, detections in messages if _add_message(connection, message)]
        return len(new), [event for detections in new for event in add_detections(connection, detections)]

    @run_read
    def find_newest_time(self, connection: Connection, pane: PaneId) -> int:
        """Return the time of the newest message in a pane; 0 if there is none."""
        query = "SELECT at FROM utterance WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return int(connection.execute(query, (pane,)).get or 0)


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
    # Transcripts are read again after a restart; a known message is neither counted nor indexed twice.
    if row_id is None:
        return False
    UTTERANCES.add_texts(connection, [(row_id, text, message.pane)])
    UTTERANCES.extend_times(connection, [(row_id, message.at, message.at)])
    return True
