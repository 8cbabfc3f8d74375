"""How one reader is doing, in numbers and in words for a person."""

from msgspec.structs import replace

from termvisor.model.agent.session import SourceHealth

NOT_SCANNED_YET = "not looked at yet"


class SourceHealthTracker:
    """What is `quiet` has said nothing since we listen; `absent` has no folder yet; `down` cannot be read."""

    def __init__(self, agent: str, source: str, where: str):
        self._health = SourceHealth(agent=agent, source=source, where=where, detail=NOT_SCANNED_YET)
        self._polling_reason = ""

    @property
    def health(self) -> SourceHealth:
        detail = "; ".join(filter(None, (self._health.detail, self._polling_reason)))
        return replace(self._health, detail=detail)

    def record_scan(self, *, is_absent: bool, dropped: int, detail: str) -> None:
        told = self._health
        status = "absent" if is_absent else "well" if told.records else "quiet"
        kept = detail or (told.detail if told.status == status and told.detail != NOT_SCANNED_YET else "")
        self._health = replace(told, status=status, dropped=told.dropped + dropped, detail=kept)

    def record_delivery(self, record_count: int, at: int) -> None:
        if record_count:
            self._health = replace(
                self._health, status="well", records=self._health.records + record_count, heard_at=at
            )

    def record_error(self, reason: str) -> None:
        self._health = replace(self._health, status="down", detail=reason)

    def set_polling_reason(self, reason: str) -> None:
        """Why it is looked at every second instead of being heard; empty: it is heard."""
        self._polling_reason = reason
