"""Clock jumps are detected with the monotonic clock."""

from termvisor.agents.state.clock_change import ClockJumpDetector
from termvisor.clock import NS


def test_passing_time_is_not_a_jump():
    detector = ClockJumpDetector(1000 * NS, 5.0)
    assert detector.detect_jump(1060 * NS, 65.0) == 0
    assert detector.detect_jump(1061 * NS + NS // 2, 66.0) == 0


def test_a_jump_is_reported_once():
    detector = ClockJumpDetector(1000 * NS, 5.0)
    assert detector.detect_jump(400 * NS, 6.0) == -601 * NS
    assert detector.detect_jump(401 * NS, 7.0) == 0
    assert detector.detect_jump(9402 * NS, 8.0) == 9000 * NS


def test_slow_slewing_is_followed_after_a_while():
    detector = ClockJumpDetector(0, 0.0)
    assert [detector.detect_jump(int(second * 1.5 * NS), float(second)) != 0 for second in range(1, 6)].count(True) == 1
