"""Delivery of redacted records, and the health of their source."""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.record_delivery import RecordDelivery
from termvisor.errors import Unavailable
from termvisor.testing.fake_clock import NOON, FakeClock


async def accept(records: list[SourceRecord]) -> None:
    assert records


def build_delivery() -> RecordDelivery:
    return RecordDelivery("codex", "rollout", "/sessions/*.jsonl", accept, FakeClock())


def record_scan(delivery: RecordDelivery, *, is_absent: bool = False, dropped: int = 0, detail: str = "") -> str:
    delivery.record_scan(is_absent=is_absent, dropped=dropped, detail=detail)
    return delivery.health.status


async def test_a_source_is_quiet_before_its_first_record_and_absent_without_its_folder():
    delivery = build_delivery()
    assert delivery.health.detail == "not scanned yet"
    assert (delivery.health.agent, delivery.health.source, delivery.health.where) == (
        "codex",
        "rollout",
        "/sessions/*.jsonl",
    )
    assert record_scan(delivery, is_absent=True) == "absent"
    assert record_scan(delivery) == "quiet"
    await delivery.deliver_records([SourceRecord(source="rollout", text="{}", at=50)] * 2)
    assert (record_scan(delivery), delivery.health.records, delivery.health.heard_at) == ("well", 2, NOON)
    await delivery.deliver_records([])
    assert (delivery.health.records, delivery.health.heard_at) == (2, NOON)


def test_a_problem_is_shown_until_it_is_solved_and_drops_are_counted():
    delivery = build_delivery()
    record_scan(delivery, dropped=2, detail="garbage")
    assert (record_scan(delivery, dropped=1), delivery.health.detail, delivery.health.dropped) == (
        "quiet",
        "garbage",
        3,
    )
    delivery.record_error(PermissionError("permission denied"))
    assert (delivery.health.status, delivery.health.detail) == ("down", "permission denied")
    delivery.record_error(Unavailable("no such server", hint="Start it."))
    assert delivery.health.detail == "no such server"
    delivery.record_error(TimeoutError())
    assert delivery.health.detail == "TimeoutError"
    assert (record_scan(delivery), delivery.health.detail) == ("quiet", "")


def test_the_polling_reason_is_added_to_the_detail():
    delivery = build_delivery()
    delivery.polling_reason = "polled every second: no watch is left"
    record_scan(delivery, detail="garbage")
    assert delivery.health.detail == "garbage; polled every second: no watch is left"
    delivery.polling_reason = ""
    assert delivery.health.detail == "garbage"
