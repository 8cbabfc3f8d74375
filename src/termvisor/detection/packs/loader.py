"""Find all rule packs, load them and determine the active rules. A problem with one rule does not affect the others.

Packs are built in, come with installed packages, or are in the user's folder.
"""

import contextlib
import os
from _blake2 import blake2b  # hashlib would load OpenSSL, 4 MB of memory
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec
from msgspec.structs import replace

from termvisor import __version__, plugins
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.detection.packs.pack import PackOrigin, RulePack, RulePacks, RuleProblem
from termvisor.detection.packs.rule_file import find_line, parse_toml, read_rule, read_text
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule
from termvisor.model.settings.detections import DetectionSettings
from termvisor.redaction import redact
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
    """Load the built-in and installed packs and the user's in ``folders``. Among rules with the same id the last wins.

    Packs named in ``order`` come last, in that order. ``disabled`` lists rule ids, pack names or globs. Built-in
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
    """Return the valid rules of a pack, and the problems with the others."""
    rules: dict[str, Rule] = {}
    files: dict[str, str] = {}
    paths, problems = scan_rule_files(pack)
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
    # Imported late, because it loads the regex engines, and built-in packs need no check.
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
    for pack in find_packs(folders):
        if isinstance(pack, RuleProblem):
            problems.append(pack)
        elif pack.name in packs:
            why = f"is also the name of {packs[pack.name].folder}; a pack that changes another's rules needs its own"
            problems.append(RuleProblem(file=f"{pack.folder}/{PACK_FILE}", key="name", why=why))
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
    """Load the packs of this instance, from the private folder ``cache`` if possible.

    The cache cuts the time at startup from 100 ms to 1 ms and saves the memory for parsing. Its key covers the version,
    the settings, and the path, time and size of every rule file.
    """
    folders = (get_user_folder(config_dir),)
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
        # Missing, or written by a version with other fields: load the packs from their files.
        return None


def _compute_key(folders: tuple[str, ...], settings: DetectionSettings, crashing: Mapping[str, str]) -> bytes:
    options = (settings.patterns_order, settings.patterns_disabled, sorted(crashing.items()))
    content = (__version__, *options, *_list_file_stamps(folders))
    return blake2b(repr(content).encode(errors="replace"), digest_size=_KEY_BYTES).digest()


def _list_file_stamps(folders: tuple[str, ...]) -> Iterator[object]:
    for pack in find_packs(folders):
        yield pack
        for path in list_rule_files(pack) if isinstance(pack, RulePack) else ():
            # The file may have been deleted in the meantime.
            with contextlib.suppress(OSError):
                status = os.stat(path)
                yield path, status.st_mtime_ns, status.st_size


def load_builtin_screen_rules(agent: str) -> tuple[Rule, ...]:
    """Return an agent's built-in rules in the order in which they are tried. Invalid files are logged and skipped.

    Called when the agent's first screen is seen.
    """
    pack = find_builtin_pack(agent)
    if pack is None:
        return ()
    results = [read_rule(path, pack.name) for path in list_rule_files(pack)]
    for result in results:
        if isinstance(result, RuleProblem):
            log.error("a rule cannot be used: %s", result)
    rules = [rule for rule in results if isinstance(rule, Rule) and rule.scope == "screen" and rule.agent == agent]
    return tuple(strip_examples(rule) for rule in sorted(rules, key=lambda rule: (rule.order, rule.id)))


def list_screen_rules(packs: RulePacks, agent: str) -> tuple[Rule, ...]:
    """Return an agent's screen rules from all loaded packs."""
    return tuple(map(strip_examples, packs.list_agent_rules(agent, "screen")))


def strip_examples(rule: Rule) -> Rule:
    """Drop the examples, which only tests and rule authors need."""
    return replace(rule, hits=(), misses=())


PACK_FILE = "pack.toml"
_PACK_KEYS = {"name", "version", "description"}
_BUILTIN_FOLDER = os.path.join(os.path.dirname(__file__), "core")


def get_user_folder(config_dir: str) -> str:
    return f"{config_dir}/packs"


def find_packs(folders: Sequence[str]) -> Iterator[RulePack | RuleProblem]:
    """Yield the built-in packs, those of installed packages, then those in the folders, each group sorted by name."""
    yield from find_packs_in(_BUILTIN_FOLDER, "builtin")
    yield from _find_installed_packs()
    for folder in folders:
        yield from find_packs_in(folder, "user")


def find_builtin_pack(name: str) -> RulePack | None:
    folder = f"{_BUILTIN_FOLDER}/{name}"
    pack = read_pack_file(folder, "builtin") if os.path.isdir(folder) else None
    return pack if isinstance(pack, RulePack) else None


def read_pack_file(folder: str, origin: PackOrigin, name: str = "") -> RulePack | RuleProblem:
    """Read a pack's `pack.toml`. A pack without that file is named after its folder."""
    path = f"{folder}/{PACK_FILE}"
    if not os.path.exists(path):
        return RulePack(name=name or os.path.basename(folder.rstrip("/")), origin=origin, folder=folder)
    text = read_text(path)
    if isinstance(text, RuleProblem):
        return text
    values = parse_toml(text, path)
    if isinstance(values, RuleProblem):
        return values
    for key, value in values.items():
        if key not in _PACK_KEYS:
            why = "is unknown; a pack has name, version, description"
            return RuleProblem(file=path, line=find_line(key, text), key=key, why=why)
        if not isinstance(value, str) or not value.strip():
            return RuleProblem(file=path, line=find_line(key, text), key=key, why="is not a text")
    for key in ("name", "version"):
        if key not in values:
            return RuleProblem(file=path, key=key, why="is missing")
    return RulePack(**values, origin=origin, folder=folder)


def list_rule_files(pack: RulePack) -> list[str]:
    return scan_rule_files(pack)[0]


def scan_rule_files(pack: RulePack) -> tuple[list[str], list[RuleProblem]]:
    """Return the sorted rule files of a pack, or the problem if the folder cannot be read."""
    try:
        names = sorted(os.listdir(pack.folder))
    except OSError as error:
        return [], [RuleProblem(file=pack.folder, why=f"cannot be read: {error.strerror}")]
    return [f"{pack.folder}/{name}" for name in names if name.endswith(".toml") and name != PACK_FILE], []


def find_packs_in(packs_folder: str, origin: PackOrigin) -> Iterator[RulePack | RuleProblem]:
    try:
        names = sorted(os.listdir(packs_folder))
    except FileNotFoundError:
        return
    except OSError as error:
        yield RuleProblem(file=packs_folder, why=f"cannot be read: {error.strerror}")
        return
    for name in names:
        folder = f"{packs_folder}/{name}"
        if name[0] in "._":
            continue
        if os.path.isdir(folder):
            yield read_pack_file(folder, origin)
        elif name.endswith(".toml"):
            why = f"is not in a pack: move it into a folder such as {packs_folder}/org.local"
            yield RuleProblem(file=folder, why=why)


def _find_installed_packs() -> Iterator[RulePack | RuleProblem]:
    values, broken = plugins.read_plugins("packs")
    for name, why in broken.items():
        yield RuleProblem(file=name, why=f"cannot be loaded: {redact(why)}")
    for name, value in values.items():
        path = next(iter(getattr(value, "__path__", ())), value)
        folder = str(os.fspath(path)) if isinstance(path, str | os.PathLike) else ""
        if os.path.isdir(folder):
            yield read_pack_file(folder, "installed", name)
        else:
            yield RuleProblem(file=name, why="is not a folder of rules")
