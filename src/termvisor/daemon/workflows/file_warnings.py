"""What a file of steps speaks of and nobody knows: it stands, and would wait for ever for what never comes."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from termvisor import agents
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.event_types import EVENT_TYPES
from termvisor.model.workflow.info import WorkflowReference

_SIGNAL_RULE_GLOBS = ("signal.*", "user_var.*")
"""Rules that stand in no pack: what agents say themselves, and what programs set."""


def find_unknown_names(names: Sequence[WorkflowReference], rules: Sequence[Rule]) -> tuple[str, ...]:
    """Nothing is doubted while no rule is known."""
    if not names or not rules:
        return ()
    ids = frozenset(rule.id for rule in rules)
    events = frozenset((*EVENT_TYPES, "user_var", *(rule.event for rule in rules)))
    known = {"event": events, "rule": ids | events, "agent": frozenset(one.name for one in agents.load_adapters())}
    return tuple(told for one in names if (told := _describe_unknown_name(one, known[one.kind])))


def _describe_unknown_name(reference: WorkflowReference, known: Iterable[str]) -> str:
    if any(fnmatchcase(one, reference.word) for one in known):
        return ""
    if reference.kind == "rule" and any(fnmatchcase(reference.word, one) for one in _SIGNAL_RULE_GLOBS):
        return ""
    near = find_close_matches(reference.word, sorted(known))
    return f"{reference.place}: nobody knows the {reference.kind} {reference.word!r}" + (
        f"; did you mean {near[0]}?" if near else ""
    )
