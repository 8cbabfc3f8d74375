"""The rules in force, taken up by the daemon.

Rules take long to compile, so that is done once, in a process of its own, and kept on disk. Until it is there, the
other engine looks for the same rules, more slowly: no text waits for its rules, and none passes unread. A rule of
somebody's own that would crash the engine crashes that other process instead. What a rule needs to be proven, and the
rules for screens, stay on disk.
"""

import asyncio
import sys
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Sequence
from importlib.util import find_spec

import msgspec

from termvisor.daemon.rules.compile_job import Errand, heard
from termvisor.detection.packs.cache import load_kept
from termvisor.detection.packs.crash_test import Ordeal, condemn, condemned
from termvisor.detection.packs.pack import Packs, Trouble
from termvisor.detection.packs.screen_rules import bare
from termvisor.detection.scanner import RuleScan
from termvisor.errors import ConfigError
from termvisor.log import logger
from termvisor.model.detection.rule import Rule, Scope
from termvisor.model.reload import RulesRead
from termvisor.pipeline.agent_presence import Gating
from termvisor.pipeline.rule_matcher import Spotter
from termvisor.regex import Engine, is_cached
from termvisor.regex.relax import loosened
from termvisor.settings import Places, Settings
from termvisor.system.subprocesses import ask_apart

_OF_TEXT: tuple[Scope, ...] = ("line", "stream")
_OF_MARKS: tuple[Scope, ...] = ("mark",)
_OF_WORDS: tuple[Scope, ...] = ("transcript",)
_SCANS = (_OF_TEXT, _OF_MARKS, _OF_WORDS)
_COMPILE_FOR = 600.0
_FEW = 250
"""Rules that are compiled within a second or two: the very first start waits for that."""
ORDEAL = Ordeal()
log = logger("rules")


class Ruling:
    def __init__(self, spotter: Spotter, where: Places):
        self._spotter, self._where = spotter, where
        self._settings = Settings()
        self._rules: tuple[Rule, ...] = ()
        self._troubles: tuple[Trouble, ...] = ()
        self._print = b""
        self._is_new = asyncio.Event()

    async def take_up(self, settings: Settings) -> None:
        """From now on these rules are looked for. Without them everything else goes on."""
        self._settings = settings
        try:
            await self._take(await self._load(settings))
        except (ConfigError, OSError) as error:
            log.error("no rule is looked for: %s", error)
        self._is_new.set()
        self._spotter.gating = gating(settings)

    async def reload(self, settings: Settings) -> RulesRead:
        """Read them again. Where something is wrong now that was not before, it is told, and the old ones stay."""
        packs = await self._load(settings)
        wrong = tuple(str(trouble) for trouble in packs.troubles if trouble not in self._troubles)
        if wrong:
            return RulesRead(troubles=wrong)
        self._settings, self._spotter.gating = settings, gating(settings)
        if _print(packs) == self._print:
            return RulesRead()
        await self._take(packs)
        self._is_new.set()
        return RulesRead(count=len(packs.rules))

    @property
    def telling(self) -> tuple[Rule, ...]:
        """The rules in force that tell of events."""
        return self._rules

    async def run(self) -> None:
        """Whenever rules are not compiled yet, have that done, then go on with it. Until it is cancelled."""
        while True:
            await self._is_new.wait()
            self._is_new.clear()
            if not self._is_compiled:
                await self._compile()

    async def _load(self, settings: Settings) -> Packs:
        where = self._where
        return await asyncio.to_thread(load_kept, where.config_dir, settings, where.cache_dir)

    async def _take(self, packs: Packs) -> None:
        for trouble in packs.troubles:
            if trouble not in self._troubles:
                log.warning("a rule is not in force: %s", trouble)
        self._rules, self._troubles, self._print = _telling(packs), packs.troubles, _print(packs)
        await self._use("auto" if self._is_compiled or not find_spec("re2") else "re2")

    async def _compile(self) -> None:
        """Rules that Hyperscan does not survive are found out meanwhile, and then no longer in force."""
        command, errand = (
            [sys.executable, "-m", "termvisor.daemon.rules.active_rules"],
            Errand(self._where, self._settings),
        )
        status, _, errors = await ask_apart(command, stdin=errand.told, timeout=_COMPILE_FOR)
        packs = await self._load(self._settings)
        new = [trouble for trouble in packs.troubles if trouble not in self._troubles]
        fatal = condemned(self._where.cache_dir).values()
        if new and all(trouble.why in fatal for trouble in new):  # whatever else is wrong now waits for a reload
            await self._take(packs)
        elif self._is_compiled:
            await self._use("auto")
        if not self._is_compiled and not self._is_new.is_set():
            log.warning("rules are looked for by the slower engine: %s", _why_not(status, errors))

    async def _use(self, engine: Engine) -> None:
        text, marks, words = (_scan(self._rules, scopes, self._where, engine) for scopes in _SCANS)
        for scan in (text, marks, words):
            await asyncio.to_thread(scan.warm)
        self._spotter.use(self._rules, text if text.rules else None, marks if marks.rules else None)
        self._spotter.words = words if words.rules else None

    @property
    def _is_compiled(self) -> bool:
        scans = [_scan(self._rules, scopes, self._where, "auto") for scopes in _SCANS]
        return all(not scan.rules or is_cached(scan.patterns, self._where.cache_dir) for scan in scans)


