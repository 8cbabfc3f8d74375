"""What of a rule that is right may still be mistyped: it is in force, and would never be heard or answered. Pure."""

from collections.abc import Iterable, Sequence

from termvisor.detection.packs.pack import RuleProblem
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches

_MIN_SIMILARITY = 0.75
"""So much like another name, and not that one, it is taken for a slip."""


def find_typos(rules: Iterable[Rule], builtin_rules: Sequence[Rule]) -> tuple[RuleProblem, ...]:
    """``ours`` say which agents and remedies there are; others may be brought by packages and files."""
    known = {
        "agent": {rule.agent for rule in builtin_rules if rule.agent},
        "remedy": {rule.remedy for rule in builtin_rules if rule.remedy},
    }
    return tuple(
        RuleProblem(file=rule.id, key=key, rule=rule.id, why=f"{name!r} looks mistyped; did you mean {near[0]}?")
        for rule in rules
        for key, names in known.items()
        if (name := getattr(rule, key))
        and name not in names
        and (near := find_close_matches(name, sorted(names), cutoff=_MIN_SIMILARITY))
    )
