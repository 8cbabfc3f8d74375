"""Find the agent that a match belongs to."""

import pytest

from termvisor.clock import NS
from termvisor.model.detection.rule import Rule
from termvisor.model.ids import RuntimeId
from termvisor.pipeline.rule_matcher import AgentPresence, GatingOptions, find_owner

AT = 1000 * NS


def build_rule(agent: str = "codex", versions: str = "") -> Rule:
    return Rule(
        id="a.b",
        since="0",
        agent=agent,
        versions=versions,
        scope="line",
        pattern="x",
        event="a.b",
        why="w",
        hits=(),
        misses=(),
    )


def build_presence(agent: str = "codex", began: float = 0, ended: float | None = None, **others) -> AgentPresence:
    ended_at = None if ended is None else int(ended * NS)
    return AgentPresence(agent_process=RuntimeId(7), agent=agent, began_at=int(began * NS), ended_at=ended_at, **others)


@pytest.mark.parametrize(
    ("stays", "is_there"),
    [
        ([], False),
        ([build_presence()], True),
        ([build_presence("gemini")], False),
        ([build_presence(ended=995)], True),
        ([build_presence(ended=985)], False),
        ([build_presence(began=1002)], False),
        ([build_presence(began=1000.5)], True),
        ([build_presence(began=1001)], True),
        ([build_presence(began=1010, has_process=False)], True),
        ([build_presence(began=1010.1, has_process=False)], False),
        ([build_presence(ended=990)], False),
        ([build_presence(began=1005, has_process=False)], True),
        ([build_presence("gemini"), build_presence(ended=999)], True),
    ],
)
def test_a_rule_of_an_agent_matches_where_that_agent_is_or_just_was_present(stays, is_there):
    assert (find_owner(build_rule(), stays, AT, GatingOptions()) is not None) == is_there


def test_without_gating_a_rule_matches_with_any_agent():
    assert find_owner(build_rule(), [build_presence("gemini")], AT, GatingOptions(is_exact=False)).agent == "gemini"
    assert find_owner(build_rule(), [], AT, GatingOptions(is_exact=False)) is None


def test_the_agent_version_must_match_if_it_is_known():
    old, new, unknown = build_presence(version="0.99.1"), build_presence(version="0.150.0"), build_presence()
    wanted = build_rule(versions=">=0.150,<1")
    assert [find_owner(wanted, [one], AT, GatingOptions()) is not None for one in (old, new, unknown)] == [
        False,
        True,
        True,
    ]


def test_a_match_of_a_general_rule_belongs_to_the_agent_present():
    assert find_owner(build_rule(agent=""), [build_presence("gemini")], AT, GatingOptions()).agent == "gemini"
    assert find_owner(build_rule(agent=""), [], AT, GatingOptions()) is None


def test_of_two_agents_the_matching_one_is_chosen():
    assert (
        find_owner(
            build_rule(), [build_presence("gemini", began=5), build_presence()], AT, GatingOptions(is_exact=False)
        ).agent
        == "codex"
    )
