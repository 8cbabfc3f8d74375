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
        ("unseen_version", "version 2.2 was never recorded, only 2.1"),
        ("strange_screens", "version 2.2: its screens are no longer recognised while it speaks itself"),
        ("unseen_dialogs", "version 2.2: its dialogs are no longer recognised on its screen, only by its own word"),
        ("silent_signals", "version 2.2: it has stopped speaking itself while its screen shows work"),
    ],
)
def test_each_kind_is_told_in_words(kind: DriftKind, what: str) -> None:
    assert drift(kind).description == what


def test_it_is_the_same_news_in_every_pane_but_not_for_every_version() -> None:
    assert drift("unseen_version").key == drift("unseen_version", pane=2).key
    assert drift("unseen_version").key != drift("unseen_version", "2.3").key
