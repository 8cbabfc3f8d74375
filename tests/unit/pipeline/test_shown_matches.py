"""A match that comes back, or captures something else, is a detection again: on screens, and in rewritten lines."""

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.clock import NS
from termvisor.detection.scanner import RuleScanner
from termvisor.errors import StorageError
from termvisor.model.detection.detection import DetectionFilter
from termvisor.model.ids import RuntimeId
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline import SightingRecorder
from termvisor.pipeline.rule_matcher import AgentPresence
from termvisor.pipeline.shown_matches import _MAX_MATCHES, ShownMatch, follow_matches
from tests.property.test_detections import rule
from tests.unit.capture.capture_harness import CaptureStore

RULES = (
    rule("usage.warning_25", r"^\s*only (?P<left>1[1-9]|2[0-5])% left", agent="codex", cooldown=1800.0),
    rule("usage.warning_10", r"^\s*only (?P<left>[6-9]|10)% left", agent="codex", cooldown=1800.0),
    rule("session.compaction", r"^Compacted$", agent="codex", cooldown=60.0),
)
SCAN = RuleScanner(RULES, engine="re2")
ROWS = ("> /compact", "Compacted")


def install_rules(capture_store: CaptureStore) -> None:
    presence = AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=0)
    capture_store.pipeline.matcher.set_rules(RULES, SCAN)
    capture_store.pipeline.matcher.find_presences = lambda pane: (presence,)


class SampledScreen:
    """The screen of a pane, sampled at given seconds; a restart loses all that is only in memory."""

    def __init__(self, capture_store: CaptureStore, epoch, *, is_alternate: bool = True):
        self._capture_store, self._epoch = capture_store, epoch
        self.lifetime = ScreenLifetime(epoch.pane, epoch.id, is_alternate, 5)
        self._began_at = capture_store.clock.now()
        self.start()

    def start(self) -> None:
        install_rules(self._capture_store)
        store, pipeline, clock = self._capture_store.store, self._capture_store.pipeline, self._capture_store.clock
        self.recorder = SightingRecorder(store, pipeline, clock)

    async def show(self, seconds: float, *rows: str) -> None:
        capture = PaneCapture(rows=rows, width=80, height=24, cursor_y=99, alternate=self.lifetime.is_alternate)
        sample = ScreenSample(self.lifetime, capture, self._began_at + int(seconds * NS))
        await self.recorder.store_samples([sample])

    async def restart(self) -> None:
        await self._capture_store.restart()
        self.start()

    async def list_rules(self) -> list[str]:
        await self._capture_store.pipeline.wait_settled()
        return [one.rule for one in await self._capture_store.store.detections.list(DetectionFilter())]


@pytest.fixture
def screen(capture_store, epoch) -> SampledScreen:
    return SampledScreen(capture_store, epoch)


async def test_a_row_with_other_captures_is_detected_again(screen):
    for seconds, left in enumerate((24, 24, 9, 9)):
        await screen.show(seconds, "> ", f"  only {left}% left")
    assert await screen.list_rules() == ["usage.warning_25", "usage.warning_10"]


async def test_its_detection_shows_the_screen_with_the_new_text(screen, capture_store):
    await screen.show(0, "> ", "  only 24% left")
    await screen.show(1, "> ", "  only 9% left")
    one = (await capture_store.store.detections.list(DetectionFilter()))[-1]
    stored = await capture_store.store.sightings.find_screen(one.evidence["screen"])
    assert stored.rows == ("> ".rstrip(), "  only 9% left")
    assert one.evidence["sighting"] == 2


async def test_a_row_that_comes_back_is_detected_again_after_its_cooldown(screen):
    for seconds, rows in ((0, ROWS), (10, ("working",)), (20, ROWS), (100, ("working",)), (200, ROWS)):
        await screen.show(seconds, *rows)
    assert await screen.list_rules() == ["session.compaction"] * 2


async def test_a_row_that_stays_is_detected_once(screen):
    for seconds in range(0, 4000, 400):
        await screen.show(seconds, *ROWS, f"{seconds} s")
    assert await screen.list_rules() == ["session.compaction"]


async def test_a_row_that_is_erased_for_a_moment_is_not_detected_again(screen):
    for seconds, rows in ((0, ROWS), (500, ("",)), (500.5, ROWS), (900, ("",)), (901, ("x",)), (901.5, ROWS)):
        await screen.show(seconds, *rows)
    assert await screen.list_rules() == ["session.compaction"]


async def test_an_equal_row_beside_the_first_one_is_detected(screen):
    await screen.show(0, *ROWS)
    await screen.show(100, *ROWS, "working", *ROWS)
    await screen.show(200, "working", *ROWS)
    assert await screen.list_rules() == ["session.compaction"] * 2


@pytest.mark.parametrize("restart_after", range(5))
async def test_a_restart_changes_no_detection(screen, restart_after):
    samples = ((0, ROWS), (100, ROWS), (200, ("working",)), (300, ROWS), (400, ROWS))
    for number, (seconds, rows) in enumerate(samples):
        await screen.show(seconds, *rows)
        if number == restart_after:
            await screen.restart()
    assert await screen.list_rules() == ["session.compaction"] * 2


