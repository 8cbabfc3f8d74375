"""Deliver the records of one source, redacted, and track its health: status, record counts, the last problem."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.redaction import redact_json_text
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.agent.evidence import SourceHealth

NOT_SCANNED_YET = "not scanned yet"
RecordHandler = Callable[[list[SourceRecord]], Awaitable[None]]
log = get_logger("agents")


class RecordDelivery:
    """``on_records`` returns when the records are stored.

    Status `quiet`: no record yet; `absent`: the folder or server is missing; `down`: it cannot be read.
    """

    def __init__(self, agent: str, source: str, where: str, on_records: RecordHandler, clock: Clock):
        self._on_records, self._clock = on_records, clock
        self._health = SourceHealth(agent=agent, source=source, where=where, detail=NOT_SCANNED_YET)
        self.polling_reason = ""
        """Why the source is polled instead of watched with inotify; empty if it is watched."""

    @property
    def health(self) -> SourceHealth:
        return replace(self._health, detail="; ".join(filter(None, (self._health.detail, self.polling_reason))))

    async def deliver_records(self, records: Sequence[SourceRecord]) -> None:
        if records:
            await self._on_records([replace(record, text=redact_json_text(record.text)) for record in records])
            count = self._health.records + len(records)
            self._health = replace(self._health, status="well", records=count, heard_at=self._clock.now())

    def record_scan(self, *, is_absent: bool, dropped: int = 0, detail: str) -> None:
        last = self._health
        status = "absent" if is_absent else "well" if last.records else "quiet"
        # A scan without a problem of its own keeps the last one visible until the status changes.
        detail = detail or (last.detail if last.status == status and last.detail != NOT_SCANNED_YET else "")
        self._health = replace(last, status=status, dropped=last.dropped + dropped, detail=detail)

    def record_error(self, error: Exception) -> None:
        reason = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s: %s", self._health.source, self._health.where, reason)
        self._health = replace(self._health, status="down", detail=reason)
