"""The budgets hold on everything that was recorded."""

import pytest

from termvisor.agents import BUILTIN, load
from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.state.identification import recognise
from termvisor.model.agent.identification import SignatureInputs
from termvisor.model.agent.state import PRECEDENCE
from tests.accuracy.moment import GONE, Moment, holes, moments, truths, without_truth
from tests.accuracy.verdict import WAITING, verdicts
from tests.bench.figure import Figure
from tests.recordings.near_miss import NearMiss, near_misses

OURS = [adapter for adapter in load() if adapter.name in BUILTIN]
NEAR_MISSES = near_misses()


@pytest.fixture(scope="module")
def known_holes() -> list[tuple[Adapter, Moment]]:
    """Moments that an agent is known not to tell; found in a test, as every process collects all tests."""
    return [(one, moment) for one in OURS for moment in moments(one) if moment.hole]


def test_every_budget_holds() -> None:
    figures = [figure for one in verdicts(OURS) for figure in one.figures()]
    assert figures != []
    missed = [figure for figure in figures if not figure.is_met]
    assert [_told(figure) for figure in missed] == [], "`make accuracy` shows where"


def _told(figure: Figure) -> str:
    return f"{figure.name}: {figure.value:.4f}, budget {figure.budget}"


def test_every_scene_has_a_truth_and_every_truth_is_a_state() -> None:
    assert [f"{one.name}/{scene}" for one in OURS for scene in without_truth(one.name)] == []
    named = {state for scenes in truths().values() for states in scenes.values() for state in states}
    assert named - {GONE} == set(PRECEDENCE) - {"unknown"}


def test_a_known_hole_is_one_and_the_screen_fills_it(known_holes: list[tuple[Adapter, Moment]]) -> None:
    """One that an agent has learnt to tell is no longer excused."""
    for adapter, moment in known_holes:
        assert any(source.has_holes for source in adapter.sources), adapter.name
        assert moment.claimed not in moment.truths, moment.name
        assert moment.published in moment.truths, moment.name


def test_every_hole_is_in_a_scene_that_was_recorded(known_holes: list[tuple[Adapter, Moment]]) -> None:
    assert {moment.name for _, moment in known_holes} == {name for one in OURS for name in holes(one.name)}


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
