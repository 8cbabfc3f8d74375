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

from termvisor.daemon.rules.compile_job import CompileJob, read_compile_job
from termvisor.detection.packs.cache import load_cached_packs
from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules, save_crashing_rules
from termvisor.detection.packs.pack import RulePacks, RuleProblem
from termvisor.detection.packs.screen_rules import strip_examples
from termvisor.detection.scanner import RuleScanner
from termvisor.errors import ConfigError
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule, RuleScope
from termvisor.model.reload import RulesReloadResult
from termvisor.pipeline.agent_presence import GatingOptions
from termvisor.pipeline.rule_matcher import RuleMatcher
from termvisor.regex import EngineName, is_cached
from termvisor.regex.relax import relax_pattern
from termvisor.settings import Paths, Settings
from termvisor.system.subprocesses import run_isolated

_TEXT_SCOPES: tuple[RuleScope, ...] = ("line", "stream")
_MARK_SCOPES: tuple[RuleScope, ...] = ("mark",)
_TRANSCRIPT_SCOPES: tuple[RuleScope, ...] = ("transcript",)
_SCOPE_GROUPS = (_TEXT_SCOPES, _MARK_SCOPES, _TRANSCRIPT_SCOPES)
_COMPILE_TIMEOUT_S = 600.0
_MAX_QUICK_RULES = 250
"""Rules that are compiled within a second or two: the very first start waits for that."""
CRASH_TEST = CrashTest()
log = get_logger("rules")


class ActiveRules:
    def __init__(self, rule_matcher: RuleMatcher, paths: Paths):
        self._rule_matcher, self._paths = rule_matcher, paths
        self._settings = Settings()
        self._rules: tuple[Rule, ...] = ()
        self._problems: tuple[RuleProblem, ...] = ()
        self._fingerprint = b""
        self._has_new_rules = asyncio.Event()

    async def load(self, settings: Settings) -> None:
        """From now on these rules are looked for. Without them everything else goes on."""
        self._settings = settings
        try:
            await self._activate(await self._load_packs(settings))
        except (ConfigError, OSError) as error:
            log.error("no rule is looked for: %s", error)
        self._has_new_rules.set()
        self._rule_matcher.gating = build_gating(settings)

    async def reload(self, settings: Settings) -> RulesReloadResult:
        """Read them again. Where something is wrong now that was not before, it is told, and the old ones stay."""
        packs = await self._load_packs(settings)
        wrong = tuple(str(trouble) for trouble in packs.troubles if trouble not in self._problems)
        if wrong:
            return RulesReloadResult(troubles=wrong)
        self._settings, self._rule_matcher.gating = settings, build_gating(settings)
        if _compute_fingerprint(packs) == self._fingerprint:
            return RulesReloadResult()
        await self._activate(packs)
        self._has_new_rules.set()
        return RulesReloadResult(count=len(packs.rules))

    @property
    def event_rules(self) -> tuple[Rule, ...]:
        """The rules in force that tell of events."""
        return self._rules

    async def run(self) -> None:
        """Whenever rules are not compiled yet, have that done, then go on with it. Until it is cancelled."""
        while True:
            await self._has_new_rules.wait()
            self._has_new_rules.clear()
            if not self._is_compiled:
                await self._compile()

    async def _load_packs(self, settings: Settings) -> RulePacks:
        where = self._paths
        return await asyncio.to_thread(load_cached_packs, where.config_dir, settings, where.cache_dir)

    async def _activate(self, packs: RulePacks) -> None:
        for trouble in packs.troubles:
            if trouble not in self._problems:
                log.warning("a rule is not in force: %s", trouble)
        self._rules, self._problems, self._fingerprint = (
            _select_event_rules(packs),
            packs.troubles,
            _compute_fingerprint(packs),
        )
        await self._use_engine("auto" if self._is_compiled or not find_spec("re2") else "re2")

    async def _compile(self) -> None:
        """Rules that Hyperscan does not survive are found out meanwhile, and then no longer in force."""
        command, errand = (
            [sys.executable, "-m", "termvisor.daemon.rules.active_rules"],
            CompileJob(self._paths, self._settings),
        )
        status, _, errors = await run_isolated(command, stdin=errand.encoded, timeout_s=_COMPILE_TIMEOUT_S)
        packs = await self._load_packs(self._settings)
        new = [trouble for trouble in packs.troubles if trouble not in self._problems]
        fatal = load_crashing_rules(self._paths.cache_dir).values()
        if new and all(trouble.why in fatal for trouble in new):  # whatever else is wrong now waits for a reload
            await self._activate(packs)
        elif self._is_compiled:
            await self._use_engine("auto")
        if not self._is_compiled and not self._has_new_rules.is_set():
            log.warning("rules are looked for by the slower engine: %s", _describe_failure(status, errors))

    async def _use_engine(self, engine: EngineName) -> None:
        text, marks, words = (_build_scan(self._rules, scopes, self._paths, engine) for scopes in _SCOPE_GROUPS)
        for scan in (text, marks, words):
            await asyncio.to_thread(scan.compile_now)
        self._rule_matcher.set_rules(self._rules, text if text.rules else None, marks if marks.rules else None)
        self._rule_matcher.transcript_scanner = words if words.rules else None

    @property
    def _is_compiled(self) -> bool:
        scans = [_build_scan(self._rules, scopes, self._paths, "auto") for scopes in _SCOPE_GROUPS]
        return all(not scan.rules or is_cached(scan.patterns, self._paths.cache_dir) for scan in scans)


