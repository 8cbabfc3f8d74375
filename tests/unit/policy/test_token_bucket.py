from termvisor.model.action.policy import Rates
from termvisor.policy.token_bucket import FULL, Bucket, limits, take

SECOND = 10**9
NOW = 10**18


def spent(bucket: Bucket, count: int, at: int = NOW) -> Bucket:
    for _ in range(count):
        taken = take(bucket, 30, at)
        assert taken.retry_at is None
        bucket = taken.bucket
    return bucket


def test_a_full_bucket_gives_a_minutes_worth_at_once_and_then_says_when_the_next_is_there() -> None:
    empty = spent(FULL, 30)
    assert take(empty, 30, NOW).retry_at == NOW + 2 * SECOND
    assert take(empty, 30, NOW + 2 * SECOND).retry_at is None


def test_a_refusal_costs_nothing() -> None:
    empty = spent(FULL, 30)
    assert take(empty, 30, NOW).bucket == empty


def test_it_fills_evenly() -> None:
    empty = spent(FULL, 30)
    later = spent(empty, 5, NOW + 10 * SECOND)
    assert take(later, 30, NOW + 10 * SECOND).retry_at == NOW + 12 * SECOND


def test_a_clock_that_was_set_back_keeps_nobody_out_for_long() -> None:
    assert take(Bucket(NOW + 10**15), 30, NOW).retry_at == NOW + 2 * SECOND


def test_an_action_is_counted_per_pane_and_kind_and_where_it_is_limited_per_caller() -> None:
    assert limits(Rates(), 7, "send_text", ("robot", "ci")) == {"pane:7:send_text": 30}
    both = limits(Rates(actors={"robot": 5}), None, "notify", ("robot", "ci"))
    assert both == {"pane:-:notify": 30, "actor:robot:ci": 5}
