"""Track the health of one source: its status, its record counts and the last problem."""

from msgspec.structs import replace

from termvisor.model.agent.evidence_source import SourceHealth

NOT_SCANNED_YET = "not scanned yet"


class SourceHealthTracker:
    """Status `quiet`: no record yet; `absent`: the folder or server is missing; `down`: it cannot be read."""

    def __init__(self, agent: str, source: str, where: str):
        self._health = SourceHealth(agent=agent, source=source, where=where, detail=NOT_SCANNED_YET)
        self._polling_reason = ""

    @property
    def health(self) -> SourceHealth:
        detail = "; ".join(filter(None, (self._health.detail, self._polling_reason)))
        return replace(self._health, detail=detail)

    def record_scan(self, *, is_absent: bool, dropped: int, detail: str) -> None:
        last = self._health
        status = "absent" if is_absent else "well" if last.records else "quiet"
        # A scan without a problem of its own keeps the last one visible until the status changes.
        detail = detail or (last.detail if last.status == status and last.detail != NOT_SCANNED_YET else "")
        self._health = replace(last, status=status, dropped=last.dropped + dropped, detail=detail)

    def record_delivery(self, record_count: int, at: int) -> None:
        if record_count:
            self._health = replace(
                self._health, status="well", records=self._health.records + record_count, heard_at=at
            )

    def record_error(self, reason: str) -> None:
        self._health = replace(self._health, status="down", detail=reason)

    def set_polling_reason(self, reason: str) -> None:
        """Say why the source is polled instead of watched with inotify; empty if it is watched."""
        self._polling_reason = reason
