from termvisor.model.action.policy import RateLimits
from termvisor.policy.evaluator import count_action, find_limits
from termvisor.policy.request import EMPTY_WINDOW, RateWindow

SECOND = 10**9
NOW = 10**18


def count_actions(window: RateWindow, count: int, at: int = NOW) -> RateWindow:
    for _ in range(count):
        counted = count_action(window, 30, at)
        assert counted.retry_at is None
        window = counted.window
    return window


def test_a_minute_of_actions_is_allowed_at_once_and_then_none_for_a_minute() -> None:
    full = count_actions(EMPTY_WINDOW, 30)
    assert count_action(full, 30, NOW + 59 * SECOND).retry_at == NOW + 60 * SECOND
    assert count_action(full, 30, NOW + 60 * SECOND).retry_at is None


def test_no_minute_has_more_actions_than_the_limit() -> None:
    window, allowed = count_actions(EMPTY_WINDOW, 1), [NOW]
    for at in range(NOW + 58 * SECOND, NOW + 200 * SECOND, SECOND // 4):
        counted = count_action(window, 30, at)
        window = counted.window
        allowed += [at] if counted.retry_at is None else []
    assert max(sum(start <= at < start + 60 * SECOND for at in allowed) for start in allowed) == 30


def test_a_refused_action_is_not_counted() -> None:
    full = count_actions(EMPTY_WINDOW, 30)
    assert count_action(full, 30, NOW).window == full


def test_a_limit_that_was_lowered_counts_the_earlier_actions() -> None:
    window = count_actions(count_actions(EMPTY_WINDOW, 5), 5, NOW + 10 * SECOND)
    assert count_action(window, 5, NOW + 20 * SECOND).retry_at == NOW + 70 * SECOND


def test_clock_set_back_blocks_for_at_most_a_minute() -> None:
    later = RateWindow((NOW + 10**15,) * 30)
    assert count_action(later, 30, NOW).retry_at == NOW + 60 * SECOND


def test_an_action_is_counted_per_pane_kind_and_limited_caller() -> None:
    assert find_limits(RateLimits(), 7, "send_text", ("robot", "ci")) == {"pane:7:send_text": 30}
    both = find_limits(RateLimits(actors={"robot": 5}), None, "notify", ("robot", "ci"))
    assert both == {"pane:-:notify": 30, "actor:robot:ci": 5}
