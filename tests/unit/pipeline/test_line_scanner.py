"""Scan lines with the real pipeline: batches, agents recognised late, redraws."""

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import ScreenSample
from termvisor.clock import NS
from termvisor.detection.scanner import RuleScanner
from termvisor.model.detection.detection import DetectionFilter
from termvisor.model.ids import RuntimeId
from termvisor.model.terminal.screen import ScreenLifetime
from termvisor.pipeline import SightingRecorder
from termvisor.pipeline.rule_matcher import AgentPresence, GatingOptions
from tests.property.test_detections import rule
from tests.unit.capture.capture_harness import CaptureStore

RULES = (
    rule("shell.panic", r"^panic: (?P<what>\w+)", cooldown=60.0),
    rule("three.lines", r"begin\n.*\nend (?P<number>\d)", scope="stream", cooldown=60.0),
    rule("usage.reached", r"limit, resets (?P<resets_at>.+)", agent="codex", cooldown=60.0),
    rule("title.changed", r"^title (?P<what>\w+)", scope="mark", cooldown=60.0),
)
SCAN = RuleScanner([one for one in RULES if one.scope != "mark"], engine="re2")
MARKS = RuleScanner([one for one in RULES if one.scope == "mark"], engine="re2")


@pytest.fixture
def ruled(capture_store: CaptureStore) -> CaptureStore:
    use(capture_store)
    return capture_store


def use(capture_store: CaptureStore, *presences: AgentPresence) -> None:
    capture_store.pipeline.matcher.set_rules(RULES, SCAN, MARKS)
    capture_store.pipeline.matcher.find_presences = lambda pane: presences


def codex(capture_store: CaptureStore) -> AgentPresence:
    return AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=capture_store.clock.now() - 3600 * NS)


async def found(capture_store: CaptureStore):
    await capture_store.pipeline.wait_settled()
    return await capture_store.store.detections.list(DetectionFilter())


async def test_a_text_that_comes_in_pieces_is_found_when_its_line_is_whole(ruled, epoch):
    with ruled.pipeline.events.subscribe() as news:
        for piece in (b"pan", b"ic: dis", b"k"):
            ruled.write_output(epoch, piece)
            assert await found(ruled) == []
        ruled.write_output(epoch, b"\r\n$ ")
        (one,) = await found(ruled)
        assert [event.kind for event in news.drain()] == ["shell.panic"]
    assert (one.captures, one.evidence["line"], one.context) == ({"what": "disk"}, 1, "panic: disk")
    (line,) = await ruled.store.output.read_lines(epoch.pane)
    assert line.number == one.evidence["line"]


async def test_a_rule_over_lines_that_are_stored_apart_finds_them_also_after_a_restart(ruled, epoch):
    ruled.write_output(epoch, b"begin\r\n")
    assert await found(ruled) == []
    await ruled.restart()
    use(ruled)
    (left,) = await ruled.store.output.list_open_epochs()
    ruled.pipeline.open_epoch(left)
    ruled.write_output(left, b"middle\r\nend 4\r\n")
    (one,) = await found(ruled)
    assert (one.captures, one.evidence["line"], one.context) == ({"number": "4"}, 3, "begin\nmiddle\nend 4")


async def test_a_rule_about_an_agent_is_silent_where_the_agent_is_not(ruled, epoch):
    ruled.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await found(ruled) == []


async def test_without_gating_a_rule_matches_everywhere(ruled, epoch):
    ruled.pipeline.matcher.gating = GatingOptions(is_enabled=False)
    ruled.write_output(epoch, b"limit, resets in 2h\r\n")
    (one,) = await found(ruled)
    assert (one.agent, one.runtime, one.key) == ("codex", None, "usage.reached")


async def test_pending_matches_get_their_agent_once_it_is_known(ruled, epoch):
    ruled.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await found(ruled) == []
    await ruled.restart()  # what waits is kept with the text
    use(ruled)
    (left,) = await ruled.store.output.list_open_epochs()
    ruled.pipeline.open_epoch(left)
    await ruled.pipeline.wait_settled()
    use(ruled, codex(ruled))
    ruled.pipeline.retry_pending_matches(epoch.pane)
    (one,) = await found(ruled)
    assert (one.agent, one.runtime, one.captures) == ("codex", 7, {"resets_at": "in 2h"})
    assert one.evidence["resets_at"] == one.at + 7200 * NS
    ruled.pipeline.retry_pending_matches(epoch.pane)
    assert [(again.event, again.seen_again) for again in await found(ruled)] == [(one.event, 0)]


