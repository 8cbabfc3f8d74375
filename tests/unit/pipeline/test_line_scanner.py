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
def store_with_rules(capture_store: CaptureStore) -> CaptureStore:
    set_presences(capture_store)
    return capture_store


def set_presences(capture_store: CaptureStore, *presences: AgentPresence) -> None:
    capture_store.pipeline.matcher.set_rules(RULES, SCAN, MARKS)
    capture_store.pipeline.matcher.find_presences = lambda pane: presences


def build_codex_presence(capture_store: CaptureStore) -> AgentPresence:
    return AgentPresence(agent_process=RuntimeId(7), agent="codex", began_at=capture_store.clock.now() - 3600 * NS)


async def list_detections(capture_store: CaptureStore):
    await capture_store.pipeline.wait_settled()
    return await capture_store.store.detections.list(DetectionFilter())


async def test_a_match_in_pieces_is_found_when_its_line_is_complete(store_with_rules, epoch):
    with store_with_rules.pipeline.events.subscribe() as news:
        for piece in (b"pan", b"ic: dis", b"k"):
            store_with_rules.write_output(epoch, piece)
            assert await list_detections(store_with_rules) == []
        store_with_rules.write_output(epoch, b"\r\n$ ")
        (one,) = await list_detections(store_with_rules)
        assert [event.kind for event in news.drain()] == ["shell.panic"]
    assert (one.captures, one.evidence["line"], one.context) == ({"what": "disk"}, 1, "panic: disk")
    (line,) = await store_with_rules.pipeline.lines.read(epoch.pane)
    assert line.number == one.evidence["line"]


async def test_a_stream_rule_matches_lines_stored_separately_even_after_a_restart(store_with_rules, epoch):
    store_with_rules.write_output(epoch, b"begin\r\n")
    assert await list_detections(store_with_rules) == []
    await store_with_rules.restart()
    set_presences(store_with_rules)
    (left,) = await store_with_rules.store.output.list_open_epochs()
    store_with_rules.pipeline.open_epoch(left)
    store_with_rules.write_output(left, b"middle\r\nend 4\r\n")
    (one,) = await list_detections(store_with_rules)
    assert (one.captures, one.evidence["line"], one.context) == ({"number": "4"}, 3, "begin\nmiddle\nend 4")


async def test_a_rule_of_an_agent_does_not_match_without_the_agent(store_with_rules, epoch):
    store_with_rules.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await list_detections(store_with_rules) == []


async def test_without_gating_a_rule_matches_everywhere(store_with_rules, epoch):
    store_with_rules.pipeline.matcher.gating = GatingOptions(is_enabled=False)
    store_with_rules.write_output(epoch, b"limit, resets in 2h\r\n")
    (one,) = await list_detections(store_with_rules)
    assert (one.agent, one.runtime, one.key) == ("codex", None, "usage.reached")


async def test_pending_matches_get_their_agent_once_it_is_known(store_with_rules, epoch):
    store_with_rules.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await list_detections(store_with_rules) == []
    await store_with_rules.restart()  # pending matches are stored with the text
    set_presences(store_with_rules)
    (left,) = await store_with_rules.store.output.list_open_epochs()
    store_with_rules.pipeline.open_epoch(left)
    await store_with_rules.pipeline.wait_settled()
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    store_with_rules.pipeline.retry_pending_matches(epoch.pane)
    (one,) = await list_detections(store_with_rules)
    assert (one.agent, one.runtime, one.captures) == ("codex", 7, {"resets_at": "in 2h"})
    assert one.evidence["resets_at"] == one.at + 7200 * NS
    store_with_rules.pipeline.retry_pending_matches(epoch.pane)
    assert [(again.event, again.seen_again) for again in await list_detections(store_with_rules)] == [(one.event, 0)]


async def test_expired_pending_matches_are_dropped(store_with_rules, epoch):
    store_with_rules.write_output(epoch, b"limit, resets in 2h\r\n")
    assert await list_detections(store_with_rules) == []
    later = store_with_rules.clock.now() + 11 * NS
    store_with_rules.pipeline.matcher.now = lambda: later
    store_with_rules.write_output(epoch, b"more\r\n")
    await store_with_rules.pipeline.wait_settled()
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    store_with_rules.pipeline.retry_pending_matches(epoch.pane)
    assert await list_detections(store_with_rules) == []


