import pytest

from termvisor.detection.packs.backtracking_check import find_backtracking_risk


@pytest.mark.parametrize("pattern", ["(a+)+$", "(?:a|b*)*c", "(?:x+y)+", r"(\s*,\s*){9,}", "(?:(?:a*)b){1,900}"])
def test_a_repeat_of_a_repeat_is_refused(pattern: str) -> None:
    assert "repeats a repeat" in find_backtracking_risk(pattern)


@pytest.mark.parametrize("pattern", [".*a.*b.*c", r"[^,]*,[^,]*,\S*,", "(?:.*x)(?:.+y)(?s:.*)z"])
def test_three_repeats_of_anything_are_refused(pattern: str) -> None:
    assert "3 repeats" in find_backtracking_risk(pattern)


@pytest.mark.parametrize("pattern", ["a+b+c+", ".*a.*", "(?:a.*|b.*|c.*)d", "(?:ab){0,9}", r"^\d+ \w+ .{0,200} .*$"])
def test_other_patterns_are_accepted(pattern: str) -> None:
    assert find_backtracking_risk(pattern) == ""
