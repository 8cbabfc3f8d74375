"""Load the active detection rules into the rule matcher, compile them in the background, and reload them.

Hyperscan takes long to compile rules, so they are compiled once in a separate process and cached on disk. Until then,
the slower re2 engine matches the same rules, so text is never stored unscanned. A user's rule that crashes Hyperscan
crashes only that process. Screen rules and the examples in rules are not kept in memory.
"""

import asyncio
from _blake2 import blake2b  # hashlib would load OpenSSL, which takes four megabytes
from collections.abc import Sequence
from importlib.util import find_spec

import msgspec

from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules, save_crashing_rules
from termvisor.detection.packs.loader import load_cached_packs, strip_examples
from termvisor.detection.packs.pack import RulePacks, RuleProblem
from termvisor.detection.scanner import RuleScanner
from termvisor.errors import ConfigError
from termvisor.log import get_logger
from termvisor.model.detection.rule import Rule, RuleScope
from termvisor.model.maintenance import RulesReloadResult
from termvisor.pipeline.rule_matcher import GatingOptions, RuleMatcher
from termvisor.regex import EngineName, is_cached
from termvisor.regex.relax import relax_pattern
from termvisor.settings import Paths, Settings
from termvisor.system.worker import TIMED_OUT, WorkerResult, run_isolated_worker

_TEXT_SCOPES: tuple[RuleScope, ...] = ("line", "stream")
_MARK_SCOPES: tuple[RuleScope, ...] = ("mark",)
_TRANSCRIPT_SCOPES: tuple[RuleScope, ...] = ("transcript",)
_SCOPE_GROUPS = (_TEXT_SCOPES, _MARK_SCOPES, _TRANSCRIPT_SCOPES)
# A backstop: the worker limits the CPU time of each compilation itself.
_COMPILE_TIMEOUT_S = 600.0
# This many rules compile within a second or two, so the first start waits for them.
_MAX_QUICK_RULES = 250
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
        """Load and activate the rules; if that fails, the daemon runs without them."""
        self._settings = settings
        try:
            await self._activate(await self._load_packs(settings))
        except (ConfigError, OSError) as error:
            # Capture and search work without rules, so the daemon starts anyway.
            log.error("no detection rule is active: %s", error)
        self._has_new_rules.set()
        self._rule_matcher.gating = build_gating(settings)

    async def reload(self, settings: Settings) -> RulesReloadResult:
        """Load the rules again; if there are new problems, report them and keep the old rules."""
        packs = await self._load_packs(settings)
        new_problems = tuple(str(problem) for problem in packs.troubles if problem not in self._problems)
        if new_problems:
            return RulesReloadResult(troubles=new_problems)
        self._settings, self._rule_matcher.gating = settings, build_gating(settings)
        # Activating unchanged rules again would recompile and reset their scanners.
        if _compute_fingerprint(packs) == self._fingerprint:
            return RulesReloadResult()
        await self._activate(packs)
        self._has_new_rules.set()
        return RulesReloadResult(count=len(packs.rules))

    @property
    def event_rules(self) -> tuple[Rule, ...]:
        """The active rules that emit events."""
        return self._rules

    async def run(self) -> None:
        """Compile new rules in the background and switch to the compiled ones, until cancelled."""
        while True:
            await self._has_new_rules.wait()
            self._has_new_rules.clear()
            if not self._is_compiled:
                await self._compile()

    async def _load_packs(self, settings: Settings) -> RulePacks:
        return await asyncio.to_thread(load_cached_packs, self._paths.config_dir, settings, self._paths.cache_dir)

    async def _activate(self, packs: RulePacks) -> None:
        for problem in packs.troubles:
            if problem not in self._problems:
                log.warning("rule not active: %s", problem)
        # Only rule authors need the examples.
        self._rules = tuple(strip_examples(rule) for rule in packs.rules if rule.event)
        self._problems, self._fingerprint = packs.troubles, _compute_fingerprint(packs)
        await self._use_engine("auto" if self._is_compiled or not find_spec("re2") else "re2")

    async def _compile(self) -> None:
        """Compile the rules in a child process; rules that crash Hyperscan become inactive."""
        done = await run_isolated_worker(
            "termvisor.daemon.rules.active_rules:compile_active_rules",
            (self._paths, self._settings),
            returns=type(None),
            timeout_s=_COMPILE_TIMEOUT_S,
        )
        packs = await self._load_packs(self._settings)
        new_problems = [problem for problem in packs.troubles if problem not in self._problems]
        crash_reasons = load_crashing_rules(self._paths.cache_dir).values()
        # Only crashing rules are dropped here; other changes in the files wait for an explicit reload.
        if new_problems and all(problem.why in crash_reasons for problem in new_problems):
            await self._activate(packs)
        elif self._is_compiled:
            await self._use_engine("auto")
        # If the rules were reloaded in the meantime, the new ones are compiled next and nothing has failed.
        if not self._is_compiled and not self._has_new_rules.is_set():
            log.warning("rules use the slower engine: %s", _describe_failure(done))

    async def _use_engine(self, engine: EngineName) -> None:
        text, marks, transcripts = (self._build_scanner(scopes, engine) for scopes in _SCOPE_GROUPS)
        for scanner in (text, marks, transcripts):
            await asyncio.to_thread(scanner.compile_now)
        self._rule_matcher.set_rules(self._rules, text if text.rules else None, marks if marks.rules else None)
        self._rule_matcher.transcript_scanner = transcripts if transcripts.rules else None

    @property
    def _is_compiled(self) -> bool:
        scanners = [self._build_scanner(scopes, "auto") for scopes in _SCOPE_GROUPS]
        return all(not scanner.rules or is_cached(scanner.patterns, self._paths.cache_dir) for scanner in scanners)

    def _build_scanner(self, scopes: Sequence[RuleScope], engine: EngineName) -> RuleScanner:
        return _build_scanner(self._rules, scopes, self._paths, engine)