def build_gating(settings: Settings) -> GatingOptions:
    return GatingOptions(
        is_enabled=settings.patterns_state_gating_enabled, is_exact=settings.patterns_state_gating_require_agent_match
    )


def _select_event_rules(packs: RulePacks) -> tuple[Rule, ...]:
    """Those that tell of events, without their examples: they are for those who write rules."""
    return tuple(strip_examples(rule) for rule in packs.rules if rule.event)


def _build_scan(rules: Sequence[Rule], scopes: Sequence[RuleScope], paths: Paths, engine: EngineName) -> RuleScanner:
    return RuleScanner([rule for rule in rules if rule.scope in scopes], engine=engine, cache=paths.cache_dir)


def _compute_fingerprint(packs: RulePacks) -> bytes:
    """The same for the same rules."""
    return blake2b(msgspec.msgpack.encode(packs), digest_size=16).digest()


def compile_quick_rules(paths: Paths, settings: Settings) -> None:
    """Compile and keep the rules in force, unless that may take long: they are many, or not all ours."""
    packs = load_cached_packs(paths.config_dir, settings, paths.cache_dir)
    if len(packs.rules) <= _MAX_QUICK_RULES and all(pack.origin == "builtin" for pack in packs.packs):
        compile_rules(packs, paths)


def _describe_failure(status: int, errors: bytes) -> str:
    """What kept the other process from compiling them: its last words, or how it ended."""
    last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2][-300:]
    is_late = status == 124
    return last or (
        f"compiling took more than {_COMPILE_TIMEOUT_S:g} s" if is_late else "they cannot be compiled together"
    )


def main() -> None:
    where, settings = (errand := read_compile_job()).where, errand.settings
    compile_rules(load_cached_packs(where.config_dir, settings, where.cache_dir), where)


def compile_rules(packs: RulePacks, paths: Paths, crash_test: CrashTest = CRASH_TEST) -> None:
    """Keep the rules compiled, and condemn those of others that Hyperscan does not survive."""
    ours = {pack.name for pack in packs.packs if pack.origin == "builtin"}
    for scopes in _SCOPE_GROUPS:
        rules = [rule for rule in packs.rules if rule.event and rule.scope in scopes]
        if not rules or is_cached(_build_scan(rules, scopes, paths, "auto").patterns, paths.cache_dir):
            continue
        guilty = crash_test.compile_surviving(
            rules, {rule.id for rule in rules if rule.pack not in ours}, paths.cache_dir
        )
        if guilty:
            save_crashing_rules(
                paths.cache_dir, {relax_pattern(rule.pattern): guilty[rule.id] for rule in rules if rule.id in guilty}
            )


if __name__ == "__main__":
    main()
