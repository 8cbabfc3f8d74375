"""Records are delivered redacted, and the health of their source says how that went."""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.record_delivery import RecordDelivery
from termvisor.errors import Unavailable
from termvisor.testing.fake_clock import NOON, FakeClock


async def accept(records: list[SourceRecord]) -> None:
    assert records


def made() -> RecordDelivery:
    return RecordDelivery("codex", "rollout", "/sessions/*.jsonl", accept, FakeClock())


def looked(condition: RecordDelivery, *, is_absent: bool = False, dropped: int = 0, detail: str = "") -> str:
    condition.record_scan(is_absent=is_absent, dropped=dropped, detail=detail)
    return condition.health.status


async def test_a_source_is_quiet_before_its_first_record_and_absent_without_its_folder():
    one = made()
    assert one.health.detail == "not scanned yet"
    assert (one.health.agent, one.health.source, one.health.where) == ("codex", "rollout", "/sessions/*.jsonl")
    assert looked(one, is_absent=True) == "absent"
    assert looked(one) == "quiet"
    await one.deliver_records([SourceRecord(source="rollout", text="{}", at=50)] * 2)
    assert (looked(one), one.health.records, one.health.heard_at) == ("well", 2, NOON)
    await one.deliver_records([])
    assert (one.health.records, one.health.heard_at) == (2, NOON)


def test_a_problem_is_shown_until_it_is_solved_and_drops_are_counted():
    one = made()
    looked(one, dropped=2, detail="garbage")
    assert (looked(one, dropped=1), one.health.detail, one.health.dropped) == ("quiet", "garbage", 3)
    one.record_error(PermissionError("permission denied"))
    assert (one.health.status, one.health.detail) == ("down", "permission denied")
    one.record_error(Unavailable("no such server", hint="Start it."))
    assert one.health.detail == "no such server"
    one.record_error(TimeoutError())
    assert one.health.detail == "TimeoutError"
    assert (looked(one), one.health.detail) == ("quiet", "")


def test_the_polling_reason_is_added_to_the_detail():
    one = made()
    one.polling_reason = "polled every second: no watch is left"
    looked(one, detail="garbage")
    assert one.health.detail == "garbage; polled every second: no watch is left"
    one.polling_reason = ""
    assert one.health.detail == "garbage"
