import pytest

from termvisor.model.action.policy import Rule, When
from termvisor.policy.rule_match import fits
from tests.unit.policy.asking import actor, command, look

REQUEST = command("make && rm -rf build", actor=actor("robot", "ci-7"))
EXAMINED = look("make && rm -rf build")


def rule(answer: str = "ask", **when: object) -> Rule:
    return Rule(id="x", answer=answer, when=When(**when))  # type: ignore[arg-type]


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
    assert fits(rule(**when), REQUEST, EXAMINED) is is_fit


def test_to_allow_every_program_and_class_must_be_meant() -> None:
    assert not fits(rule("allow", program=("make",)), REQUEST, EXAMINED)
    assert fits(rule("allow", program=("make", "rm")), REQUEST, EXAMINED)
    assert not fits(rule("allow", command=("delete",)), REQUEST, EXAMINED)
    assert fits(rule("allow", command=("destructive_delete",)), REQUEST, EXAMINED)


def test_an_unknown_program_is_never_one_that_was_meant() -> None:
    assert not fits(rule("allow", program=("make",)), command("make; $X"), look("make; $X"))


def test_a_rule_about_commands_does_not_speak_of_other_text() -> None:
    assert not fits(rule(program=("*",)), REQUEST, None)
    assert not fits(rule("allow", command=("delete",)), REQUEST, look("ls"))
