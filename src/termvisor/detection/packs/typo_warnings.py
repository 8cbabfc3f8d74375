"""Warn about agent and workflow names in valid rules that look mistyped: such a rule would never apply. Pure."""

from collections.abc import Iterable, Sequence

from termvisor.detection.packs.pack import RuleProblem
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches

_MIN_SIMILARITY = 0.75
"""An unknown name at least this similar to a known one counts as a typo."""


def find_typos(rules: Iterable[Rule], builtin_rules: Sequence[Rule]) -> tuple[RuleProblem, ...]:
    """Compare names with those in the built-in rules; other names are allowed, since packages and files add some."""
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
