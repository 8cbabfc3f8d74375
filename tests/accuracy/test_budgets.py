"""The budgets hold on everything that was recorded."""

import pytest

from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.loader import BUILTIN_AGENTS, load_adapters
from termvisor.agents.state.identification import identify_agent
from termvisor.model.agent.agent_process import SignatureInputs
from termvisor.model.agent.state import PRECEDENCE
from tests.accuracy.agent_accuracy import WAITING_STATES, measure_accuracy
from tests.accuracy.labeled_scene import (
    EXITED,
    LabeledScene,
    list_unlabeled_scenes,
    load_holes,
    load_labeled_scenes,
    load_truths,
)
from tests.bench.figure import BudgetedFigure
from tests.recordings.near_miss import NearMiss, load_near_misses

OURS = [adapter for adapter in load_adapters() if adapter.name in BUILTIN_AGENTS]
NEAR_MISSES = load_near_misses()


@pytest.fixture(scope="module")
def known_holes() -> list[tuple[Adapter, LabeledScene]]:
    """Moments that an agent is known not to tell; found in a test, as every process collects all tests."""
    return [(one, moment) for one in OURS for moment in load_labeled_scenes(one) if moment.known_hole]


def test_every_budget_holds() -> None:
    figures = [figure for one in measure_accuracy(OURS) for figure in one.build_figures()]
    assert figures != []
    missed = [figure for figure in figures if not figure.is_within_budget]
    assert [_told(figure) for figure in missed] == [], "`make accuracy` shows where"


def _told(figure: BudgetedFigure) -> str:
    return f"{figure.name}: {figure.value:.4f}, budget {figure.budget}"


def test_every_scene_has_a_truth_and_every_truth_is_a_state() -> None:
    assert [f"{one.name}/{scene}" for one in OURS for scene in list_unlabeled_scenes(one.name)] == []
    named = {state for scenes in load_truths().values() for states in scenes.values() for state in states}
    assert named - {EXITED} == set(PRECEDENCE) - {"unknown"}


def test_a_known_hole_is_one_and_the_screen_fills_it(known_holes: list[tuple[Adapter, LabeledScene]]) -> None:
    """One that an agent has learnt to tell is no longer excused."""
    for adapter, moment in known_holes:
        assert any(source.has_holes for source in adapter.sources), adapter.name
        assert moment.claimed_state not in moment.truths, moment.name
        assert moment.published_state in moment.truths, moment.name


def test_every_hole_is_in_a_scene_that_was_recorded(known_holes: list[tuple[Adapter, LabeledScene]]) -> None:
    assert {moment.name for _, moment in known_holes} == {name for one in OURS for name in load_holes(one.name)}


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "opencode", "copilot"])
@pytest.mark.parametrize("kind", ["prose", "cat", "vim", "less", "killed"])
def test_the_corpus_holds_each_kind_of_near_miss(kind: str, agent: str) -> None:
    assert f"{kind}_{agent}" in {miss.name for miss in NEAR_MISSES}


@pytest.mark.parametrize("miss", NEAR_MISSES, ids=lambda miss: miss.name)
def test_a_near_miss_is_not_a_waiting_state(miss: NearMiss) -> None:
    assert [one.name for one in OURS if one.classify_screen(miss.screen).state in WAITING_STATES] == []


@pytest.mark.parametrize("miss", [one for one in NEAR_MISSES if one.title], ids=lambda miss: miss.name)
def test_the_title_and_screen_of_one_that_is_gone_make_no_agent(miss: NearMiss) -> None:
    titled = [one.name for one in OURS if one.matches_title(miss.title)]
    assert titled != [], "the title does name an agent"
    inputs = SignatureInputs(poller_match=titled[0], title_match=titled[0])
    assert identify_agent(inputs, miss.command).agent == ""
