"""Check rules, including the built-in ones: a file, a pack, a folder of packs, or all packs."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.detection.packs import loader
from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules
from termvisor.detection.packs.loader import check_rule, load_packs, read_pack
from termvisor.detection.packs.pack import RulePack, RuleProblem
from termvisor.detection.packs.rule_file import read_rule
from termvisor.model.detection.rule import Rule
from termvisor.model.did_you_mean import find_close_matches
from termvisor.regex.relax import relax_pattern

DEFAULT_CRASH_TEST = CrashTest()
# Similarity to a known name from which an unknown name counts as a typo.
_MIN_SIMILARITY = 0.75


class LintResult(Struct, frozen=True, kw_only=True):
    """Result of checking rules; ``warnings`` concern valid rules."""

    rules: tuple[Rule, ...]
    packs: tuple[str, ...]
    problems: tuple[RuleProblem, ...]
    warnings: tuple[RuleProblem, ...] = ()


def lint_rules(
    path: str | None, folders: Sequence[str] = (), *, crash_test: CrashTest = DEFAULT_CRASH_TEST, cache: str = ""
) -> LintResult:
    """Check the rules at ``path``, or in ``folders`` if ``path`` is None; ``cache`` is the daemon's cache folder.

    Every pattern is also compiled with Hyperscan in a child process.
    """
    crashing = load_crashing_rules(cache) if cache else {}
    result = _read_rules(path, folders, crashing)
    scanned = [rule for rule in result.rules if rule.scope != "screen"]
    if fatal := crash_test.find_crashing(scanned):
        # Read the rules again, so that a crashing rule is reported with its file and line.
        crashing = crashing | {relax_pattern(rule.pattern): fatal[rule.id] for rule in scanned if rule.id in fatal}
        result = _read_rules(path, folders, crashing)
    return replace(result, warnings=find_typos(result.rules, load_packs().rules))


def _read_rules(path: str | None, folders: Sequence[str], crashing: Mapping[str, str]) -> LintResult:
    if path is not None and os.path.isfile(path):
        return _lint_file(path, crashing)
    rules: list[Rule] = []
    names: list[str] = []
    problems: list[RuleProblem] = []
    for pack in loader.find_packs(folders) if path is None else _find_packs(path):
        if isinstance(pack, RuleProblem):
            problems.append(pack)
            continue
        pack_rules, pack_problems = read_pack(pack, check_examples=True, crashing=crashing)
        names.append(pack.name)
        rules += pack_rules
        problems += pack_problems
    return LintResult(rules=tuple(rules), packs=tuple(names), problems=tuple(problems))


def _lint_file(path: str, crashing: Mapping[str, str]) -> LintResult:
    pack = loader.read_pack_file(os.path.dirname(os.path.abspath(path)), "user")
    if os.path.basename(path) == loader.PACK_FILE:
        if isinstance(pack, RuleProblem):
            return LintResult(rules=(), packs=(), problems=(pack,))
        return LintResult(rules=(), packs=(path,), problems=())
    rule = read_rule(path, pack.name if isinstance(pack, RulePack) else "")
    if isinstance(rule, RuleProblem):
        return LintResult(rules=(), packs=(), problems=(rule,))
    problems = check_rule(path, rule, crashing)
    return LintResult(rules=() if problems else (rule,), packs=(), problems=tuple(problems))


def _find_packs(path: str) -> Iterator[RulePack | RuleProblem]:
    """Find the packs at a path. A folder with TOML files is a pack; a folder without contains packs."""
    if any(name.endswith(".toml") for name in os.listdir(path)):
        yield loader.read_pack_file(path.rstrip("/"), "user")
        return
    yield from loader.find_packs_in(path, "user")


def find_typos(rules: Iterable[Rule], builtin_rules: Sequence[Rule]) -> tuple[RuleProblem, ...]:
    """Warn about agent and workflow names that look mistyped, because such a rule would never apply.

    They are compared with the names in built-in rules. Other names are allowed, because packages and files add some.
    """
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
