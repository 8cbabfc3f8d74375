"""All packs together: which rules are in force. Nothing that is wrong with one keeps another from loading."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """``folders`` hold packs, a folder each. Packs named in ``order`` come last, in that order: later wins.

    ``disabled`` are ids of rules, names of packs, or globs of them. Our own packs are proven by our tests; whatever
    is from elsewhere is proven here. ``condemned``: see `termvisor.detection.packs.crash_test`.
    """
    packs, troubles = _find_packs(folders)
    packs, unknown = _order_packs(packs, order)
    troubles += unknown
    rules: dict[str, Rule] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for pack in packs:
        for rule in _read_rules(pack, crashing, troubles):
            if rule.id in rules:
                replaced[rule.id] = (*replaced.get(rule.id, ()), rules[rule.id].pack)
            rules[rule.id] = rule
    off, idle = _find_disabled(rules.values(), disabled)
    return RulePacks(
        rules=tuple(rules[name] for name in sorted(rules) if name not in off),
        packs=tuple(packs),
        troubles=(*troubles, *idle),
        replaced=replaced,
        disabled=tuple(sorted(off)),
    )


def read_pack(
    pack: RulePack, *, check_examples: bool, crashing: Mapping[str, str] = _NO_CRASHING_PATTERNS
) -> tuple[list[Rule], list[RuleProblem]]:
    """Its rules that may be used, and what is wrong with the others."""
    rules: dict[str, Rule] = {}
    files: dict[str, str] = {}
    found, troubles = locations.scan_rule_files(pack)
    for path in found:
        rule = read_rule(path, pack.name)
        if isinstance(rule, RuleProblem):
            troubles.append(rule)
        elif rule.id in rules:
            troubles.append(_build_problem(path, rule, "id", f"stands in {files[rule.id]}, too; that one is in force"))
        elif check_examples and (wrong := check_rule(path, rule, crashing)):
            troubles += wrong
        else:
            rules[rule.id], files[rule.id] = rule, os.path.basename(path)
    return list(rules.values()), troubles


def check_rule(path: str, rule: Rule, crashing: Mapping[str, str] = _NO_CRASHING_PATTERNS) -> list[RuleProblem]:
    from termvisor.detection.packs.example_check import find_problems  # only where there is something to prove

    fatal = crashing.get(relax_pattern(rule.pattern), "") if rule.scope != "screen" else ""
    if fatal:
        return [_build_problem(path, rule, "pattern", fatal)]
    return [_build_problem(path, rule, *complaint) for complaint in find_problems(rule)]


def _build_problem(path: str, rule: Rule, key: str, why: str, number: int = 0) -> RuleProblem:
    text = read_text(path)
    line = find_line(key, text, number) if isinstance(text, str) else None
    return RuleProblem(file=path, line=line, key=key, rule=rule.id, why=why)


def _find_packs(folders: Sequence[str]) -> tuple[list[RulePack], list[RuleProblem]]:
    packs: dict[str, RulePack] = {}
    troubles: list[RuleProblem] = []
    for pack in locations.find_packs(folders):
        if isinstance(pack, RuleProblem):
            troubles.append(pack)
        elif pack.name in packs:
            why = f"is also the name of {packs[pack.name].folder}; a pack that changes another's rules has its own name"
            troubles.append(RuleProblem(file=f"{pack.folder}/{locations.PACK_FILE}", key="name", why=why))
        else:
            packs[pack.name] = pack
    return list(packs.values()), troubles


def _order_packs(packs: list[RulePack], order: Sequence[str]) -> tuple[list[RulePack], list[RuleProblem]]:
    known = {pack.name for pack in packs}
    unknown = [
        RuleProblem(file="settings", key="patterns_order", why=f"there is no pack {name!r}")
        for name in order
        if name not in known
    ]
    return sorted(packs, key=lambda pack: order.index(pack.name) + 1 if pack.name in order else 0), unknown


def _read_rules(pack: RulePack, crashing: Mapping[str, str], problems: list[RuleProblem]) -> Iterator[Rule]:
    rules, wrong = read_pack(pack, check_examples=pack.origin != "builtin", crashing=crashing)
    problems += wrong
    yield from rules


def _find_disabled(rules: Iterable[Rule], globs: Sequence[str]) -> tuple[set[str], list[RuleProblem]]:
    off: set[str] = set()
    idle: list[RuleProblem] = []
    for glob in globs:
        fits = {rule.id for rule in rules if fnmatchcase(rule.id, glob) or fnmatchcase(rule.pack, glob)}
        if not fits:
            idle.append(RuleProblem(file="settings", key="patterns_disabled", why=f"{glob!r} fits no rule"))
        off |= fits
    return off, idle
