"""Detections do not depend on chunk boundaries or restarts: each occurrence is stored once."""

import asyncio
import itertools
import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

from termvisor.clock import NS, SystemClock
from termvisor.detection.scanner import RuleScanner
from termvisor.model.agent.agent_process import AgentExited, Fact
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.detection.detection import Detection, DetectionFilter
from termvisor.model.detection.rule import Rule, RuleScope
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.pipeline.rule_matcher import AgentPresence
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.store import Store
from termvisor.testing.fake_clock import NOON
from tests.fuzz.example_count import build_settings
from tests.property.test_agent_tracker import add_panes
from tests.property.test_pipeline_resume import Daemon, build_plans, do_nothing, finish_run, open_epoch
from tests.unit.agents.tracking.tracker_scene import build_agent_started, build_signal, open_tracker_scene


def rule(name: str, pattern: str, *, scope: RuleScope = "line", agent: str = "", cooldown: float = 0.0) -> Rule:
    return Rule(
        id=name,
        since="0",
        agent=agent,
        scope=scope,
        pattern=pattern,
        event=name,
        cooldown=cooldown,
        why="for this test",
        hits=(),
        misses=(),
    )


RULES = (
    rule("test.panic", r"^panic: (?P<what>\w+)"),
    rule("test.three", r"begin\nmiddle\nend (?P<number>\d)", scope="stream"),
    rule("test.calm", r"^disk full", cooldown=60.0),
    rule("test.agent", r"^usage (?P<left>\d+)%", agent="codex", cooldown=60.0),
    rule("test.other", r"^usage", agent="gemini"),
)
SCAN = RuleScanner(RULES, engine="re2")
PRESENCE = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)
pieces = st.sampled_from(
    [b"panic: one\r\n", b"panic: two\r\n", b"panic", b": ", b"begin\r\n", b"middle\r\n", b"end 4\r\n", b"\r\n", b"\n",
     b"disk full\r\n", b"disk", b" full\r\n", b"usage 25%\r\n", b"usage 10%\r\n", "übrig\r\n".encode(), b"\x1b[1m",
     b"\x1b[0m", b"\x1b[2K", b"\x1b[?1049hshown\x1b[?1049l"]
)  # fmt: skip
"""Nothing that goes back to a complete line: whether a text is detected before it is rewritten depends on the time."""


class MatchingDaemon(Daemon):
    """A daemon with rules and an agent that is present from the start."""

    def start(self, epoch):
        super().start(epoch)
        self.pipeline.matcher.set_rules(RULES, SCAN)
        self.pipeline.matcher.find_presences = lambda pane: [PRESENCE]


async def list_detections(store: Store, pane: PaneId) -> list[tuple]:
    found = await store.detections.list(DetectionFilter(pane=pane, limit=10_000))
    events = {event.id: event for event in await store.events.list(pane=pane, limit=10_000)}
    assert all(events[one.event].kind == one.type for one in found)
    return [
        (one.rule, one.captures, one.seen_again, one.evidence["line"], one.context, one.runtime, one.trace)
        for one in found
    ]


async def detect_undisturbed(store: Store, folder: str, data: bytes) -> list[tuple]:
    return await detect_disturbed(store, folder, [(data, "continue", 0)], "%1")


async def detect_disturbed(store: Store, folder: str, plan: list, mux_id: str) -> list[tuple]:
    epoch = await open_epoch(store, mux_id)
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 40)
    daemon = MatchingDaemon(store, folder)
    daemon.start(epoch)
    for number, (data, then, turns) in enumerate(plan):
        writer.append(data, number + 1)
        daemon.pipeline.note_growth(epoch.id, writer.offset)
        for _ in range(turns):
            await asyncio.sleep(0.001)
        await {"continue": do_nothing, "settle": daemon.pipeline.wait_settled, "kill": daemon.restart}[then]()
    await finish_run(daemon, store, epoch, writer.offset)
    writer.close()
    return await list_detections(store, epoch.pane)


@build_settings(15)
@given(build_plans(pieces))
def test_detections_are_stored_once_despite_kills_and_any_chunk_boundaries(plan):
    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                whole = b"".join(data for data, _, _ in plan)
                assert await detect_disturbed(store, folder, plan, "%2") == await detect_undisturbed(
                    store, folder, whole
                )
            finally:
                await store.close()

    asyncio.run(check())


flag_updates = st.sampled_from(
    [FlagUpdate(usage_limited=True, resets_at=NOON + NS), FlagUpdate(usage_limited=True),
     FlagUpdate(usage_limited=False), FlagUpdate(compacting=True), FlagUpdate(compacting=False),
     FlagUpdate(auth_needed=True), FlagUpdate()]
)  # fmt: skip
agent_steps = st.tuples(st.sampled_from(["signal", "signal", "signal", "exit", "start"]), flag_updates, st.booleans())


def build_facts(steps: list[tuple]) -> list[Fact]:
    """Build the facts of consecutive agents in one pane, one second apart."""
    number, facts = 1, [build_agent_started(NOON - 100 * NS)]
    for second, (kind, flags, _) in enumerate(steps):
        at = NOON - 100 * NS + (second + 1) * NS
        if kind == "start":
            number += 1
            facts.append(build_agent_started(at, number))
        elif kind == "exit":
            facts.append(AgentExited(at=at, runtime=RuntimeId(number)))
        else:
            facts.append(build_signal(at, "running", runtime=RuntimeId(number), flags=flags, dedupe_key=str(second)))
    return facts


async def detect_from_facts(facts: list[Fact], kills: set[int]) -> list[tuple]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_tracker_scene(f"{folder}/visor.db") as scene:
            await add_panes(scene)
            for number, fact in enumerate(facts):
                await scene.submit(fact)
                if number in kills:
                    await scene.restart()
            found = await scene.store.detections.list(DetectionFilter(limit=1000))
            return [(one.rule, one.runtime, one.captures, one.seen_again) for one in found]


@settings(max_examples=8)
@given(st.lists(agent_steps, max_size=10))
def test_detections_from_agent_signals_are_stored_once_despite_restarts(steps):
    facts = build_facts(steps)
    kills = {number for number, (_, _, is_killed) in enumerate(steps) if is_killed}
    assert asyncio.run(detect_from_facts(facts, kills)) == asyncio.run(detect_from_facts(facts, set()))


times = st.lists(st.integers(0, 600), min_size=1, max_size=20)


def build_detection(at: int, pane: PaneId, cooldown: float) -> Detection:
    return Detection(
        at=at * NS, type="test.seen", rule="test.seen", pane=pane, source="stream", key="same", cooldown=cooldown
    )


@build_settings(15)
@given(times, st.sampled_from([0.0, 1.0, 60.0]), st.integers(1, 5))
def test_repeats_within_the_cooldown_are_one_event_and_are_counted(seconds, cooldown, together):
    async def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                pane = (await open_epoch(store, "%1")).pane
                ordered = sorted(seconds)
                for first in range(0, len(ordered), together):
                    batch = ordered[first : first + together]
                    await store.detections.add([build_detection(at, pane, cooldown) for at in batch])
                found = await store.detections.list(DetectionFilter(limit=100))
                gaps = [later - earlier for earlier, later in itertools.pairwise(ordered)]
                assert len(found) == 1 + sum(cooldown == 0 or gap > cooldown for gap in gaps)
                assert sum(1 + one.seen_again for one in found) == len(seconds)
                assert len(await store.events.list(limit=100)) == len(found)
            finally:
                await store.close()

    asyncio.run(check())
