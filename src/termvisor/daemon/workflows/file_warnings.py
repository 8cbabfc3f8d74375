"""Warn about unknown events, rules and agents in workflow files: such a workflow would never be triggered."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from termvisor.agents.adapters import loader
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event_types import EVENT_TYPES
from termvisor.model.workflow.info import WorkflowReference

_SIGNAL_RULE_GLOBS = ("signal.*", "user_var.*")
"""Rule ids that are in no pack: signals of agents, and user variables."""


def find_unknown_names(names: Sequence[WorkflowReference], rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return a warning for each unknown name; none while no rules are loaded."""
    if not names or not rules:
        return ()
    ids = frozenset(rule.id for rule in rules)
    events = frozenset((*EVENT_TYPES, "user_var", *(rule.event for rule in rules)))
    adapters = frozenset(adapter.name for adapter in loader.load_adapters())
    known = {"event": events, "rule": ids | events, "agent": adapters}
    return tuple(filter(None, (_describe_unknown_name(name, known[name.kind]) for name in names)))


def _describe_unknown_name(reference: WorkflowReference, known: Iterable[str]) -> str:
    if any(fnmatchcase(name, reference.word) for name in known):
        return ""
    if reference.kind == "rule" and any(fnmatchcase(reference.word, glob) for glob in _SIGNAL_RULE_GLOBS):
        return ""
    close = find_close_matches(reference.word, sorted(known))
    suggestion = f"; did you mean {close[0]}?" if close else ""
    return f"{reference.place}: unknown {reference.kind} {reference.word!r}{suggestion}"
