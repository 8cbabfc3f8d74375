import pytest

from termvisor.model.action.policy import PolicyRule, RuleCondition
from termvisor.policy.rule_match import matches_rule
from tests.unit.policy.policy_requests import analyze_text, make_actor, make_command_request

REQUEST = make_command_request("make && rm -rf build", actor=make_actor("robot", "ci-7"))
EXAMINED = analyze_text("make && rm -rf build")


def rule(answer: str = "ask", **when: object) -> PolicyRule:
    return PolicyRule(id="x", answer=answer, when=RuleCondition(**when))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "is_fit"),
    [
        ({}, True),
        ({"actor": ("robot", "mcp")}, True),
        ({"actor": ("human",)}, False),
        ({"name": ("ci-*",)}, True),
        ({"name": ("cd-*",)}, False),
        ({"kind": ("send_text",)}, True),
        ({"kind": ("kill",)}, False),
        ({"risk": ("input",)}, True),
        ({"risk": ("look",)}, False),
        ({"target": ("local",), "session": ("w*",), "window": ("main",), "title": ("api",)}, True),
        ({"target": ("local",), "session": ("other",)}, False),
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
def test_every_key_that_is_set_must_fit(when: dict[str, object], is_fit: bool) -> None:
    assert matches_rule(rule(**when), REQUEST, EXAMINED) is is_fit


def test_allow_rule_must_match_every_program_and_class() -> None:
    assert not matches_rule(rule("allow", program=("make",)), REQUEST, EXAMINED)
    assert matches_rule(rule("allow", program=("make", "rm")), REQUEST, EXAMINED)
    assert not matches_rule(rule("allow", command=("delete",)), REQUEST, EXAMINED)
    assert matches_rule(rule("allow", command=("destructive_delete",)), REQUEST, EXAMINED)


def test_unknown_program_matches_no_allow_rule() -> None:
    assert not matches_rule(
        rule("allow", program=("make",)), make_command_request("make; $X"), analyze_text("make; $X")
    )


def test_command_rule_does_not_match_other_text() -> None:
    assert not matches_rule(rule(program=("*",)), REQUEST, None)
    assert not matches_rule(rule("allow", command=("delete",)), REQUEST, analyze_text("ls"))
