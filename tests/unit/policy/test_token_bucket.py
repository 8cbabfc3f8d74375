from termvisor.model.action.policy import RateLimits
from termvisor.policy.token_bucket import FULL_BUCKET, TokenBucket, find_limits, take_token

SECOND = 10**9
NOW = 10**18


def spend_tokens(bucket: TokenBucket, count: int, at: int = NOW) -> TokenBucket:
    for _ in range(count):
        taken = take_token(bucket, 30, at)
        assert taken.retry_at is None
        bucket = taken.bucket
    return bucket


def test_full_bucket_allows_one_minute_of_actions_and_then_reports_retry_at() -> None:
    empty = spend_tokens(FULL_BUCKET, 30)
    assert take_token(empty, 30, NOW).retry_at == NOW + 2 * SECOND
    assert take_token(empty, 30, NOW + 2 * SECOND).retry_at is None


def test_a_refusal_takes_no_token() -> None:
    empty = spend_tokens(FULL_BUCKET, 30)
    assert take_token(empty, 30, NOW).bucket == empty


def test_the_bucket_fills_evenly() -> None:
    empty = spend_tokens(FULL_BUCKET, 30)
    later = spend_tokens(empty, 5, NOW + 10 * SECOND)
    assert take_token(later, 30, NOW + 10 * SECOND).retry_at == NOW + 12 * SECOND


def test_clock_set_back_blocks_for_at_most_a_minute() -> None:
    assert take_token(TokenBucket(NOW + 10**15), 30, NOW).retry_at == NOW + 2 * SECOND


def test_an_action_is_counted_per_pane_kind_and_limited_caller() -> None:
    assert find_limits(RateLimits(), 7, "send_text", ("robot", "ci")) == {"pane:7:send_text": 30}
    both = find_limits(RateLimits(actors={"robot": 5}), None, "notify", ("robot", "ci"))
    assert both == {"pane:-:notify": 30, "actor:robot:ci": 5}
