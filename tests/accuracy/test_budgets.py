"""The budgets hold on everything that was recorded."""

import pytest

from termvisor.agents import BUILTIN, load
from termvisor.model.agent import PRECEDENCE
from termvisor.model.signature import SignatureInputs
from termvisor.state.signature import recognise
from tests.accuracy.moment import GONE, truths, without_truth
from tests.accuracy.verdict import OWN_WORD, WAITING, verdicts
from tests.bench.figure import Figure
from tests.recordings.near_miss import NearMiss, near_misses

OURS = [adapter for adapter in load() if adapter.name in BUILTIN]
VERDICTS = verdicts(OURS)
NEAR_MISSES = near_misses()
DEAF = {
    "gemini": "its hooks tell neither a refusal nor an interrupt nor the end of a compression: only the screen does",
}
"""Agents whose own word is known to miss its budget, and why."""


def figures() -> list:
    return [
        pytest.param(figure, id=figure.name, marks=_marks(one.agent, figure))
        for one in VERDICTS
        for figure in one.figures()
    ]


def _marks(agent: str, figure: Figure) -> list[pytest.MarkDecorator]:
    is_known = agent in DEAF and figure.name.endswith(OWN_WORD)
    return [pytest.mark.xfail(strict=True, reason=DEAF[agent])] if is_known else []


@pytest.mark.parametrize("figure", figures())
def test_a_budget_holds(figure: Figure) -> None:
    assert figure.is_met, f"{figure.value:.4f}, budget {figure.budget}: `make accuracy` shows where"


def test_every_scene_has_a_truth_and_every_truth_is_a_state() -> None:
    assert [f"{one.name}/{scene}" for one in OURS for scene in without_truth(one.name)] == []
    named = {state for scenes in truths().values() for states in scenes.values() for state in states}
    assert named - {GONE} == set(PRECEDENCE) - {"unknown"}


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "opencode", "copilot"])
@pytest.mark.parametrize("kind", ["prose", "cat", "vim", "less", "killed"])
def test_the_corpus_holds_each_kind_of_near_miss(kind: str, agent: str) -> None:
    assert f"{kind}_{agent}" in {miss.name for miss in NEAR_MISSES}


@pytest.mark.parametrize("miss", NEAR_MISSES, ids=lambda miss: miss.name)
def test_nobody_waits_in_a_near_miss(miss: NearMiss) -> None:
    assert [one.name for one in OURS if one.look(miss.screen).state in WAITING] == []


@pytest.mark.parametrize("miss", [one for one in NEAR_MISSES if one.title], ids=lambda miss: miss.name)
def test_the_title_and_screen_of_one_that_is_gone_make_no_agent(miss: NearMiss) -> None:
    titled = [one.name for one in OURS if one.title_matches(miss.title)]
    assert titled != [], "the title does name an agent"
    inputs = SignatureInputs(poller_match=titled[0], title_match=titled[0])
    assert recognise(inputs, miss.command).agent == ""
