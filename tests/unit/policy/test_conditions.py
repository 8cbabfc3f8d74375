import pytest
from msgspec.structs import replace

from termvisor.model.action.policy import PolicyRule, QuietHours, RuleCondition
from termvisor.policy.checks import find_protecting_pattern, is_quiet_time, matches_rule
from termvisor.policy.request import LocalTime
from tests.unit.policy.policy_requests import PROMPT_PANE, analyze_text, make_actor, make_command_request

REQUEST = make_command_request("make && rm -rf build", actor=replace(make_actor("robot", "ci-7"), face="mcp"))
EXAMINED = analyze_text("make && rm -rf build")


def build_rule(answer: str = "ask", **when: object) -> PolicyRule:
    return PolicyRule(id="x", answer=answer, when=RuleCondition(**when))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "is_fit"),
    [
        ({}, True),
        ({"actor": ("robot", "mcp")}, True),
        ({"actor": ("human",)}, False),
        ({"face": ("mcp", "robot")}, True),
        ({"face": ("cli",)}, False),
        ({"name": ("ci-*",)}, True),
        ({"name": ("cd-*",)}, False),
        ({"kind": ("send_text",)}, True),
        ({"kind": ("kill",)}, False),
        ({"risk": ("input",)}, True),
        ({"risk": ("look",)}, False),
        ({"target": ("local",), "session": ("w*",), "window": ("main",), "title": ("api",)}, True),
        ({"target": ("local",), "session": ("other",)}, False),
        ({"target": ("far",), "session": ("work",)}, False),
        ({"session": ("work",), "window": ("other",)}, False),
        ({"session": ("work",), "title": ("other",)}, False),
        ({"session": ("work",), "foreground": ("zsh",)}, False),
        ({"session": ("other",), "pane": (7,)}, False),
        ({"actor": ("human",), "session": ("work",), "program": ("rm",)}, False),
        ({"actor": ("robot",), "session": ("other",), "program": ("rm",)}, False),
        ({"actor": ("robot",), "session": ("work",), "program": ("cp",)}, False),
        ({"program": ("rm",), "command": ("disk",)}, False),
        ({"program": ("cp",), "command": ("destructive_delete",)}, False),
        ({"pane": (7, 8)}, True),
        ({"pane": (8,)}, False),
        ({"agent": ("?*",)}, False),
        ({"foreground": ("bash", "zsh")}, True),
        ({"program": ("rm",)}, True),
        ({"program": ("cp",)}, False),
        ({"command": ("destructive_delete",)}, True),
        ({"command": ("disk",)}, False),
    ],
)
def test_every_key_that_is_set_must_match(when: dict[str, object], is_fit: bool) -> None:
    assert matches_rule(build_rule(**when), REQUEST, EXAMINED) is is_fit


def test_allow_rule_must_match_every_program_and_class() -> None:
    assert not matches_rule(build_rule("allow", program=("make",)), REQUEST, EXAMINED)
    assert matches_rule(build_rule("allow", program=("make", "rm")), REQUEST, EXAMINED)
    assert not matches_rule(build_rule("allow", command=("delete",)), REQUEST, EXAMINED)
    assert not matches_rule(build_rule("allow", command=("destructive_delete",)), REQUEST, EXAMINED)
    assert matches_rule(build_rule("allow", command=("destructive_delete", "unknown_effect")), REQUEST, EXAMINED)
    both = build_rule("allow", command=("destructive_delete",), program=("make", "rm"))
    assert matches_rule(both, REQUEST, EXAMINED)


def test_unknown_program_matches_no_allow_rule() -> None:
    assert not matches_rule(
        build_rule("allow", program=("make",)), make_command_request("make; $X"), analyze_text("make; $X")
    )


def test_command_rule_does_not_match_other_text() -> None:
    assert not matches_rule(build_rule(program=("*",)), REQUEST, None)
    assert not matches_rule(build_rule("allow", command=("delete",)), REQUEST, analyze_text("ls"))


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


NIGHT = QuietHours(since="22:00", until="07:00", days=("fri",))
NOON = QuietHours(since="12:00", until="13:00")
ALL_DAY = QuietHours(since="00:00", until="00:00", days=("sun",))
FRIDAY, SATURDAY, SUNDAY = 4, 5, 6


@pytest.mark.parametrize(
    ("hours", "weekday", "time", "is_quiet"),
    [
        (NIGHT, FRIDAY, "21:59", False),
        (NIGHT, FRIDAY, "22:00", True),
        (NIGHT, SATURDAY, "06:59", True),
        (NIGHT, SATURDAY, "07:00", False),
        (NIGHT, FRIDAY, "03:00", False),
        (NIGHT, SATURDAY, "23:00", False),
        (NOON, SUNDAY, "12:30", True),
        (NOON, SUNDAY, "13:00", False),
        (ALL_DAY, SUNDAY, "15:00", True),
        (ALL_DAY, SATURDAY, "15:00", False),
        (ALL_DAY, 0, "00:00", False),
    ],
)
def test_hours_belong_to_the_day_on_which_they_begin(hours, weekday, time, is_quiet) -> None:
    hour, minute = map(int, time.split(":"))
    assert is_quiet_time(hours, LocalTime(weekday, hour * 60 + minute)) is is_quiet
