import pytest

from termvisor.model.agent.drift import AgentDrift, DriftKind
from termvisor.model.ids import PaneId, RuntimeId


def drift(kind: DriftKind, version: str = "2.2", pane: int = 1) -> AgentDrift:
    return AgentDrift(
        agent="codex",
        kind=kind,
        pane=PaneId(pane),
        runtime=RuntimeId(pane),
        version=version,
        since=0,
        recorded=("2.1",),
    )


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("unseen_version", "version 2.2 has no recordings, only 2.1"),
        ("strange_screens", "version 2.2: no rule matches its screens, although it reports signals"),
        ("unseen_dialogs", "version 2.2: no rule matches its dialogs on the screen, only its own signals report them"),
        ("silent_signals", "version 2.2: it stopped sending signals while its screen shows work"),
    ],
)
def test_each_kind_has_a_description(kind: DriftKind, what: str) -> None:
    assert drift(kind).description == what


def test_the_key_depends_on_the_version_but_not_the_pane() -> None:
    assert drift("unseen_version").key == drift("unseen_version", pane=2).key
    assert drift("unseen_version").key != drift("unseen_version", "2.3").key
