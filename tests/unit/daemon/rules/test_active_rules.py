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


def placed(tmp_path: Path, *files: str) -> Paths:
    """Folders with a pack of these rules."""
    places = Paths(*(str(tmp_path / name) for name in "cdr"))
    install_pattern_cache(places)
    for number, text in enumerate(files):
        add(places, f"rule{number}", text)
    return places


def add(places: Paths, name: str, text: str) -> None:
    pack = Path(places.config_dir) / "packs" / "org.local"
    pack.mkdir(parents=True, exist_ok=True)
    (pack / f"{name}.toml").write_text(text)


async def ruled(tmp_path: Path, *files: str, **settings) -> RuleMatcher:
    spotter = RuleMatcher()
    await ActiveRules(spotter, placed(tmp_path, *files)).load(Settings(**settings))
    return spotter


def found(spotter: RuleMatcher, *texts: str) -> list[str]:
    return [spot.rule.id for spot in spotter.match_lines(PLACE, texts, lambda line: 1)]


async def test_a_broken_rule_keeps_no_other_from_its_work(tmp_path):
    spotter = await ruled(tmp_path, RULE, BROKEN)
    assert found(spotter, "DEPLOY OK: web", "DEPLOY FAILED: web") == ["org.deploy.failed"]
    assert spotter.find_rule("org.deploy.failed").why == "A deployment failed."


async def test_rules_that_the_settings_switch_off_find_nothing(tmp_path):
    spotter = await ruled(tmp_path, RULE, patterns_disabled=("org.*",), patterns_state_gating_enabled=False)
    assert found(spotter, "DEPLOY FAILED: web") == []
    assert not spotter.gating.is_enabled


def test_the_gate_is_as_the_settings_say():
    assert not build_gating(Settings(patterns_state_gating_require_agent_match=False)).is_exact


FATAL = RULE.replace("org.deploy.failed", "org.fatal").replace("DEPLOY FAILED", "CRASH")


def run_frail_worker(_function, args, **_) -> WorkerResult[TriedPattern]:
    """Stands in for the worker process that tries patterns: it does not survive one of them."""
    names = list(args[0].patterns)
    return WorkerResult(-signal.SIGABRT if "org.fatal" in names else 0, [TriedPattern(name) for name in names])


async def test_a_rule_that_the_engine_does_not_survive_is_out_of_force_and_all_others_are_in(tmp_path):
    places = placed(tmp_path, RULE, FATAL)
    ruling = ActiveRules(spotter := RuleMatcher(), places)
    await ruling.load(Settings())
    assert found(spotter, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed", "org.fatal"]
    packs = load_cached_packs(places.config_dir, Settings(), places.cache_dir)
    compile_rules(packs, places, CrashTest(run_worker=run_frail_worker))
    assert await ruling.reload(Settings()) == RulesReloadResult(troubles=(trouble(places),))
    await (again := ActiveRules(spotter, places)).load(Settings())
    assert found(spotter, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed"]
    assert await again.reload(Settings()) == RulesReloadResult()


def trouble(places: Paths) -> str:
    (told,) = load_cached_packs(places.config_dir, Settings(), places.cache_dir).troubles
    assert (told.rule, told.key) == ("org.fatal", "pattern")
    assert "crashes on it (SIGABRT)" in told.why
    return str(told)


async def test_rules_are_read_again_and_broken_ones_change_nothing(tmp_path):
    places = placed(tmp_path, RULE)
    ruling = ActiveRules(spotter := RuleMatcher(), places)
    await ruling.load(Settings())
    assert await ruling.reload(Settings()) == RulesReloadResult()
    add(places, "more", RULE.replace("org.deploy.failed", "org.more").replace("FAILED", "LATE"))
    told = await ruling.reload(Settings())
    assert (told.count or 0) > 2
    assert not told.troubles
    assert found(spotter, "DEPLOY LATE: web") == ["org.more"]
    add(places, "more", BROKEN)
    told = await ruling.reload(Settings(patterns_disabled=("org.*",)))
    assert told.count is None
    assert "more.toml" in told.troubles[0]
    assert found(spotter, "DEPLOY LATE: web", "DEPLOY FAILED: web") == ["org.more", "org.deploy.failed"]


async def test_a_rule_that_was_broken_before_keeps_no_other_from_being_read(tmp_path):
    places = placed(tmp_path, BROKEN)
    await (ruling := ActiveRules(spotter := RuleMatcher(), places)).load(Settings())
    add(places, "more", RULE)
    assert (await ruling.reload(Settings())).count
    assert found(spotter, "DEPLOY FAILED: web") == ["org.deploy.failed"]


async def test_a_fatal_rule_is_out_of_force_as_soon_as_it_is_found_out(tmp_path, monkeypatch, caplog):
    places = placed(tmp_path, RULE, FATAL)
    ruling = ActiveRules(spotter := RuleMatcher(), places)

    async def apart(*_, **__):
        packs = load_cached_packs(places.config_dir, Settings(), places.cache_dir)
        await asyncio.to_thread(compile_rules, packs, places, CrashTest(run_worker=run_frail_worker))
        return WorkerResult(0)

    monkeypatch.setattr("termvisor.daemon.rules.active_rules.run_isolated_worker", apart)
    await ruling.load(Settings())
    running = asyncio.ensure_future(ruling.run())
    await wait_until(lambda: found(spotter, "DEPLOY FAILED: web", "CRASH: web") == ["org.deploy.failed"])
    await wait_until(lambda: "slower engine" in caplog.text)
    assert "org.local/rule1.toml" in caplog.text
    add(places, "more", RULE.replace("org.deploy.failed", "org.more").replace("FAILED", "LATE"))
    assert (await ruling.reload(Settings())).count
    assert found(spotter, "DEPLOY LATE: web", "CRASH: web") == ["org.more"]
    running.cancel()


async def test_rules_are_compiled_for_the_folders_and_settings_that_the_daemon_has(tmp_path, caplog):
    """Neither the environment nor the file need name them: a daemon keeps its settings until it is told to reload."""
    others = RULE.replace("org.deploy.failed", "org.off").replace("FAILED", "LATE")
    places = placed(tmp_path, RULE, others)
    ruling = ActiveRules(spotter := RuleMatcher(), places)
    await ruling.load(Settings(patterns_disabled=("org.off",)))
    running = asyncio.ensure_future(ruling.run())
    await wait_until(lambda: engine_of(spotter) == "HyperscanMatcher" or "slower engine" in caplog.text)
    assert engine_of(spotter) == "HyperscanMatcher", caplog.text
    assert found(spotter, "DEPLOY FAILED: web", "DEPLOY LATE: web") == ["org.deploy.failed"]
    running.cancel()


def engine_of(spotter: RuleMatcher) -> str:
    return type(spotter._text_scanner._matcher).__name__


async def test_a_failed_compilation_is_logged_with_its_reason(tmp_path, monkeypatch, caplog):
    async def apart(*_, **__):
        return answers.pop(0)

    answers = [
        WorkerResult(1, stderr="Traceback\nOSError: [Errno 28] No space left on device"),
        WorkerResult(TIMED_OUT),
    ]
    monkeypatch.setattr("termvisor.daemon.rules.active_rules.run_isolated_worker", apart)
    await (ruling := ActiveRules(RuleMatcher(), placed(tmp_path, RULE))).load(Settings())
    running = asyncio.ensure_future(ruling.run())
    await wait_until(lambda: "slower engine: OSError: [Errno 28] No space left on device" in caplog.text)
    await ruling.load(Settings())
    await wait_until(lambda: "slower engine: compilation timed out after 600 s" in caplog.text)
    running.cancel()
