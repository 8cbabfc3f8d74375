"""The accuracy budgets are met on all recordings."""

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

BUILTIN_ADAPTERS = [adapter for adapter in load_adapters() if adapter.name in BUILTIN_AGENTS]
NEAR_MISSES = load_near_misses()


@pytest.fixture(scope="module")
def known_holes() -> list[tuple[Adapter, LabeledScene]]:
    """Scenes that an agent does not report; loaded in a fixture, because every xdist process collects all tests."""
    return [
        (adapter, scene) for adapter in BUILTIN_ADAPTERS for scene in load_labeled_scenes(adapter) if scene.known_hole
    ]


def test_every_accuracy_budget_is_met() -> None:
    figures = [figure for accuracy in measure_accuracy(BUILTIN_ADAPTERS) for figure in accuracy.build_figures()]
    assert figures != []
    missed = [figure for figure in figures if not figure.is_within_budget]
    assert [_describe_figure(figure) for figure in missed] == [], "`make accuracy` shows where"


def _describe_figure(figure: BudgetedFigure) -> str:
    return f"{figure.name}: {figure.value:.4f}, budget {figure.budget}"


def test_every_scene_has_a_true_state_and_every_true_state_is_valid() -> None:
    assert [
        f"{adapter.name}/{scene}" for adapter in BUILTIN_ADAPTERS for scene in list_unlabeled_scenes(adapter.name)
    ] == []
    named = {state for scenes in load_truths().values() for states in scenes.values() for state in states}
    assert named - {EXITED} == set(PRECEDENCE) - {"unknown"}


def test_a_known_hole_is_missing_in_own_signals_and_covered_by_the_screen(
    known_holes: list[tuple[Adapter, LabeledScene]],
) -> None:
    """Fails when an agent starts to report it: then remove it from holes.json."""
    for adapter, scene in known_holes:
        assert any(source.has_holes for source in adapter.sources), adapter.name
        assert scene.claimed_state not in scene.truths, scene.name
        assert scene.published_state in scene.truths, scene.name


def test_every_known_hole_has_a_recorded_scene(known_holes: list[tuple[Adapter, LabeledScene]]) -> None:
    assert {scene.name for _, scene in known_holes} == {
        name for adapter in BUILTIN_ADAPTERS for name in load_holes(adapter.name)
    }


@pytest.mark.parametrize("agent", ["claude_code", "codex", "gemini", "opencode", "copilot"])
@pytest.mark.parametrize("kind", ["prose", "cat", "vim", "less", "killed"])
def test_the_corpus_holds_each_kind_of_near_miss(kind: str, agent: str) -> None:
    assert f"{kind}_{agent}" in {miss.name for miss in NEAR_MISSES}


@pytest.mark.parametrize("miss", NEAR_MISSES, ids=lambda miss: miss.name)
def test_a_near_miss_is_not_a_waiting_state(miss: NearMiss) -> None:
    assert [
        adapter.name for adapter in BUILTIN_ADAPTERS if adapter.classify_screen(miss.screen).state in WAITING_STATES
    ] == []


@pytest.mark.parametrize("miss", [adapter for adapter in NEAR_MISSES if adapter.title], ids=lambda miss: miss.name)
def test_the_title_and_screen_of_an_exited_agent_identify_no_agent(miss: NearMiss) -> None:
    titled = [adapter.name for adapter in BUILTIN_ADAPTERS if adapter.matches_title(miss.title)]
    assert titled != [], "the title does name an agent"
    inputs = SignatureInputs(poller_match=titled[0], title_match=titled[0])
    assert identify_agent(inputs, miss.command).agent == ""