async def test_expired_pending_matches_are_dropped(ruled, epoch):
    ruled.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await found(ruled) == []
    later = ruled.clock.now() + 11 * NS
    ruled.pipeline.matcher.now = lambda: later
    ruled.write_output(epoch, b"more\r\n")
    await ruled.pipeline.wait_settled()
    use(ruled, codex(ruled))
    ruled.pipeline.retry_pending_matches(epoch.pane)
    assert await found(ruled) == []


async def test_a_redraw_hours_later_is_not_detected_again(ruled, epoch):
    use(ruled, codex(ruled))
    screen = b"\r\n> go on\r\nthinking\r\nlimit, resets 3pm (UTC)\r\n"
    now = ruled.clock.now()
    ruled.write_output(epoch, screen, at=now)
    ruled.write_output(epoch, screen, at=now + 7200 * NS)
    (one,) = await found(ruled)
    assert one.seen_again == 1


async def test_marks_are_scanned_too(ruled, epoch):
    ruled.write_output(epoch, b"\x1b]0;busy\x07\r\n")
    (one,) = await found(ruled)
    assert (one.source, one.captures) == ("mark", {"what": "busy"})


def build_sample(epoch, *rows: str, at: int) -> ScreenSample:
    seen = PaneCapture(rows=rows, width=80, height=24, cursor_y=99, alternate=True)
    return ScreenSample(ScreenLifetime(epoch.pane, epoch.id, True, 5), seen, at)


async def test_new_screen_rows_are_scanned(ruled, epoch):
    use(ruled, codex(ruled))
    sightings, now = SightingRecorder(ruled.store, ruled.pipeline, ruled.clock), ruled.clock.now()
    await sightings.store_samples([build_sample(epoch, "hello", "limit, resets 3pm (UTC)", at=now)])
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", "other", at=now + 120 * NS)])
    again = SightingRecorder(ruled.store, ruled.pipeline, ruled.clock)
    await again.store_samples([build_sample(epoch, "new", "limit, resets 3pm (UTC)", at=now + 240 * NS)])
    (one,) = await found(ruled)
    assert (one.source, one.seen_again, one.context) == ("screen", 0, "hello\nlimit, resets 3pm (UTC)")
    screen = await ruled.store.sightings.find_screen(one.evidence["screen"])
    assert screen.rows[1] == "limit, resets 3pm (UTC)"


async def test_a_row_of_an_agent_that_is_not_known_yet_waits_for_it(ruled, epoch):
    sightings, now = SightingRecorder(ruled.store, ruled.pipeline, ruled.clock), ruled.clock.now()
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", at=now)])
    assert await found(ruled) == []
    use(ruled, codex(ruled))
    ruled.pipeline.retry_pending_matches(epoch.pane)
    assert [one.source for one in await found(ruled)] == ["screen"]


async def test_one_match_on_the_screen_and_in_the_stream_is_one_event(ruled, epoch):
    use(ruled, codex(ruled))
    sightings, now = SightingRecorder(ruled.store, ruled.pipeline, ruled.clock), ruled.clock.now()
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", at=now)])
    ruled.write_output(epoch, b"limit, resets 3pm\r\n", at=now + NS)
    assert [one.seen_again for one in await found(ruled)] == [1]


async def test_an_event_user_variable_is_a_detection(ruled, epoch):
    ruled.write_output(epoch, b"\x1b]1337;SetUserVar=visor-deploy=e30=\x07\x1b]1337;SetUserVar=visor-ready=e30=\x07")
    (one,) = await found(ruled)
    assert (one.type, one.rule, one.source, one.can_start_workflow) == (
        "user_var",
        "user_var.visor-deploy",
        "user_var",
        False,
    )
    kinds = [event.data["name"] for event in await ruled.store.events.list(kind="user_var")]
    assert kinds == ["visor-deploy", "visor-ready"]