def build_gating(settings: Settings) -> GatingOptions:
    return GatingOptions(
        is_enabled=settings.patterns_state_gating_enabled, is_exact=settings.patterns_state_gating_require_agent_match
    )


def _build_scanner(rules: Sequence[Rule], scopes: Sequence[RuleScope], paths: Paths, engine: EngineName) -> RuleScanner:
    return RuleScanner([rule for rule in rules if rule.scope in scopes], engine=engine, cache=paths.cache_dir)


def _compute_fingerprint(packs: RulePacks) -> bytes:
    return blake2b(msgspec.msgpack.encode(packs), digest_size=16).digest()


def compile_quick_rules(paths: Paths, settings: Settings) -> None:
    """Compile the active rules into the cache, unless there are many or some are the user's (either may take long)."""
    packs = load_cached_packs(paths.config_dir, settings, paths.cache_dir)
    if len(packs.rules) <= _MAX_QUICK_RULES and all(pack.origin == "builtin" for pack in packs.packs):
        compile_rules(packs, paths)


def _describe_failure(done: WorkerResult[None]) -> str:
    """Return why compilation failed: the last line of stderr, or the timeout."""
    is_timeout = done.status == TIMED_OUT
    return done.last_error_line[-300:] or (
        f"compilation timed out after {_COMPILE_TIMEOUT_S:g} s" if is_timeout else "they cannot be compiled together"
    )


def compile_active_rules(paths: Paths, settings: Settings) -> None:
    """Compile the rules into the cache. Runs in a worker process.

    The daemon passes its own paths and settings, which may differ from the environment and the config file.
    """
    compile_rules(load_cached_packs(paths.config_dir, settings, paths.cache_dir), paths)


def compile_rules(packs: RulePacks, paths: Paths, crash_test: CrashTest = CRASH_TEST) -> None:
    """Compile the rules into the cache, and record which of the user's rules crash Hyperscan."""
    builtin = {pack.name for pack in packs.packs if pack.origin == "builtin"}
    for scopes in _SCOPE_GROUPS:
        rules = [rule for rule in packs.rules if rule.event and rule.scope in scopes]
        if not rules or is_cached(_build_scanner(rules, scopes, paths, "auto").patterns, paths.cache_dir):
            continue
        # Built-in rules are tested in every release, so only the user's rules can crash the engine.
        user_rules = {rule.id for rule in rules if rule.pack not in builtin}
        crashing = crash_test.compile_surviving(rules, user_rules, paths.cache_dir)
        if crashing:
            reasons = {relax_pattern(rule.pattern): crashing[rule.id] for rule in rules if rule.id in crashing}
            save_crashing_rules(paths.cache_dir, reasons)