async def test_a_return_that_cannot_be_stored_is_detected_in_the_next_sample(screen, capture_store):
    async def raise_disk_full(_screens):
        raise StorageError("the disk is full")

    await screen.show(0, *ROWS)
    await screen.show(100, "working")
    stored, capture_store.store.sightings.add = capture_store.store.sightings.add, raise_disk_full
    await screen.show(200, *ROWS)
    capture_store.store.sightings.add = stored
    await screen.show(300, *ROWS)
    assert await screen.list_rules() == ["session.compaction"] * 2


async def test_another_lifetime_begins_without_matches(screen):
    await screen.show(0, *ROWS)
    screen.lifetime = ScreenLifetime(screen.lifetime.pane, screen.lifetime.epoch, True, 6)
    await screen.show(100, "> other", "Compacted")
    assert await screen.list_rules() == ["session.compaction"] * 2


class RewrittenScreen:
    """A program that rewrites the second row of the normal screen at given seconds."""

    def __init__(self, capture_store: CaptureStore, epoch):
        self._capture_store, self._epoch = capture_store, epoch
        self._began_at = capture_store.clock.now()
        install_rules(capture_store)
        capture_store.write_output(epoch, b"> /compact\r\n\r\n", at=self._began_at)

    async def show(self, seconds: float, text: str) -> None:
        data = f"\x1b[1A\r\x1b[2K{text}\r\n".encode()
        self._capture_store.write_output(self._epoch, data, at=self._began_at + int(seconds * NS))
        await self._capture_store.pipeline.wait_settled()

    async def restart(self) -> None:
        await self._capture_store.restart()
        install_rules(self._capture_store)
        (self._epoch,) = await self._capture_store.store.output.list_open_epochs()
        self._capture_store.pipeline.open_epoch(self._epoch)

    async def list_rules(self) -> list[str]:
        return [one.rule for one in await self._capture_store.store.detections.list(DetectionFilter())]


@pytest.fixture
def line(capture_store, epoch) -> RewrittenScreen:
    return RewrittenScreen(capture_store, epoch)


async def test_a_rewritten_line_with_other_captures_is_detected_again(line):
    for seconds, left in enumerate((24, 9, 9)):
        await line.show(seconds, f"  only {left}% left")
    assert await line.list_rules() == ["usage.warning_25", "usage.warning_10"]


@pytest.mark.parametrize("restart_after", [None, 0, 1, 2, 3])
async def test_a_rewritten_line_that_comes_back_is_detected_again(line, restart_after):
    samples = ((0, "Compacted"), (100, "working"), (200, "Compacted"), (300, "Compacted"))
    for number, (seconds, text) in enumerate(samples):
        await line.show(seconds, text)
        if number == restart_after:
            await line.restart()
    assert await line.list_rules() == ["session.compaction"] * 2


@pytest.mark.parametrize("restart_after", [None, 0, 1])
async def test_a_line_that_is_erased_for_a_moment_is_not_detected_again(line, restart_after):
    for number, (seconds, text) in enumerate(((0, "Compacted"), (500, ""), (500.5, "Compacted"))):
        await line.show(seconds, text)
        if number == restart_after:
            await line.restart()
    assert await line.list_rules() == ["session.compaction"]


async def test_text_printed_again_after_it_left_the_screen_is_detected_again(capture_store, epoch):
    install_rules(capture_store)
    now = capture_store.clock.now()
    for seconds in (0, 100):
        capture_store.write_output(epoch, b"\r\n\r\n> /compact\r\nCompacted\r\n", at=now + seconds * NS)
        await capture_store.pipeline.wait_settled()
        capture_store.write_output(epoch, b"working\r\n" * 60, at=now + (seconds + 50) * NS)
        await capture_store.pipeline.wait_settled()
    found = await capture_store.store.detections.list(DetectionFilter())
    assert [one.rule for one in found] == ["session.compaction"] * 2


async def test_a_conversation_that_scrolls_by_in_a_redraw_is_not_detected_again(capture_store, epoch):
    install_rules(capture_store)
    now = capture_store.clock.now()
    conversation = b"\r\n\r\n> /compact\r\nCompacted\r\n" + b"working\r\n" * 60
    for seconds in (0, 100):
        capture_store.write_output(epoch, conversation, at=now + seconds * NS)
        await capture_store.pipeline.wait_settled()
    (one,) = await capture_store.store.detections.list(DetectionFilter())
    assert one.seen_again == 1


def test_only_matches_that_are_no_longer_visible_are_forgotten():
    shown, _ = follow_matches((), {f"old {number}": 1 for number in range(_MAX_MATCHES)}, 0)
    shown, appeared = follow_matches(shown, {"old 0": 1, "new": 1}, 10 * NS)
    assert (appeared, len(shown), shown[-2:]) == (
        {"new"},
        _MAX_MATCHES,
        (ShownMatch("old 0", 1, 1), ShownMatch("new", 1, 1)),
    )
