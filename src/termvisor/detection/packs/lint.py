"""Proves rules, ours as well: a file, a pack, a folder of packs, or everything."""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs import locations
from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules
from termvisor.detection.packs.loader import check_rule, load_packs, read_pack
from termvisor.detection.packs.pack import RulePack, RuleProblem
from termvisor.detection.packs.rule_file import read_rule
from termvisor.detection.packs.typo_warnings import find_typos
from termvisor.model.detection.rule import Rule
from termvisor.regex.relax import relax_pattern

DEFAULT_CRASH_TEST = CrashTest()


class LintResult(Struct, frozen=True, kw_only=True):
    """``doubts`` are of rules that are right."""

    rules: tuple[Rule, ...]
    packs: tuple[str, ...]
    problems: tuple[RuleProblem, ...]
    warnings: tuple[RuleProblem, ...] = ()


def lint_rules(
    path: str | None, folders: Sequence[str] = (), *, crash_test: CrashTest = DEFAULT_CRASH_TEST, cache: str = ""
) -> LintResult:
    """``folders`` hold the packs to look at where no ``path`` is given; ``cache`` is where the daemon's are kept.

    Every pattern is also tried on Hyperscan, in a process of its own.
    """
    guilty = load_crashing_rules(cache) if cache else {}
    found = _read_rules(path, folders, guilty)
    texts = [rule for rule in found.rules if rule.scope != "screen"]
    if fatal := crash_test.find_crashing(texts):
        guilty = guilty | {relax_pattern(rule.pattern): fatal[rule.id] for rule in texts if rule.id in fatal}
        found = _read_rules(path, folders, guilty)
    return replace(found, warnings=find_typos(found.rules, load_packs().rules))


def _read_rules(path: str | None, folders: Sequence[str], crashing: Mapping[str, str]) -> LintResult:
    if path is not None and os.path.isfile(path):
        return _lint_file(path, crashing)
    rules: list[Rule] = []
    names: list[str] = []
    troubles: list[RuleProblem] = []
    for pack in locations.find_packs(folders) if path is None else _find_packs(path):
        if isinstance(pack, RuleProblem):
            troubles.append(pack)
            continue
        found, wrong = read_pack(pack, check_examples=True, crashing=crashing)
        names.append(pack.name)
        rules += found
        troubles += wrong
    return LintResult(rules=tuple(rules), packs=tuple(names), problems=tuple(troubles))


def _lint_file(path: str, crashing: Mapping[str, str]) -> LintResult:
    pack = locations.read_pack_file(os.path.dirname(os.path.abspath(path)), "user")
    if os.path.basename(path) == locations.PACK_FILE:
        wrong: list[RuleProblem] = [pack] if isinstance(pack, RuleProblem) else []
        return LintResult(rules=(), packs=() if wrong else (path,), problems=tuple(wrong))
    rule = read_rule(path, pack.name if isinstance(pack, RulePack) else "")
    if isinstance(rule, RuleProblem):
        return LintResult(rules=(), packs=(), problems=(rule,))
    troubles = check_rule(path, rule, crashing)
    return LintResult(rules=() if troubles else (rule,), packs=(), problems=tuple(troubles))


def _find_packs(path: str) -> Iterator[RulePack | RuleProblem]:
    """A folder with TOML files is a pack; one without holds packs."""
    if any(name.endswith(".toml") for name in os.listdir(path)):
        yield locations.read_pack_file(path.rstrip("/"), "user")
        return
    yield from locations.find_packs_in(path, "user")
