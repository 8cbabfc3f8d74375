"""How one reader is doing, in numbers and in words for a person."""

from msgspec.structs import replace

from termvisor.model.agent.session import SourceHealth

NOT_YET = "not looked at yet"


class Condition:
    """What is `quiet` has said nothing since we listen; `absent` has no folder yet; `down` cannot be read."""

    def __init__(self, agent: str, source: str, where: str):
        self._told = SourceHealth(agent=agent, source=source, where=where, detail=NOT_YET)
        self._polled = ""

    @property
    def health(self) -> SourceHealth:
        detail = "; ".join(filter(None, (self._told.detail, self._polled)))
        return replace(self._told, detail=detail)

    def looked(self, *, is_absent: bool, dropped: int, detail: str) -> None:
        told = self._told
        status = "absent" if is_absent else "well" if told.records else "quiet"
        kept = detail or (told.detail if told.status == status and told.detail != NOT_YET else "")
        self._told = replace(told, status=status, dropped=told.dropped + dropped, detail=kept)

    def heard(self, records: int, at: int) -> None:
        if records:
            self._told = replace(self._told, status="well", records=self._told.records + records, heard_at=at)

    def failed(self, why: str) -> None:
        self._told = replace(self._told, status="down", detail=why)

    def polled(self, why: str) -> None:
        """Why it is looked at every second instead of being heard; empty: it is heard."""
        self._polled = why
