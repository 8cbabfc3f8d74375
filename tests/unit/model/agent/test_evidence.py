"""Rank of evidence sources."""

import pytest

from termvisor.model.agent.evidence import DEFAULT_SOURCES, AgentDrift, DriftKind
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.ids import PaneId, RuntimeId
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


def rank_sources(agent: str) -> str:
    """Return source names by rank; names of one rank are joined."""
    ranks = sorted({one.rank for one in SOURCES[agent]})
    return " ".join("=".join(sorted(one.name for one in SOURCES[agent] if one.rank == rank)) for rank in ranks)


@pytest.mark.parametrize("agent", ORDER)
def test_sources_are_believed_in_this_order(agent: str) -> None:
    assert rank_sources(agent) == ORDER[agent]


# Described agents have no native source.
@pytest.mark.parametrize("agent", ORDER)
def test_native_sources_rank_before_heuristics(agent: str) -> None:
    deterministic = [one.rank for one in SOURCES[agent] if one.tier == "deterministic"]
    heuristic = [one.rank for one in SOURCES[agent] if one.tier == "heuristic"]
    assert max(deterministic) < min(heuristic)


@pytest.mark.parametrize("agent", SOURCES)
def test_source_names_are_unique(agent: str) -> None:
    names = [one.name for one in SOURCES[agent]]
    assert len(names) == len(set(names))


def build_drift(kind: DriftKind, version: str = "2.2", pane: int = 1) -> AgentDrift:
    return AgentDrift(
        agent="codex",
        kind=kind,
        pane=PaneId(pane),
        runtime=RuntimeId(pane),
        since=0,
        program=ProgramVersion(version=version, status="unseen", recorded=("2.1",), screens=9, strange_screens=4),
    )


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("unseen_version", "version 2.2 has no recordings, only 2.1; 4 of 9 screens not recognized"),
        ("strange_screens", "version 2.2: no rule matches its screens (4 of 9)"),
        ("unseen_dialogs", "version 2.2: no rule matches its dialogs on the screen, only its own signals report them"),
        ("silent_signals", "version 2.2: it stopped sending signals while its screen shows work"),
    ],
)
def test_each_kind_has_a_description(kind: DriftKind, what: str) -> None:
    assert build_drift(kind).description == what


def test_the_key_depends_on_the_version_but_not_the_pane() -> None:
    assert build_drift("unseen_version").key == build_drift("unseen_version", pane=2).key
    assert build_drift("unseen_version").key != build_drift("unseen_version", "2.3").key
