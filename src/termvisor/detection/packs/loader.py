"""Load all rule packs and determine the active rules; a problem with one rule does not affect the others."""

import contextlib
import os
from _blake2 import blake2b  # hashlib would load OpenSSL, 4 MB of memory
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from termvisor import __version__
from termvisor.detection.packs import locations
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.detection.packs.pack import RulePack, RulePacks, RuleProblem
from termvisor.detection.packs.rule_file import find_line, read_rule, read_text
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule
from termvisor.model.settings.detections import DetectionSettings
from termvisor.regex.relax import relax_pattern
from termvisor.system.files import write_private_file

_NO_CRASHING_PATTERNS: Mapping[str, str] = {}
_KEY_BYTES = 16
log = get_logger("packs")


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
    # Imported late: it loads the regex engines, and the built-in packs need no check.
    from termvisor.detection.packs.rule_checks import find_problems

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


def load_cached_packs(config_dir: str, settings: DetectionSettings, cache: str) -> RulePacks:
    """Load the packs of this instance, if possible from ``cache``, a private folder.

    That takes 1 ms instead of 100 ms at a start, and no memory for parsing. The key of the cache covers the version,
    the settings, and path, time and size of every rule file.
    """
    folders = (locations.get_user_folder(config_dir),)
    crashing = load_crashing_rules(cache)
    key = _compute_key(folders, settings, crashing)
    path = f"{cache}/packs.msgpack"
    if (cached := _read_cache(path, key)) is not None:
        return cached
    packs = load_packs(folders, settings.patterns_order, settings.patterns_disabled, crashing)
    # Without the cache the next start parses the files again.
    with contextlib.suppress(OSError):
        write_private_file(path, key + msgspec.msgpack.encode(packs))
    return packs


def _read_cache(path: str, key: bytes) -> RulePacks | None:
    try:
        with open(path, "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=RulePacks) if file.read(_KEY_BYTES) == key else None
    except (OSError, msgspec.MsgspecError):
        # Missing, or written by a version with other fields: the packs are loaded from their files.
        return None


def _compute_key(folders: tuple[str, ...], settings: DetectionSettings, crashing: Mapping[str, str]) -> bytes:
    options = (settings.patterns_order, settings.patterns_disabled, sorted(crashing.items()))
    content = (__version__, *options, *_list_file_stamps(folders))
    return blake2b(repr(content).encode(errors="replace"), digest_size=_KEY_BYTES).digest()


def _list_file_stamps(folders: tuple[str, ...]) -> Iterator[object]:
    for pack in locations.find_packs(folders):
        yield pack
        for path in locations.list_rule_files(pack) if isinstance(pack, RulePack) else ():
            # The file may be deleted meanwhile.
            with contextlib.suppress(OSError):
                status = os.stat(path)
                yield path, status.st_mtime_ns, status.st_size


def load_builtin_screen_rules(agent: str) -> tuple[Rule, ...]:
    """Return an agent's built-in rules in the order in which they are tried; invalid files are logged and skipped.

    They are loaded when the agent's first screen is seen.
    """
    pack = locations.find_builtin_pack(agent)
    if pack is None:
        return ()
    results = [read_rule(path, pack.name) for path in locations.list_rule_files(pack)]
    for result in results:
        if isinstance(result, RuleProblem):
            log.error("a rule cannot be used: %s", result)
    rules = [rule for rule in results if isinstance(rule, Rule) and rule.scope == "screen" and rule.agent == agent]
    return tuple(strip_examples(rule) for rule in sorted(rules, key=lambda rule: (rule.order, rule.id)))


def list_screen_rules(packs: RulePacks, agent: str) -> tuple[Rule, ...]:
    """Return an agent's screen rules of all loaded packs."""
    return tuple(map(strip_examples, packs.list_agent_rules(agent, "screen")))


def strip_examples(rule: Rule) -> Rule:
    """Drop the examples, which only tests and rule authors need."""
    return replace(rule, hits=(), misses=())