def gating(settings: Settings) -> Gating:
    return Gating(
        is_on=settings.patterns_state_gating_enabled, is_exact=settings.patterns_state_gating_require_agent_match
    )


def _telling(packs: Packs) -> tuple[Rule, ...]:
    """Those that tell of events, without their examples: they are for those who write rules."""
    return tuple(bare(rule) for rule in packs.rules if rule.event)


def _scan(rules: Sequence[Rule], scopes: Sequence[Scope], where: Places, engine: Engine) -> RuleScan:
    return RuleScan([rule for rule in rules if rule.scope in scopes], engine=engine, cache=where.cache_dir)


def _print(packs: Packs) -> bytes:
    """The same for the same rules."""
    return blake2b(msgspec.msgpack.encode(packs), digest_size=16).digest()


def compile_few(where: Places, settings: Settings) -> None:
    """Compile and keep the rules in force, unless that may take long: they are many, or not all ours."""
    packs = load_kept(where.config_dir, settings, where.cache_dir)
    if len(packs.rules) <= _FEW and all(pack.origin == "builtin" for pack in packs.packs):
        compile_apart(packs, where)


def _why_not(status: int, errors: bytes) -> str:
    """What kept the other process from compiling them: its last words, or how it ended."""
    last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][-300:]
    is_late = status == 124
    return last or (f"compiling took more than {_COMPILE_FOR:g} s" if is_late else "they cannot be compiled together")


def main() -> None:
    where, settings = (errand := heard()).where, errand.settings
    compile_apart(load_kept(where.config_dir, settings, where.cache_dir), where)


def compile_apart(packs: Packs, where: Places, ordeal: Ordeal = ORDEAL) -> None:
    """Keep the rules compiled, and condemn those of others that Hyperscan does not survive."""
    ours = {pack.name for pack in packs.packs if pack.origin == "builtin"}
    for scopes in _SCANS:
        rules = [rule for rule in packs.rules if rule.event and rule.scope in scopes]
        if not rules or is_cached(_scan(rules, scopes, where, "auto").patterns, where.cache_dir):
            continue
        guilty = ordeal.keep(rules, {rule.id for rule in rules if rule.pack not in ours}, where.cache_dir)
        if guilty:
            condemn(where.cache_dir, {loosened(rule.pattern): guilty[rule.id] for rule in rules if rule.id in guilty})


if __name__ == "__main__":
    main()
