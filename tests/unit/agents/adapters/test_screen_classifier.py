"""Screen classification: the first matching rule wins, and no match is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, find_bottom_box, trim_rows
from termvisor.detection.packs.loader import load_builtin_screen_rules
from termvisor.model.detection.rule import Rule, ScreenCondition
from tests.unit.agents.adapters.adapter_inputs import NOW, build_box, build_screen

CLASSIFIERS = {one.name: one.screen_classifier for one in loader.load_adapters() if isinstance(one, ComposedAdapter)}


def build_rule(name: str, part: str, pattern: str, **fields: object) -> Rule:
    defaults: dict[str, object] = {"since": "1", "scope": "screen", "why": "x", "hits": (), "misses": ()}
    return Rule(id=f"toy.screen.{name}", part=part, pattern=pattern, **(defaults | fields))  # type: ignore[arg-type]


def build_classifier(*rules: Rule) -> ScreenClassifier:
    return ScreenClassifier("toy", lambda screen: {"last": trim_rows(screen.rows)}, rule_provider=lambda agent: rules)


ASKED = build_rule(
    "asked",
    "dialog",
    r"^(?P<question>Run\?)$",
    state="waiting_approval",
    also=(ScreenCondition(part="keys", pattern="(?P<key>e.c)"),),
)
LIMITED = build_rule(
    "limited", "last", r"(?P<message>limit.*)", state="error", flag="usage_limited", details={"error": "limit"}
)
REST = build_rule("rest", "last", ".", state="idle", unless=(ScreenCondition(part="last", pattern="^busy"),))
CLASSIFIER = build_classifier(ASKED, LIMITED, REST)


def test_the_first_matching_rule_gives_state_and_details() -> None:
    reading = CLASSIFIER.classify_regions({"dialog": ["Please", "Run?"], "keys": ["esc"], "last": ["limit"]}, NOW)
    assert (reading.state, reading.rule, reading.rule_name) == ("waiting_approval", "toy.screen.asked", "asked")
    assert reading.details == {"question": "Run?", "key": "esc"}


def test_a_rule_matches_if_all_also_and_no_unless_conditions_match() -> None:
    assert CLASSIFIER.classify_regions({"dialog": ["Run?"], "last": ["x"]}, NOW).rule_name == "rest"
    assert CLASSIFIER.classify_regions({"last": ["x", "busy"]}, NOW) == ScreenReading()


def test_regions_that_match_no_rule_are_unknown() -> None:
    assert CLASSIFIER.classify_regions({}, NOW) == ScreenReading()
    assert CLASSIFIER.classify_regions({"elsewhere": ["Run?", "limit"]}, NOW).state == "unknown"


def test_a_usage_limit_has_its_reset_time_and_fixed_details() -> None:
    reading = CLASSIFIER.classify_regions({"last": ["limit resets in 5m"]}, NOW)
    assert reading.flags.resets_at == NOW + 300 * 10**9
    assert reading.details == {"error": "limit", "message": "limit resets in 5m"}


@pytest.mark.parametrize(
    ("shown", "tasks"),
    [("3 left", 3), ("none left", 0), ("rest", 0), ("999999999 left", 99), ("9" * 400 + " left", 0)],
)
def test_a_task_count_is_reported_and_bounded(shown: str, tasks: int) -> None:
    counting = build_classifier(build_rule("busy", "last", r"^(?P<tasks>\S+) left", state="running"), REST)
    assert counting.classify_regions({"last": [shown]}, NOW).tasks == tasks
    assert CLASSIFIER.classify_regions({"last": [shown]}, NOW).tasks is None, "no rule counts tasks"


def test_without_a_message_the_reset_time_is_found_in_any_row() -> None:
    quiet = build_classifier(build_rule("limited", "foot", "^limit", state="error", flag="usage_limited"))
    parts = {"text": ["it resets in 5m"], "foot": ["limit"]}
    assert quiet.classify_regions(parts, NOW).flags.resets_at == NOW + 300 * 10**9


@pytest.mark.parametrize(("version", "name"), [("", "old"), ("1.9.3", "old"), ("2.0", "new"), ("no number", "old")])
def test_a_rule_for_other_versions_is_left_out(version: str, name: str) -> None:
    classifier = build_classifier(
        build_rule("old", "last", "x", state="idle", versions="<2"), build_rule("new", "last", "x", state="running")
    )
    assert classifier.classify_screen(build_screen("x"), version).rule_name == name


def test_rules_are_loaded_with_the_first_screen() -> None:
    requested: list[str] = []

    def rules(agent: str) -> list[Rule]:
        requested.append(agent)
        return [REST]

    classifier = CLASSIFIER.with_rules(rules)
    assert requested == []
    assert (
        classifier.classify_screen(build_screen("x")).rule_name,
        classifier.classify_screen(build_screen("y")).rule_name,
    ) == (
        "rest",
        "rest",
    )
    assert requested == ["toy"]


WORK = ["● words", "─" * 20, "❯", "─" * 20, "  working · esc to interrupt"]
PERMISSION = ["Run it?", "❯ 1. Yes", "  2. No", "", "enter to select · esc to cancel"]


@pytest.mark.parametrize(
    ("rows", "seen", "confidence", "state"),
    [
        (WORK, "completed", 0.8, "running"),
        (WORK, "completed", 0.9, "completed"),
        (WORK, "error", 0.8, "error"),
        (PERMISSION, "waiting_input", 0.7, "waiting_approval"),
        (PERMISSION, "waiting_input", 0.9, "waiting_input"),
    ],
)
def test_a_structure_refines_a_doubtful_rule(rows: list[str], seen: str, confidence: float, state: str) -> None:
    rule = build_rule("seen", "last", ".", state=seen, confidence=confidence)
    classifier = CLASSIFIER.with_rules(lambda agent: [rule] if agent == "toy" else load_builtin_screen_rules(agent))
    assert classifier.classify_screen(replace(build_screen(rows), cursor_x=2, cursor_y=2)).state == state


@pytest.mark.parametrize("agent", CLASSIFIERS)
@given(rows=st.lists(st.text(alphabet="─━┃╹▀╭╮╰╯│❯› >●•✻✦■△▣⬝·…abc?1.()\n", max_size=70), max_size=30))
def test_any_rows_are_classified(agent: str, rows: list[str]) -> None:
    reading = CLASSIFIERS[agent].classify_screen(build_screen(rows))
    assert (reading.state == "unknown") == (reading.rule == "")


def test_trailing_space_and_blank_rows_are_trimmed() -> None:
    assert trim_rows(["a  ", "", "b", "", "  "]) == ["a", "", "b"]


def test_a_box_counts_only_at_the_end_of_the_screen() -> None:
    frame = build_box("one", "", "two")
    assert [inner for _, inner in find_bottom_box(["before", *frame])] == ["one", "two"]
    assert [inner for _, inner in find_bottom_box([f" {row}" for row in frame])] == ["one", "two"], (
        "a box may be indented"
    )
    assert find_bottom_box([*frame, "> prompt"]) == []
    assert find_bottom_box([]) == []
    assert find_bottom_box(frame[1:]) == []
