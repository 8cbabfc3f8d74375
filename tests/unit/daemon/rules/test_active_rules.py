"""The daemon activates built-in and user rules, but no invalid ones."""

import asyncio
import signal
from pathlib import Path

from termvisor.daemon.rules.active_rules import ActiveRules, build_gating, compile_rules
from termvisor.detection.packs.crash_test import CrashTest
from termvisor.detection.packs.loader import load_cached_packs
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.maintenance import RulesReloadResult
from termvisor.pipeline.rule_matcher import RuleMatcher, TextLocation
from termvisor.regex.isolated_compile import TriedPattern
from termvisor.settings import Paths, Settings
from termvisor.system.worker import TIMED_OUT, WorkerResult
from tests.live.test_events import BROKEN, RULE
from tests.pattern_cache import install_pattern_cache
from tests.unit.wait_until import wait_until

PLACE = TextLocation(pane=PaneId(1), epoch=EpochId(1), source="stream")


def write_packs(tmp_path: Path, *files: str) -> Paths:
    """Create folders with a pack of these rules."""
    places = Paths(*(str(tmp_path / name) for name in "cdr"))
    install_pattern_cache(places)
    for number, text in enumerate(files):
        write_rule_file(places, f"rule{number}", text)
    return places


def write_rule_file(places: Paths, name: str, text: str) -> None:
    pack = Path(places.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True, exist_ok=True)
    (pack / f"{name}.toml").write_text(text)


async def load_matcher(tmp_path: Path, *files: str, **settings) -> RuleMatcher:
    matcher = RuleMatcher()
    await ActiveRules(matcher, write_packs(tmp_path, *files)).load(Settings(**settings))
    return matcher


def match_rules(matcher: RuleMatcher, *texts: str) -> list[str]:
    return [match.rule.id for match in matcher.match_lines(PLACE, texts, lambda line: 1)]


async def test_an_invalid_rule_does_not_affect_other_rules(tmp_path):
    matcher = await load_matcher(tmp_path, RULE, BROKEN)
    assert match_rules(matcher, "DEPLOY OK: web", "DEPLOY FAILED: web") == ["org.deploy.failed"]
    assert matcher.find_rule("org.deploy.failed").why == "A deployment failed."


async def test_disabled_rules_match_nothing(tmp_path):
    matcher = await load_matcher(tmp_path, RULE, patterns_disabled=("org.*",), patterns_state_gating_enabled=False)
    assert match_rules(matcher, "DEPLOY FAILED: web") == []
    assert not matcher.gating.is_enabled


def test_state_gating_follows_the_settings():
    assert not build_gating(Settings(patterns_state_gating_require_agent_match=False)).is_exact


FATAL = RULE.replace("org.deploy.failed", "org.fatal").replace("DEPLOY FAILED", "CRASH")


def run_frail_worker(_function, args, **_) -> WorkerResult[TriedPattern]:
    """Stand in for the worker process that tries patterns and crashes on one of them."""
    names = list(args[0].patterns)
    return WorkerResult(-signal.SIGABRT if "org.fatal" in names else 0, [TriedPattern(name) for name in names])


