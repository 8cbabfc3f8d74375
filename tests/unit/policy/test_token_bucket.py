from termvisor.model.action.policy import RateLimits
from termvisor.policy.token_bucket import FULL_BUCKET, TokenBucket, find_limits, take_token

SECOND = 10**9
NOW = 10**18


def spent(bucket: TokenBucket, count: int, at: int = NOW) -> TokenBucket:
    for _ in range(count):
        taken = take_token(bucket, 30, at)
        assert taken.retry_at is None
        bucket = taken.bucket
    return bucket


def test_a_full_bucket_gives_a_minutes_worth_at_once_and_then_says_when_the_next_is_there() -> None:
    empty = spent(FULL_BUCKET, 30)
    assert take_token(empty, 30, NOW).retry_at == NOW + 2 * SECOND
    assert take_token(empty, 30, NOW + 2 * SECOND).retry_at is None


def test_a_refusal_costs_nothing() -> None:
    empty = spent(FULL_BUCKET, 30)
    assert take_token(empty, 30, NOW).bucket == empty


def test_it_fills_evenly() -> None:
    empty = spent(FULL_BUCKET, 30)
    later = spent(empty, 5, NOW + 10 * SECOND)
    assert take_token(later, 30, NOW + 10 * SECOND).retry_at == NOW + 12 * SECOND


def test_a_clock_that_was_set_back_keeps_nobody_out_for_long() -> None:
    assert take_token(TokenBucket(NOW + 10**15), 30, NOW).retry_at == NOW + 2 * SECOND


def test_an_action_is_counted_per_pane_and_kind_and_where_it_is_limited_per_caller() -> None:
    assert find_limits(RateLimits(), 7, "send_text", ("robot", "ci")) == {"pane:7:send_text": 30}
    both = find_limits(RateLimits(actors={"robot": 5}), None, "notify", ("robot", "ci"))
    assert both == {"pane:-:notify": 30, "actor:robot:ci": 5}
