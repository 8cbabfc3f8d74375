"""The health of a source."""

from termvisor.agents.sources.reader_health import SourceHealthTracker


def made() -> SourceHealthTracker:
    return SourceHealthTracker("codex", "rollout", "/sessions/*.jsonl")


def looked(condition: SourceHealthTracker, *, is_absent: bool = False, dropped: int = 0, detail: str = "") -> str:
    condition.record_scan(is_absent=is_absent, dropped=dropped, detail=detail)
    return condition.health.status


def test_a_source_is_quiet_before_its_first_record_and_absent_without_its_folder():
    one = made()
    assert one.health.detail == "not scanned yet"
    assert (one.health.agent, one.health.source, one.health.where) == ("codex", "rollout", "/sessions/*.jsonl")
    assert looked(one, is_absent=True) == "absent"
    assert looked(one) == "quiet"
    one.record_delivery(2, at=50)
    assert (looked(one), one.health.records, one.health.heard_at) == ("well", 2, 50)
    one.record_delivery(0, at=60)
    assert (one.health.records, one.health.heard_at) == (2, 50)


def test_a_problem_is_shown_until_it_is_solved_and_drops_are_counted():
    one = made()
    looked(one, dropped=2, detail="garbage")
    assert (looked(one, dropped=1), one.health.detail, one.health.dropped) == ("quiet", "garbage", 3)
    one.record_error("permission denied")
    assert (one.health.status, one.health.detail) == ("down", "permission denied")
    assert (looked(one), one.health.detail) == ("quiet", "")


def test_the_polling_reason_is_added_to_the_detail():
    one = made()
    one.set_polling_reason("polled every second: no watch is left")
    looked(one, detail="garbage")
    assert one.health.detail == "garbage; polled every second: no watch is left"
    one.set_polling_reason("")
    assert one.health.detail == "garbage"
