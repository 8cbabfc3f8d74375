"""Unknown names in workflow files."""

import pytest

from termvisor.daemon.workflows.workflow_service import find_unknown_names
from termvisor.model.detection.rule import Rule
from termvisor.model.workflow import WorkflowReference

RULES = (
    Rule(
        id="claude.compaction",
        since="1",
        scope="line",
        event="org.deployed",
        severity="info",
        why="",
        pattern="x",
        hits=(),
        misses=(),
    ),
)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("event", "session.compaction"),
        ("event", "org.*"),
        ("event", "user_var"),
        ("agent", "claude_code"),
        ("rule", "claude.*"),
        ("rule", "signal.compacting"),
        ("rule", "user_var.deploy"),
        ("rule", "session.compaction"),
    ],
)
def test_known_names_are_not_reported(kind, word):
    assert find_unknown_names((WorkflowReference(kind=kind, word=word, place="w.yaml:2"),), RULES) == ()


@pytest.mark.parametrize(
    ("kind", "word", "expected"),
    [
        ("event", "session.compacton", "unknown event 'session.compacton'; did you mean session.compaction?"),
        ("event", "zzz", "unknown event 'zzz'"),
        ("agent", "claude", "unknown agent 'claude'; did you mean claude_code?"),
        ("rule", "claude.compction", "unknown rule 'claude.compction'; did you mean claude.compaction?"),
    ],
)
def test_an_unknown_name_is_reported_with_location_and_suggestion(kind, word, expected):
    assert find_unknown_names((WorkflowReference(kind=kind, word=word, place="w.yaml:2"),), RULES) == (
        f"w.yaml:2: {expected}",
    )


def test_without_rules_no_name_is_reported():
    assert find_unknown_names((WorkflowReference(kind="event", word="zzz", place="w.yaml:2"),), ()) == ()
