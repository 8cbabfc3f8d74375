"""The order in which sources are believed."""

import pytest

from termvisor.model.agent.evidence_source import DEFAULT_SOURCES
from tests.builtin_thresholds import SOURCES_BY_AGENT as DECLARED

ORDER = {
    "claude_code": "osc=registry hook transcript subagents screen title process",
    "codex": "app_server osc hook=notify rollout printed screen title process",
    "gemini": "hook=title screen process notification",
    "opencode": "server hook screen title process",
    "copilot": "session_file hook screen title process",
    "cursor": "hook screen title process",
    "": "hook=plugin=server session_file screen title process",
}


SOURCES = {"": DEFAULT_SOURCES, **DECLARED}


def order(agent: str) -> str:
    """Names by rank; those of one rank are joined."""
    ranks = sorted({one.rank for one in SOURCES[agent]})
    return " ".join("=".join(sorted(one.name for one in SOURCES[agent] if one.rank == rank)) for rank in ranks)


@pytest.mark.parametrize("agent", ORDER)
def test_sources_are_believed_in_this_order(agent: str) -> None:
    assert order(agent) == ORDER[agent]


@pytest.mark.parametrize("agent", SOURCES)
def test_native_sources_rank_before_heuristics(agent: str) -> None:
    told = [one.rank for one in SOURCES[agent] if one.tier == "deterministic"]
    guessed = [one.rank for one in SOURCES[agent] if one.tier == "heuristic"]
    assert max(told) < min(guessed)


@pytest.mark.parametrize("agent", SOURCES)
def test_source_names_are_unique(agent: str) -> None:
    names = [one.name for one in SOURCES[agent]]
    assert len(names) == len(set(names))
