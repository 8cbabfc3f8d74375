"""What a file of steps speaks of and nobody knows: it stands, and would wait for ever for what never comes."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from termvisor import agents
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import nearest
from termvisor.model.event_types import EVENT_TYPES
from termvisor.model.workflow.info import Named

_TOLD = ("signal.*", "user_var.*")
"""Rules that stand in no pack: what agents say themselves, and what programs set."""


def doubts(names: Sequence[Named], rules: Sequence[Rule]) -> tuple[str, ...]:
    """Nothing is doubted while no rule is known."""
    if not names or not rules:
        return ()
    ids = frozenset(rule.id for rule in rules)
    events = frozenset((*EVENT_TYPES, "user_var", *(rule.event for rule in rules)))
    known = {"event": events, "rule": ids | events, "agent": frozenset(one.name for one in agents.load())}
    return tuple(told for one in names if (told := _doubt(one, known[one.kind])))


def _doubt(named: Named, known: Iterable[str]) -> str:
    if any(fnmatchcase(one, named.word) for one in known):
        return ""
    if named.kind == "rule" and any(fnmatchcase(named.word, one) for one in _TOLD):
        return ""
    near = nearest(named.word, sorted(known))
    return f"{named.place}: nobody knows the {named.kind} {named.word!r}" + (
        f"; did you mean {near[0]}?" if near else ""
    )
