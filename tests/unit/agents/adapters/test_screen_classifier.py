"""Screen classification: the first matching rule wins, and no match is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, find_bottom_box, trim_rows
from termvisor.model.detection.rule import Rule, ScreenCondition
from tests.unit.agents.adapters.adapter_inputs import NOW, build_box, build_screen

SIGHTS = {one.name: one.screen_classifier for one in loader.load_adapters() if isinstance(one, ComposedAdapter)}


def rule(name: str, part: str, pattern: str, **fields: object) -> Rule:
    given: dict[str, object] = {"since": "1", "scope": "screen", "why": "x", "hits": (), "misses": ()}
    return Rule(id=f"toy.screen.{name}", part=part, pattern=pattern, **(given | fields))  # type: ignore[arg-type]


def toy(*rules: Rule) -> ScreenClassifier:
    return ScreenClassifier("toy", lambda screen: {"last": trim_rows(screen.rows)}, rule_provider=lambda agent: rules)


ASKED = rule(
    "asked",
    "dialog",
    r"^(?P<question>Run\?)$",
    state="waiting_approval",
    also=(ScreenCondition(part="keys", pattern="(?P<key>e.c)"),),
)
LIMITED = rule(
    "limited", "last", r"(?P<message>limit.*)", state="error", flag="usage_limited", details={"error": "limit"}
)
REST = rule("rest", "last", ".", state="idle", unless=(ScreenCondition(part="last", pattern="^busy"),))
SIGHT = toy(ASKED, LIMITED, REST)


def test_the_first_rule_that_fits_decides_and_tells_its_groups() -> None:
    seen = SIGHT.classify_regions({"dialog": ["Please", "Run?"], "keys": ["esc"], "last": ["limit"]}, NOW)
    assert (seen.state, seen.rule, seen.rule_name) == ("waiting_approval", "toy.screen.asked", "asked")
    assert seen.details == {"question": "Run?", "key": "esc"}


def test_a_rule_wants_all_that_it_names_and_nothing_that_it_forbids() -> None:
    assert SIGHT.classify_regions({"dialog": ["Run?"], "last": ["x"]}, NOW).rule_name == "rest"
    assert SIGHT.classify_regions({"last": ["x", "busy"]}, NOW) == ScreenReading()


def test_what_fits_nothing_is_unknown() -> None:
    assert SIGHT.classify_regions({}, NOW) == ScreenReading()
    assert SIGHT.classify_regions({"elsewhere": ["Run?", "limit"]}, NOW).state == "unknown"


def test_a_limit_tells_its_end_and_what_is_always_true_of_it() -> None:
    seen = SIGHT.classify_regions({"last": ["limit resets in 5m"]}, NOW)
    assert seen.flags.resets_at == NOW + 300 * 10**9
    assert seen.details == {"error": "limit", "message": "limit resets in 5m"}


@pytest.mark.parametrize(
    ("shown", "tasks"),
    [("3 left", 3), ("none left", 0), ("rest", 0), ("999999999 left", 99), ("9" * 400 + " left", 0)],
)
def test_a_task_count_is_reported_and_bounded(shown: str, tasks: int) -> None:
    counting = toy(rule("busy", "last", r"^(?P<tasks>\S+) left", state="running"), REST)
    assert counting.classify_regions({"last": [shown]}, NOW).tasks == tasks
    assert SIGHT.classify_regions({"last": [shown]}, NOW).tasks is None, "where no rule counts, nothing is said"


def test_without_a_message_any_row_may_tell_the_end() -> None:
    quiet = toy(rule("limited", "foot", "^limit", state="error", flag="usage_limited"))
    parts = {"said": ["it resets in 5m"], "foot": ["limit"]}
    assert quiet.classify_regions(parts, NOW).flags.resets_at == NOW + 300 * 10**9


@pytest.mark.parametrize(("version", "name"), [("", "old"), ("1.9.3", "old"), ("2.0", "new"), ("no number", "old")])
def test_a_rule_for_other_versions_is_left_out(version: str, name: str) -> None:
    sight = toy(rule("old", "last", "x", state="idle", versions="<2"), rule("new", "last", "x", state="running"))
    assert sight.classify_screen(build_screen("x"), version).rule_name == name


def test_rules_are_read_when_the_first_screen_is_seen() -> None:
    asked: list[str] = []

    def rules(agent: str) -> list[Rule]:
        asked.append(agent)
        return [REST]

    sight = SIGHT.with_rules(rules)
    assert asked == []
    assert (sight.classify_screen(build_screen("x")).rule_name, sight.classify_screen(build_screen("y")).rule_name) == (
        "rest",
        "rest",
    )
    assert asked == ["toy"]


@pytest.mark.parametrize("agent", SIGHTS)
@given(rows=st.lists(st.text(alphabet="─━┃╹▀╭╮╰╯│❯› >●•✻✦■△▣⬝·…abc?1.()\n", max_size=70), max_size=30))
def test_any_rows_at_all_give_an_answer(agent: str, rows: list[str]) -> None:
    seen = SIGHTS[agent].classify_screen(build_screen(rows))
    assert (seen.state == "unknown") == (seen.rule == "")


def test_trailing_space_and_blank_rows_are_trimmed() -> None:
    assert trim_rows(["a  ", "", "b", "", "  "]) == ["a", "", "b"]


def test_a_frame_counts_only_at_the_end_of_the_screen() -> None:
    frame = build_box("one", "", "two")
    assert [inner for _, inner in find_bottom_box(["before", *frame])] == ["one", "two"]
    assert [inner for _, inner in find_bottom_box([f" {row}" for row in frame])] == ["one", "two"], (
        "one may stand a little in"
    )
    assert find_bottom_box([*frame, "> prompt"]) == []
    assert find_bottom_box([]) == []
    assert find_bottom_box(frame[1:]) == []
