"""Laws of detections: however the bytes come, and whoever kills the daemon whenever, each thing is one event."""

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
from tests.property.test_agent_tracker import moved_in
from tests.property.test_pipeline_resume import Daemon, begin, finish, nothing, plans_of
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
STAY = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)
pieces = st.sampled_from(
    [b"panic: one\r\n", b"panic: two\r\n", b"panic", b": ", b"begin\r\n", b"middle\r\n", b"end 4\r\n", b"\r\n", b"\n",
     b"disk full\r\n", b"disk", b" full\r\n", b"usage 25%\r\n", b"usage 10%\r\n", "übrig\r\n".encode(), b"\x1b[1m",
     b"\x1b[0m", b"\x1b[2K", b"\x1b[?1049h", b"\x1b[?1049l"]
)  # fmt: skip


class Watching(Daemon):
    """With rules, and an agent that was always there."""

    def start(self, epoch):
        super().start(epoch)
        self.pipeline.matcher.set_rules(RULES, SCAN)
        self.pipeline.matcher.find_presences = lambda pane: [STAY]


async def detected(store: Store, pane: PaneId) -> list[tuple]:
    found = await store.detections.list(DetectionFilter(pane=pane, limit=10_000))
    events = {event.id: event for event in await store.events.list(pane=pane, limit=10_000)}
    assert all(events[one.event].kind == one.type for one in found)
    return [
        (one.rule, one.captures, one.seen_again, one.evidence["line"], one.context, one.runtime, one.trace)
        for one in found
    ]


async def in_one_run(store: Store, folder: str, data: bytes) -> list[tuple]:
    return await disturbed(store, folder, [(data, "go on", 0)], "%1")


async def disturbed(store: Store, folder: str, plan: list, mux_id: str) -> list[tuple]:
    epoch = await begin(store, mux_id)
    writer = SegmentWriter(f"{folder}/{epoch.pane}/{epoch.id}", 40)
    daemon = Watching(store, folder)
    daemon.start(epoch)
    for number, (data, then, turns) in enumerate(plan):
        writer.append(data, number + 1)
        daemon.pipeline.note_growth(epoch.id, writer.offset)
        for _ in range(turns):
            await asyncio.sleep(0.001)
        await {"go on": nothing, "settle": daemon.pipeline.wait_settled, "kill": daemon.again}[then]()
    await finish(daemon, store, epoch, writer.offset)
    writer.close()
    return await detected(store, epoch.pane)


@build_settings(15)
@given(plans_of(pieces))
def test_killed_at_any_moment_and_however_the_bytes_are_cut_the_same_is_found_once(plan):
    async def law() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                whole = b"".join(data for data, _, _ in plan)
                assert await disturbed(store, folder, plan, "%2") == await in_one_run(store, folder, whole)
            finally:
                await store.close()

    asyncio.run(law())


told_flags = st.sampled_from(
    [FlagUpdate(usage_limited=True, resets_at=NOON + NS), FlagUpdate(usage_limited=True),
     FlagUpdate(usage_limited=False), FlagUpdate(compacting=True), FlagUpdate(compacting=False),
     FlagUpdate(auth_needed=True), FlagUpdate()]
)  # fmt: skip
words = st.tuples(st.sampled_from(["says", "says", "says", "ends", "begins"]), told_flags, st.booleans())


def facts_of(story: list[tuple]) -> list[Fact]:
    """Agents of one pane, one after the other; each word a second after the last."""
    number, facts = 1, [build_agent_started(NOON - 100 * NS)]
    for second, (word, flags, _) in enumerate(story):
        at = NOON - 100 * NS + (second + 1) * NS
        if word == "begins":
            number += 1
            facts.append(build_agent_started(at, number))
        elif word == "ends":
            facts.append(AgentExited(at=at, runtime=RuntimeId(number)))
        else:
            facts.append(build_signal(at, "running", runtime=RuntimeId(number), flags=flags, dedupe_key=str(second)))
    return facts


async def noticed(facts: list[Fact], kills: set[int]) -> list[tuple]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_tracker_scene(f"{folder}/visor.db") as house:
            await moved_in(house)
            for number, fact in enumerate(facts):
                await house.submit(fact)
                if number in kills:
                    await house.restart()
            found = await house.store.detections.list(DetectionFilter(limit=1000))
            return [(one.rule, one.runtime, one.captures, one.seen_again) for one in found]


@settings(max_examples=8)
@given(st.lists(words, max_size=10))
def test_what_agents_say_of_themselves_is_noticed_once_wherever_the_daemon_was_killed(story):
    facts = facts_of(story)
    kills = {number for number, (_, _, is_killed) in enumerate(story) if is_killed}
    assert asyncio.run(noticed(facts, kills)) == asyncio.run(noticed(facts, set()))


times = st.lists(st.integers(0, 600), min_size=1, max_size=20)


def seen(at: int, pane: PaneId, cooldown: float) -> Detection:
    return Detection(
        at=at * NS, type="test.seen", rule="test.seen", pane=pane, source="stream", key="same", cooldown=cooldown
    )


@build_settings(15)
@given(times, st.sampled_from([0.0, 1.0, 60.0]), st.integers(1, 5))
def test_the_same_within_its_cooldown_is_one_event_and_every_sight_of_it_is_counted(moments, cooldown, together):
    async def law() -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = await Store.open(f"{folder}/visor.db", SystemClock())
            try:
                pane = (await begin(store, "%1")).pane
                ordered = sorted(moments)
                for first in range(0, len(ordered), together):
                    batch = ordered[first : first + together]
                    await store.detections.add([seen(at, pane, cooldown) for at in batch])
                found = await store.detections.list(DetectionFilter(limit=100))
                gaps = [later - earlier for earlier, later in itertools.pairwise(ordered)]
                assert len(found) == 1 + sum(cooldown == 0 or gap > cooldown for gap in gaps)
                assert sum(1 + one.seen_again for one in found) == len(moments)
                assert len(await store.events.list(limit=100)) == len(found)
            finally:
                await store.close()

    asyncio.run(law())
