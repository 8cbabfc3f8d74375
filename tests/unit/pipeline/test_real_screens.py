"""Real agent screens, repainted, resized and printed, give one event each."""

import json
import textwrap
from pathlib import Path

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.clock import NS
from termvisor.detection.packs import load_packs
from termvisor.detection.scanner import RuleScanner
from termvisor.model.detection.detection import DetectionFilter
from termvisor.model.ids import RuntimeId
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline import SightingRecorder
from termvisor.pipeline.rule_matcher import AgentPresence

RECORDINGS = Path(__file__).parents[2] / "recordings"
RULES = tuple(rule for rule in load_packs().rules if rule.scope in ("line", "stream") and rule.event)
SCAN = RuleScanner(RULES, engine="re2")


def load_rows(agent: str, name: str) -> list[str]:
    return json.loads((RECORDINGS / agent / f"{name}.json").read_text())["screen"]["rows"]


def rewrap_rows(rows: list[str], width: int) -> list[str]:
    return [piece for row in rows for piece in textwrap.wrap(row, width) or [""]]


def build_sample(epoch, rows: list[str], at: int, width: int = 110) -> ScreenSample:
    seen = PaneCapture(rows=tuple(rows), width=width, height=len(rows), cursor_y=len(rows) - 4, alternate=True)
    return ScreenSample(ScreenLifetime(epoch.pane, epoch.id, True, 5), seen, at)


@pytest.mark.parametrize("agent", ["codex", "claude_code"])
async def test_a_limit_on_a_real_screen_is_one_event_however_it_is_painted(capture_store, epoch, agent):
    stay = AgentPresence(agent_process=RuntimeId(7), agent=agent, began_at=0)
    capture_store.pipeline.matcher.set_rules(RULES, SCAN)
    capture_store.pipeline.matcher.find_presences = lambda pane: [stay]
    rows, now = load_rows(agent, "usage_limit"), capture_store.clock.now()
    for number in range(3):  # the last round is a later daemon
        sightings = SightingRecorder(capture_store.store, capture_store.pipeline, capture_store.clock)
        await sightings.store_samples([build_sample(epoch, rows, now + number * NS)])
    await sightings.store_samples([build_sample(epoch, rewrap_rows(rows, 90), now + 20 * NS, 90)])
    capture_store.write_output(epoch, "\r\n".join([*rows, ""]).encode(), at=now + 40 * NS)
    await capture_store.pipeline.wait_settled()
    capture_store.write_output(epoch, "\r\n".join([*rows, ""]).encode(), at=now + 7200 * NS)
    await capture_store.pipeline.wait_settled()
    found = await capture_store.store.detections.list(DetectionFilter(type="usage.reached"))
    assert [(one.agent, one.runtime) for one in found] == [(agent, 7)]
    assert found[0].seen_again > 0


@pytest.mark.parametrize("agent", ["codex", "claude_code"])
async def test_the_same_screen_without_its_agent_is_no_event(capture_store, epoch, agent):
    capture_store.pipeline.matcher.set_rules(RULES, SCAN)
    rows, now = load_rows(agent, "usage_limit"), capture_store.clock.now()
    await SightingRecorder(capture_store.store, capture_store.pipeline, capture_store.clock).store_samples(
        [build_sample(epoch, rows, now)]
    )
    capture_store.write_output(epoch, "\r\n".join([*rows, ""]).encode(), at=now)
    await capture_store.pipeline.wait_settled()
    assert await capture_store.store.detections.list(DetectionFilter(type="usage.*")) == []