async def test_a_rule_that_crashes_the_engine_is_disabled_and_others_stay_active(tmp_path):
    places = write_packs(tmp_path, RULE, FATAL)
    active_rules = ActiveRules(matcher := RuleMatcher(), places)
    await active_rules.load(Settings())
    assert match_rules(matcher, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed", "org.fatal"]
    packs = load_cached_packs(places.config_dir, Settings(), places.cache_dir)
    compile_rules(packs, places, CrashTest(run_worker=run_frail_worker))
    assert await active_rules.reload(Settings()) == RulesReloadResult(troubles=(read_crash_problem(places),))
    await (again := ActiveRules(matcher, places)).load(Settings())
    assert match_rules(matcher, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed"]
    assert await again.reload(Settings()) == RulesReloadResult()


def read_crash_problem(places: Paths) -> str:
    (problem,) = load_cached_packs(places.config_dir, Settings(), places.cache_dir).troubles
    assert (problem.rule, problem.key) == ("org.fatal", "pattern")
    assert "crashes on it (SIGABRT)" in problem.why
    return str(problem)


async def test_reload_applies_valid_rules_and_ignores_invalid_ones(tmp_path):
    places = write_packs(tmp_path, RULE)
    active_rules = ActiveRules(matcher := RuleMatcher(), places)
    await active_rules.load(Settings())
    assert await active_rules.reload(Settings()) == RulesReloadResult()
    write_rule_file(places, "more", RULE.replace("org.deploy.failed", "org.more").replace("FAILED", "LATE"))
    problem = await active_rules.reload(Settings())
    assert (problem.count or 0) > 2
    assert not problem.troubles
    assert match_rules(matcher, "DEPLOY LATE: web") == ["org.more"]
    write_rule_file(places, "more", BROKEN)
    problem = await active_rules.reload(Settings(patterns_disabled=("org.*",)))
    assert problem.count is None
    assert "more.toml" in problem.troubles[0]
    assert match_rules(matcher, "DEPLOY LATE: web", "DEPLOY FAILED: web") == ["org.more", "org.deploy.failed"]


async def test_an_already_invalid_rule_does_not_block_a_reload(tmp_path):
    places = write_packs(tmp_path, BROKEN)
    await (active_rules := ActiveRules(matcher := RuleMatcher(), places)).load(Settings())
    write_rule_file(places, "more", RULE)
    assert (await active_rules.reload(Settings())).count
    assert match_rules(matcher, "DEPLOY FAILED: web") == ["org.deploy.failed"]


async def test_a_crashing_rule_is_disabled_as_soon_as_it_is_known(tmp_path, monkeypatch, caplog):
    places = write_packs(tmp_path, RULE, FATAL)
    active_rules = ActiveRules(matcher := RuleMatcher(), places)

    async def run_worker(*_, **__):
        packs = load_cached_packs(places.config_dir, Settings(), places.cache_dir)
        await asyncio.to_thread(compile_rules, packs, places, CrashTest(run_worker=run_frail_worker))
        return WorkerResult(0)

    monkeypatch.setattr("termvisor.daemon.rules.active_rules.run_isolated_worker", run_worker)
    await active_rules.load(Settings())
    running = asyncio.ensure_future(active_rules.run())
    await wait_until(lambda: match_rules(matcher, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed"])
    await wait_until(lambda: "slower engine" in caplog.text)
    assert "org.local/rule1.toml" in caplog.text
    write_rule_file(places, "more", RULE.replace("org.deploy.failed", "org.more").replace("FAILED", "LATE"))
    assert (await active_rules.reload(Settings())).count
    assert match_rules(matcher, "DEPLOY LATE: web", "CRASH: web") == ["org.more"]
    running.cancel()


async def test_rules_are_compiled_with_the_daemons_folders_and_settings(tmp_path, caplog):
    """The worker gets them from the daemon, whose settings may differ from environment and file until a reload."""
    others = RULE.replace("org.deploy.failed", "org.off").replace("FAILED", "LATE")
    places = write_packs(tmp_path, RULE, others)
    active_rules = ActiveRules(matcher := RuleMatcher(), places)
    await active_rules.load(Settings(patterns_disabled=("org.off",)))
    running = asyncio.ensure_future(active_rules.run())
    await wait_until(lambda: get_engine_name(matcher) == "HyperscanMatcher" or "slower engine" in caplog.text)
    assert get_engine_name(matcher) == "HyperscanMatcher", caplog.text
    assert match_rules(matcher, "DEPLOY FAILED: web", "DEPLOY LATE: web") == ["org.deploy.failed"]
    running.cancel()


def get_engine_name(matcher: RuleMatcher) -> str:
    return type(matcher._text_scanner._matcher).__name__


async def test_a_failed_compilation_is_logged_with_its_reason(tmp_path, monkeypatch, caplog):
    async def run_worker(*_, **__):
        return answers.pop(0)

    answers = [
        WorkerResult(1, stderr="Traceback\nOSError: [Errno 28] No space left on device"),
        WorkerResult(TIMED_OUT),
    ]
    monkeypatch.setattr("termvisor.daemon.rules.active_rules.run_isolated_worker", run_worker)
    await (active_rules := ActiveRules(RuleMatcher(), write_packs(tmp_path, RULE))).load(Settings())
    running = asyncio.ensure_future(active_rules.run())
    await wait_until(lambda: "slower engine: OSError: [Errno 28] No space left on device" in caplog.text)
    await active_rules.load(Settings())
    await wait_until(lambda: "slower engine: compilation timed out after 600 s" in caplog.text)
    running.cancel()
