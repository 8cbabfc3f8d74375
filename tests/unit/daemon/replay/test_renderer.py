"""Recorded output is rendered as frames by a real tmux."""

import pytest

from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.daemon.replay.renderer import ReplayRenderer, encode_first_screen, redact_colored_rows, redact_rows
from termvisor.daemon.replay.timeline import (
    MissingOutput,
    OutputChunk,
    PaneResized,
    ReplaySpan,
    ReplayStep,
    TimelineSegment,
)
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import ReplayFrame, Screen
from termvisor.redaction import Redactor, SeenSecrets

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10
PANE = PaneId(1)
EPOCH = Epoch(id=EpochId(3), pane=PANE, source="pipe", opened_at=10)
FIRST = Screen(pane=PANE, rows=("$ ls", "here", "$"), width=40, height=6, cursor_x=2, cursor_y=2)


@pytest.fixture
def studio(folder: str) -> ReplayServer:
    return ReplayServer("tmux", f"{folder}/render")


async def drawn(
    studio: ReplayServer, *happened: ReplayStep, span: ReplaySpan | None = None, first: Screen = FIRST
) -> list[ReplayFrame]:
    drawing = ReplayRenderer(studio, span or ReplaySpan(), lambda _: happened)
    frames = [frame async for frame in drawing.render_frames([TimelineSegment((EPOCH,), first)])]
    assert not studio.is_open
    return frames


def text(at: int, data: str, end: int = 0) -> OutputChunk:
    return OutputChunk(at, EPOCH.id, data.encode(), end)


async def test_it_starts_with_the_first_screen(studio):
    first, second = await drawn(studio, text(20, "pwd\r\n\x1b[31m/tmp\x1b[0m", 9))
    assert (first.at, first.rows[:3], first.cursor_x) == (10, ("$ ls", "here", "$"), 2)
    assert second == ReplayFrame(
        pane=PANE,
        at=20,
        width=40,
        height=6,
        rows=("$ ls", "here", "$ pwd", "\x1b[31m/tmp\x1b[0m", "", ""),
        cursor_x=4,
        cursor_y=3,
        epoch=EPOCH.id,
        offset=9,
    )


async def test_what_changes_nothing_that_can_be_seen_is_no_frame(studio):
    assert len(await drawn(studio, text(20, "\x1b]0;a title\x07\x07"), text(30, "x"))) == 2


async def test_a_title_in_two_portions_is_no_text(studio):
    frames = await drawn(studio, text(20, "a\x1b]0;ti"), text(30, "tle\x07b"))
    assert [frame.rows[2] for frame in frames] == ["$", "$ a", "$ ab"]


async def test_what_lies_before_the_span_is_drawn_and_not_shown(studio):
    frames = await drawn(studio, text(20, "a"), text(30, "b"), text(40, "c"), span=ReplaySpan(since=40))
    assert [(frame.at, frame.rows[2]) for frame in frames] == [(40, "$ ab"), (40, "$ abc")]
    (last,) = await drawn(studio, text(20, "a"), span=ReplaySpan(since=90))
    assert (last.at, last.rows[2]) == (90, "$ a")


async def test_missing_output_is_noted_on_the_current_screen(studio):
    _, gap = await drawn(studio, MissingOutput(20, "gap: pipe_stolen"))
    assert (gap.at, gap.note, gap.rows[0]) == (20, "gap: pipe_stolen", "$ ls")


async def test_a_new_size_is_drawn(studio):
    frames = await drawn(studio, PaneResized(20, 10, 4), text(30, "0123456789"))
    assert [(frame.width, frame.height) for frame in frames] == [(40, 6), (10, 4), (10, 4)]
    assert "9" in frames[-1].rows


async def test_a_program_that_filled_the_screen_is_there_from_the_start(studio):
    screen = Screen(pane=PANE, rows=("a", "b", "c"), width=20, height=3, cursor_x=1, cursor_y=1, alternate=True)
    first, last = await drawn(studio, text(20, "\x1b[?1049lback"), first=screen)
    assert (first.rows, first.is_alternate) == (("a", "b", "c"), True)
    assert (last.is_alternate, "back" in last.rows[0]) == (False, True)


async def test_a_key_that_is_painted_over_before_it_was_in_a_frame_is_in_none(studio):
    (_, frame) = await drawn(studio, text(20, f"\x1b[H{KEY}\x1b[Hworking on it"))
    assert frame.rows[0].startswith("working on it[redacted:anthropic_key]"[:40])
    assert KEY[20:29] not in "".join(frame.rows)
    assert KEY[60:69] not in "".join(frame.rows)


async def test_a_secret_painted_cell_by_cell_is_in_no_frame_once_it_is_whole(studio):
    cells = [text(20 + at, f"\x1b[{at // 40 + 1};{at % 40 + 1}H\x1b[3{at % 8}m{char}") for at, char in enumerate(KEY)]
    frames = await drawn(studio, text(19, "\x1b[2J"), *cells, text(200, "\x1b[6;1Hdone"))
    assert "sk-ant-" in frames[-1].rows[0]
    for frame in frames[50:]:
        shown = "".join(frame.rows)
        assert KEY[:40] not in shown
        assert KEY[40:60] not in shown


async def test_only_text_and_colours_come_out(studio):
    hostile = "\x1b]52;c;eA==\x07\x1b]0;t\x07\x1b]8;;http://x\x07l\x1b]8;;\x07\x1bPq#0\x1b\\\x1b(0q\x1b(B\x1b[8;99;99t"
    frames = await drawn(studio, text(20, hostile + "ok"))
    assert frames[-1].rows[2] == "$ l─ok"


async def test_a_mask_does_not_make_a_row_longer_than_the_screen(studio):
    frames = await drawn(studio, text(20, "\x1b[2J\x1b[H            ghp_" + "a1B2c3D4" * 4 + "e5F6"))
    assert all(len(row) <= 40 for row in frames[-1].rows)


def test_a_first_screen_cannot_say_anything_to_the_terminal():
    screen = Screen(pane=PANE, rows=("a\x1b[2J\x07b",), width=20, height=3)
    assert encode_first_screen(screen) == b"a[2Jb\x1b[1;1H"


def test_a_secret_that_begins_above_the_screen_is_followed_into_it():
    above = ["$ cat key", KEY[:60]]
    assert redact_colored_rows([f"\x1b[1m{KEY[60:]}\x1b[0m", "\x1b[32mall is fine\x1b[0m"], above) == [
        "[redacted:anthropic_key]",
        "\x1b[32mall is fine\x1b[0m",
    ]
    assert redact_rows([KEY[60:], "all is fine"], above) == ["[redacted:anthropic_key]", "all is fine"]


def test_a_coloured_row_loses_its_colours_only_where_it_hides_a_secret():
    rows = ["\x1b[32mfine\x1b[0m", f"\x1b[31msk-ant-\x1b[1mapi03-{KEY[13:]}\x1b[0m"]
    assert redact_colored_rows(rows) == [rows[0], "sk-ant-[redacted:anthropic_key]"]


def test_what_is_left_of_a_key_is_taken_out_where_the_key_was_seen_before():
    secrets = SeenSecrets()
    Redactor(seen_secrets=secrets).redact_lines([KEY])
    rows = [f"\x1b[1mworking\x1b[0m{KEY[30:60]}", "fine"]
    assert redact_colored_rows(rows, (), secrets) == ["working[redacted:anthropic_key]", "fine"]
