"""All packs together: which rules are in force. Nothing that is wrong with one keeps another from loading."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from termvisor.detection.packs import locations as place
from termvisor.detection.packs.pack import Pack, Packs, Trouble
from termvisor.detection.packs.rule_file import line_of, read_rule, read_text
from termvisor.model.detection.rule import Rule
from termvisor.regex.relax import loosened

__all__ = ["load"]


_NOBODY: Mapping[str, str] = {}


def load(
    folders: Sequence[str] = (),
    order: Sequence[str] = (),
    disabled: Sequence[str] = (),
    condemned: Mapping[str, str] = _NOBODY,
) -> Packs:
    """``folders`` hold packs, a folder each. Packs named in ``order`` come last, in that order: later wins.

    ``disabled`` are ids of rules, names of packs, or globs of them. Our own packs are proven by our tests; whatever
    is from elsewhere is proven here. ``condemned``: see `termvisor.detection.packs.crash_test`.
    """
    packs, troubles = _packs(folders)
    packs, unknown = _ordered(packs, order)
    troubles += unknown
    rules: dict[str, Rule] = {}
    replaced: dict[str, tuple[str, ...]] = {}
    for pack in packs:
        for rule in _rules(pack, condemned, troubles):
            if rule.id in rules:
                replaced[rule.id] = (*replaced.get(rule.id, ()), rules[rule.id].pack)
            rules[rule.id] = rule
    off, idle = _disabled(rules.values(), disabled)
    return Packs(
        rules=tuple(rules[name] for name in sorted(rules) if name not in off),
        packs=tuple(packs),
        troubles=(*troubles, *idle),
        replaced=replaced,
        disabled=tuple(sorted(off)),
    )


def read_pack(pack: Pack, *, prove: bool, condemned: Mapping[str, str] = _NOBODY) -> tuple[list[Rule], list[Trouble]]:
    """Its rules that may be used, and what is wrong with the others."""
    rules: dict[str, Rule] = {}
    files: dict[str, str] = {}
    found, troubles = place.listed(pack)
    for path in found:
        rule = read_rule(path, pack.name)
        if isinstance(rule, Trouble):
            troubles.append(rule)
        elif rule.id in rules:
            troubles.append(_at(path, rule, "id", f"stands in {files[rule.id]}, too; that one is in force"))
        elif prove and (wrong := proven(path, rule, condemned)):
            troubles += wrong
        else:
            rules[rule.id], files[rule.id] = rule, os.path.basename(path)
    return list(rules.values()), troubles


def proven(path: str, rule: Rule, condemned: Mapping[str, str] = _NOBODY) -> list[Trouble]:
    from termvisor.detection.packs.example_check import complaints  # only where there is something to prove

    fatal = condemned.get(loosened(rule.pattern), "") if rule.scope != "screen" else ""
    if fatal:
        return [_at(path, rule, "pattern", fatal)]
    return [_at(path, rule, *complaint) for complaint in complaints(rule)]


def _at(path: str, rule: Rule, key: str, why: str, number: int = 0) -> Trouble:
    text = read_text(path)
    line = line_of(key, text, number) if isinstance(text, str) else None
    return Trouble(file=path, line=line, key=key, rule=rule.id, why=why)


def _packs(folders: Sequence[str]) -> tuple[list[Pack], list[Trouble]]:
    packs: dict[str, Pack] = {}
    troubles: list[Trouble] = []
    for pack in place.every(folders):
        if isinstance(pack, Trouble):
            troubles.append(pack)
        elif pack.name in packs:
            why = f"is also the name of {packs[pack.name].folder}; a pack that changes another's rules has its own name"
            troubles.append(Trouble(file=f"{pack.folder}/{place.CARD}", key="name", why=why))
        else:
            packs[pack.name] = pack
    return list(packs.values()), troubles


def _ordered(packs: list[Pack], order: Sequence[str]) -> tuple[list[Pack], list[Trouble]]:
    known = {pack.name for pack in packs}
    unknown = [
        Trouble(file="settings", key="patterns_order", why=f"there is no pack {name!r}")
        for name in order
        if name not in known
    ]
    return sorted(packs, key=lambda pack: order.index(pack.name) + 1 if pack.name in order else 0), unknown


def _rules(pack: Pack, condemned: Mapping[str, str], troubles: list[Trouble]) -> Iterator[Rule]:
    rules, wrong = read_pack(pack, prove=pack.origin != "builtin", condemned=condemned)
    troubles += wrong
    yield from rules


def _disabled(rules: Iterable[Rule], globs: Sequence[str]) -> tuple[set[str], list[Trouble]]:
    off: set[str] = set()
    idle: list[Trouble] = []
    for glob in globs:
        fits = {rule.id for rule in rules if fnmatchcase(rule.id, glob) or fnmatchcase(rule.pack, glob)}
        if not fits:
            idle.append(Trouble(file="settings", key="patterns_disabled", why=f"{glob!r} fits no rule"))
        off |= fits
    return off, idle
