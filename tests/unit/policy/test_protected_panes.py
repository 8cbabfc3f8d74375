import pytest

from termvisor.policy.protected_panes import find_protecting_pattern
from tests.unit.policy.policy_requests import PROMPT_PANE


@pytest.mark.parametrize(
    ("pattern", "is_fit"),
    [
        ("7", True),
        ("70", False),
        ("session:w*", True),
        ("session:prod", False),
        ("window:main", True),
        ("title:*pi", True),
        ("target:local", True),
        ("agent:claude*", False),
        ("foreground:bash", True),
        ("pane:local/work/*/0", True),
        ("pane:local/work/*/1", False),
    ],
)
def test_a_pane_is_protected_by_number_or_by_a_glob_over_a_name(pattern: str, is_fit: bool) -> None:
    assert find_protecting_pattern(PROMPT_PANE, (pattern,)) == (pattern if is_fit else "")


def test_first_matching_pattern_is_returned() -> None:
    assert find_protecting_pattern(PROMPT_PANE, ("8", "session:work", "7")) == "session:work"