async def test_a_redraw_hours_later_is_not_detected_again(store_with_rules, epoch):
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    screen = b"\r\n> go on\r\nthinking\r\nlimit, resets 3pm (UTC)\r\n"
    now = store_with_rules.clock.now()
    store_with_rules.write_output(epoch, screen, at=now)
    store_with_rules.write_output(epoch, screen, at=now + 7200 * NS)
    (one,) = await list_detections(store_with_rules)
    assert one.seen_again == 1


async def test_marks_are_scanned_too(store_with_rules, epoch):
    store_with_rules.write_output(epoch, b"\x1b]0;busy\x07\r\n")
    (one,) = await list_detections(store_with_rules)
    assert (one.source, one.captures) == ("mark", {"what": "busy"})


def build_sample(epoch, *rows: str, at: int) -> ScreenSample:
    seen = PaneCapture(rows=rows, width=80, height=24, cursor_y=99, alternate=True)
    return ScreenSample(ScreenLifetime(epoch.pane, epoch.id, True, 5), seen, at)


async def test_new_screen_rows_are_scanned(store_with_rules, epoch):
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    sightings, now = (
        SightingRecorder(store_with_rules.store, store_with_rules.pipeline, store_with_rules.clock),
        store_with_rules.clock.now(),
    )
    await sightings.store_samples([build_sample(epoch, "hello", "limit, resets 3pm (UTC)", at=now)])
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", "other", at=now + 120 * NS)])
    again = SightingRecorder(store_with_rules.store, store_with_rules.pipeline, store_with_rules.clock)
    await again.store_samples([build_sample(epoch, "new", "limit, resets 3pm (UTC)", at=now + 240 * NS)])
    (one,) = await list_detections(store_with_rules)
    assert (one.source, one.seen_again, one.context) == ("screen", 0, "hello\nlimit, resets 3pm (UTC)")
    screen = await store_with_rules.store.sightings.find_screen(one.evidence["screen"])
    assert screen.rows[1] == "limit, resets 3pm (UTC)"


async def test_a_row_of_an_unidentified_agent_is_pending(store_with_rules, epoch):
    sightings, now = (
        SightingRecorder(store_with_rules.store, store_with_rules.pipeline, store_with_rules.clock),
        store_with_rules.clock.now(),
    )
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", at=now)])
    assert await list_detections(store_with_rules) == []
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    store_with_rules.pipeline.retry_pending_matches(epoch.pane)
    assert [one.source for one in await list_detections(store_with_rules)] == ["screen"]


async def test_one_match_on_the_screen_and_in_the_stream_is_one_event(store_with_rules, epoch):
    set_presences(store_with_rules, build_codex_presence(store_with_rules))
    sightings, now = (
        SightingRecorder(store_with_rules.store, store_with_rules.pipeline, store_with_rules.clock),
        store_with_rules.clock.now(),
    )
    await sightings.store_samples([build_sample(epoch, "limit, resets 3pm (UTC)", at=now)])
    store_with_rules.write_output(epoch, b"limit, resets 3pm\r\n", at=now + NS)
    assert [one.seen_again for one in await list_detections(store_with_rules)] == [1]


async def test_an_event_user_variable_is_a_detection(store_with_rules, epoch):
    store_with_rules.write_output(
        epoch, b"\x1b]1337;SetUserVar=visor-deploy=e30=\x07\x1b]1337;SetUserVar=visor-ready=e30=\x07"
    )
    (one,) = await list_detections(store_with_rules)
    assert (one.type, one.rule, one.source, one.can_start_workflow) == (
        "user_var",
        "user_var.visor-deploy",
        "user_var",
        False,
    )
    kinds = [event.data["name"] for event in await store_with_rules.store.events.list(kind="user_var")]
    assert kinds == ["visor-deploy", "visor-ready"]
