"""Ordinary output gives no event; recordings of real programs give exactly the expected events."""

import json
from pathlib import Path

import pytest

from termvisor.detection.packs import load_packs
from termvisor.detection.scanner import RuleScanner
from tests.noise import generate_lines
from tests.pattern_cache import get_pattern_cache_dir

RULES = [rule for rule in load_packs().rules if rule.scope in ("line", "stream")]
RECORDINGS = Path(__file__).parents[2] / "recordings"
EXPECTED: dict[str, set[str]] = {
    "claude_code/compacted": {"claude.compaction"},
    "claude_code/error_401": {"claude.banner", "claude.auth.required"},
    "claude_code/quit": {"claude.session.resume_hint"},
    "claude_code/started": {"claude.banner"},
    "claude_code/usage_limit": {"claude.banner", "claude.usage.reached"},
    "codex/compacted": {"codex.banner", "codex.compaction"},
    "codex/error_401": {"codex.banner", "codex.auth.required"},
    "codex/error_429": {"codex.banner", "codex.error.rate_limited"},
    "codex/error_503": {"codex.banner", "codex.error.overloaded"},
    "codex/left": {"codex.session.resume_hint", "codex.session.token_usage"},
    "codex/usage_limit": {"codex.banner", "codex.usage.reached", "codex.usage.warning_5"},
    "gemini/usage_limit_asked": {"gemini.auth.required", "gemini.usage.reached"},
    "gemini/quit": {
        "gemini.usage.reached",
        "gemini.compaction",
        "gemini.session.summary",
        "gemini.session.resume_hint",
    },
    "copilot/login_refused": {"copilot.auth.required"},
    "copilot/quit": {
        "copilot.auth.required",
        "copilot.compaction",
        "copilot.session.token_usage",
        "copilot.session.resume_hint",
    },
    "opencode/compacted": {"opencode.auth.required", "opencode.compaction"},
    "opencode/quit": {"opencode.session.resume_hint"},
    "opencode/usage_limit": {"opencode.auth.required", "opencode.usage.reached"},
}
AT_MOST = {
    "claude_code": {"claude.banner", "claude.error.api", "claude.auth.required", "claude.session.resume_hint"},
    "codex": {"codex.banner", "codex.error.overloaded", "codex.usage.reached"},
    "gemini": {"gemini.banner", "gemini.auth.required", "gemini.usage.reached", "gemini.compaction"},
    "copilot": {"copilot.auth.required", "copilot.compaction", "copilot.error.gave_up"},
    "opencode": {"opencode.auth.required", "opencode.compaction", "opencode.usage.reached"},
}
"""What may still stand on any later screen of the same run."""
TRUE = {path.stem: ["shell.process.killed"] for path in (RECORDINGS / "near_misses").glob("killed_*.json")}
"""A shell says that the agent before it was killed, and so it was."""


@pytest.fixture(scope="module")
def scanner() -> RuleScanner:
    return RuleScanner(RULES, cache=get_pattern_cache_dir())


def load_rows(name: str) -> list[str]:
    rows: list[str] = json.loads((RECORDINGS / f"{name}.json").read_text())["screen"]["rows"]
    return [row.rstrip() for row in rows]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recording_gives_its_events(scanner: RuleScanner, name: str) -> None:
    assert {match.rule.id for match in scanner.scan_rows(load_rows(name))} == EXPECTED[name]


@pytest.mark.parametrize("agent", AT_MOST)
def test_other_recordings_give_only_expected_events(scanner: RuleScanner, agent: str) -> None:
    for path in sorted((RECORDINGS / agent).glob("*.json")):
        name = f"{agent}/{path.stem}"
        found = {match.rule.id for match in scanner.scan_rows(load_rows(name))}
        assert found <= EXPECTED.get(name, AT_MOST[agent]), name


def test_text_about_an_agent_in_another_program_is_no_event(scanner: RuleScanner) -> None:
    """`cat`, `less` and editors show recordings in panes without an agent."""
    for path in sorted((RECORDINGS / "near_misses").glob("*.json")):
        rows = load_rows(f"near_misses/{path.stem}")
        found = [match.rule.id for match in scanner.scan_lines(rows) if not match.rule.agent]
        assert found == TRUE.get(path.stem, []), path.stem


def test_an_agent_that_quotes_event_texts_causes_no_event(scanner: RuleScanner) -> None:
    for path in sorted((RECORDINGS / "near_misses").glob("prose_*.json")):
        found = {match.rule.event for match in scanner.scan_rows(load_rows(f"near_misses/{path.stem}"))}
        assert found <= {"session.start"}, path.stem


def test_ordinary_noise_gives_no_event(scanner: RuleScanner) -> None:
    texts = list(generate_lines(7, RULES, 1 << 20))
    found = [
        (match.rule.id, texts[start + match.line])
        for start in range(0, len(texts), 800)
        for match in scanner.scan_lines(texts[start : start + 800], texts[max(0, start - 3) : start])
    ]
    assert found == []
