"""Load all rule packs and determine the active rules; a problem with one rule does not affect the others."""

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from termvisor.detection.packs import locations
from termvisor.detection.packs.pack import RulePack, RulePacks, RuleProblem
from termvisor.detection.packs.rule_file import find_line, read_rule, read_text
from termvisor.model.detection.rule import Rule
from termvisor.regex.relax import relax_pattern

__all__ = ["load_packs"]


_NO_CRASHING_PATTERNS: Mapping[str, str] = {}


def load_packs(
    folders: Sequence[str] = (),
    order: Sequence[str] = (),
    disabled: Sequence[str] = (),
    crashing: Mapping[str, str] = _NO_CRASHING_PATTERNS,
) -> RulePacks:
    """Load the built-in, the installed and the users' packs in ``folders``; of rules with one id the last wins.

    Packs named in ``order`` come last, in that order. ``disabled`` has rule ids, pack names, or globs of them. Built-in
    packs are checked by our tests, all others here. For ``crashing`` see `termvisor.detection.packs.crash_test`.
    """
    packs, problems = _find_packs(folders)
    packs, order_problems = _order_packs(packs, order)
    problems += order_problems
    rules: dict[str, Rule] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for pack in packs:
        pack_rules, pack_problems = read_pack(pack, check_examples=pack.origin != "builtin", crashing=crashing)
        problems += pack_problems
        for rule in pack_rules:
            if rule.id in rules:
                replaced[rule.id] = (*replaced.get(rule.id, ()), rules[rule.id].pack)
            rules[rule.id] = rule
    off, disable_problems = _find_disabled(rules.values(), disabled)
    return RulePacks(
        rules=tuple(rules[name] for name in sorted(rules) if name not in off),
        packs=tuple(packs),
        troubles=(*problems, *disable_problems),
        replaced=replaced,
        disabled=tuple(sorted(off)),
    )


def read_pack(
    pack: RulePack, *, check_examples: bool, crashing: Mapping[str, str] = _NO_CRASHING_PATTERNS
) -> tuple[list[Rule], list[RuleProblem]]:
    """Return the valid rules of a pack, and the problems of the others."""
    rules: dict[str, Rule] = {}
    files: dict[str, str] = {}
    paths, problems = locations.scan_rule_files(pack)
    for path in paths:
        rule = read_rule(path, pack.name)
        if isinstance(rule, RuleProblem):
            problems.append(rule)
        elif rule.id in rules:
            problems.append(_build_problem(path, rule, "id", f"is already defined in {files[rule.id]}, which is used"))
        elif check_examples and (rule_problems := check_rule(path, rule, crashing)):
            problems += rule_problems
        else:
            rules[rule.id], files[rule.id] = rule, os.path.basename(path)
    return list(rules.values()), problems


def check_rule(path: str, rule: Rule, crashing: Mapping[str, str] = _NO_CRASHING_PATTERNS) -> list[RuleProblem]:
    from termvisor.detection.packs.example_check import find_problems  # loads the regex engines

    fatal = crashing.get(relax_pattern(rule.pattern), "") if rule.scope != "screen" else ""
    if fatal:
        return [_build_problem(path, rule, "pattern", fatal)]
    return [_build_problem(path, rule, *problem) for problem in find_problems(rule)]


def _build_problem(path: str, rule: Rule, key: str, why: str, number: int = 0) -> RuleProblem:
    text = read_text(path)
    line = find_line(key, text, number) if isinstance(text, str) else None
    return RuleProblem(file=path, line=line, key=key, rule=rule.id, why=why)


def _find_packs(folders: Sequence[str]) -> tuple[list[RulePack], list[RuleProblem]]:
    packs: dict[str, RulePack] = {}
    problems: list[RuleProblem] = []
    for pack in locations.find_packs(folders):
        if isinstance(pack, RuleProblem):
            problems.append(pack)
        elif pack.name in packs:
            why = f"is also the name of {packs[pack.name].folder}; a pack that changes another's rules needs its own"
            problems.append(RuleProblem(file=f"{pack.folder}/{locations.PACK_FILE}", key="name", why=why))
        else:
            packs[pack.name] = pack
    return list(packs.values()), problems


def _order_packs(packs: list[RulePack], order: Sequence[str]) -> tuple[list[RulePack], list[RuleProblem]]:
    known = {pack.name for pack in packs}
    unknown = [
        RuleProblem(file="settings", key="patterns_order", why=f"pack {name!r} not found")
        for name in order
        if name not in known
    ]
    return sorted(packs, key=lambda pack: order.index(pack.name) + 1 if pack.name in order else 0), unknown


def _find_disabled(rules: Iterable[Rule], globs: Sequence[str]) -> tuple[set[str], list[RuleProblem]]:
    disabled: set[str] = set()
    problems: list[RuleProblem] = []
    for glob in globs:
        matching = {rule.id for rule in rules if fnmatchcase(rule.id, glob) or fnmatchcase(rule.pack, glob)}
        if not matching:
            problems.append(RuleProblem(file="settings", key="patterns_disabled", why=f"{glob!r} matches no rule"))
        disabled |= matching
    return disabled, problems
