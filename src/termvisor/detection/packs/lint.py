"""Proves rules, ours as well: a file, a pack, a folder of packs, or everything."""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs import locations as place
from termvisor.detection.packs.crash_test import Ordeal, condemned
from termvisor.detection.packs.loader import load, proven, read_pack
from termvisor.detection.packs.pack import Pack, Trouble
from termvisor.detection.packs.rule_file import read_rule
from termvisor.detection.packs.typo_warnings import doubts
from termvisor.model.detection.rule import Rule
from termvisor.regex.relax import loosened

ORDEAL = Ordeal()


class Linted(Struct, frozen=True, kw_only=True):
    """``doubts`` are of rules that are right."""

    rules: tuple[Rule, ...]
    packs: tuple[str, ...]
    troubles: tuple[Trouble, ...]
    doubts: tuple[Trouble, ...] = ()


def lint(path: str | None, folders: Sequence[str] = (), *, ordeal: Ordeal = ORDEAL, cache: str = "") -> Linted:
    """``folders`` hold the packs to look at where no ``path`` is given; ``cache`` is where the daemon's are kept.

    Every pattern is also tried on Hyperscan, in a process of its own.
    """
    guilty = condemned(cache) if cache else {}
    found = _read(path, folders, guilty)
    texts = [rule for rule in found.rules if rule.scope != "screen"]
    if fatal := ordeal.each(texts):
        guilty = guilty | {loosened(rule.pattern): fatal[rule.id] for rule in texts if rule.id in fatal}
        found = _read(path, folders, guilty)
    return replace(found, doubts=doubts(found.rules, load().rules))


def _read(path: str | None, folders: Sequence[str], guilty: Mapping[str, str]) -> Linted:
    if path is not None and os.path.isfile(path):
        return _file(path, guilty)
    rules: list[Rule] = []
    names: list[str] = []
    troubles: list[Trouble] = []
    for pack in place.every(folders) if path is None else _packs(path):
        if isinstance(pack, Trouble):
            troubles.append(pack)
            continue
        found, wrong = read_pack(pack, prove=True, condemned=guilty)
        names.append(pack.name)
        rules += found
        troubles += wrong
    return Linted(rules=tuple(rules), packs=tuple(names), troubles=tuple(troubles))


def _file(path: str, guilty: Mapping[str, str]) -> Linted:
    pack = place.card(os.path.dirname(os.path.abspath(path)), "user")
    if os.path.basename(path) == place.CARD:
        wrong: list[Trouble] = [pack] if isinstance(pack, Trouble) else []
        return Linted(rules=(), packs=() if wrong else (path,), troubles=tuple(wrong))
    rule = read_rule(path, pack.name if isinstance(pack, Pack) else "")
    if isinstance(rule, Trouble):
        return Linted(rules=(), packs=(), troubles=(rule,))
    troubles = proven(path, rule, guilty)
    return Linted(rules=() if troubles else (rule,), packs=(), troubles=tuple(troubles))


def _packs(path: str) -> Iterator[Pack | Trouble]:
    """A folder with TOML files is a pack; one without holds packs."""
    if any(name.endswith(".toml") for name in os.listdir(path)):
        yield place.card(path.rstrip("/"), "user")
        return
    yield from place.inside(path, "user")
