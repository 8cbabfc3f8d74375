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
def replay_server(folder: str) -> ReplayServer:
    return ReplayServer("tmux", f"{folder}/render")


async def render_steps(
    replay_server: ReplayServer, *steps: ReplayStep, span: ReplaySpan | None = None, first: Screen = FIRST
) -> list[ReplayFrame]:
    renderer = ReplayRenderer(replay_server, span or ReplaySpan(), lambda _: steps)
    frames = [frame async for frame in renderer.render_frames([TimelineSegment((EPOCH,), first)])]
    assert not replay_server.is_open
    return frames


def build_chunk(at: int, data: str, end: int = 0) -> OutputChunk:
    return OutputChunk(at, EPOCH.id, data.encode(), end)


async def test_rendering_starts_with_the_first_screen(replay_server):
    first, second = await render_steps(replay_server, build_chunk(20, "pwd\r\n\x1b[31m/tmp\x1b[0m", 9))
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


async def test_output_without_visible_change_makes_no_frame(replay_server):
    assert len(await render_steps(replay_server, build_chunk(20, "\x1b]0;a title\x07\x07"), build_chunk(30, "x"))) == 2


async def test_a_title_split_over_two_chunks_is_not_rendered(replay_server):
    frames = await render_steps(replay_server, build_chunk(20, "a\x1b]0;ti"), build_chunk(30, "tle\x07b"))
    assert [frame.rows[2] for frame in frames] == ["$", "$ a", "$ ab"]


async def test_output_before_the_span_is_applied_without_frames(replay_server):
    frames = await render_steps(
        replay_server, build_chunk(20, "a"), build_chunk(30, "b"), build_chunk(40, "c"), span=ReplaySpan(since=40)
    )
    assert [(frame.at, frame.rows[2]) for frame in frames] == [(40, "$ ab"), (40, "$ abc")]
    (last,) = await render_steps(replay_server, build_chunk(20, "a"), span=ReplaySpan(since=90))
    assert (last.at, last.rows[2]) == (90, "$ a")


async def test_missing_output_is_a_note_on_the_current_frame(replay_server):
    _, gap = await render_steps(replay_server, MissingOutput(20, "gap: pipe_stolen"))
    assert (gap.at, gap.note, gap.rows[0]) == (20, "gap: pipe_stolen", "$ ls")


async def test_a_resize_is_rendered(replay_server):
    frames = await render_steps(replay_server, PaneResized(20, 10, 4), build_chunk(30, "0123456789"))
    assert [(frame.width, frame.height) for frame in frames] == [(40, 6), (10, 4), (10, 4)]
    assert "9" in frames[-1].rows


async def test_a_full_screen_program_is_rendered_from_the_start(replay_server):
    screen = Screen(pane=PANE, rows=("a", "b", "c"), width=20, height=3, cursor_x=1, cursor_y=1, alternate=True)
    first, last = await render_steps(replay_server, build_chunk(20, "\x1b[?1049lback"), first=screen)
    assert (first.rows, first.is_alternate) == (("a", "b", "c"), True)
    assert (last.is_alternate, "back" in last.rows[0]) == (False, True)


async def test_a_secret_overwritten_before_its_frame_is_in_no_frame(replay_server):
    (_, frame) = await render_steps(replay_server, build_chunk(20, f"\x1b[H{KEY}\x1b[Hworking on it"))
    assert frame.rows[0].startswith("working on it[redacted:anthropic_key]"[:40])
    assert KEY[20:29] not in "".join(frame.rows)
    assert KEY[60:69] not in "".join(frame.rows)


async def test_a_secret_painted_cell_by_cell_is_redacted_when_complete(replay_server):
    cells = [
        build_chunk(20 + at, f"\x1b[{at // 40 + 1};{at % 40 + 1}H\x1b[3{at % 8}m{char}") for at, char in enumerate(KEY)
    ]
    frames = await render_steps(replay_server, build_chunk(19, "\x1b[2J"), *cells, build_chunk(200, "\x1b[6;1Hdone"))
    assert "sk-ant-" in frames[-1].rows[0]
    for frame in frames[50:]:
        shown = "".join(frame.rows)
        assert KEY[:40] not in shown
        assert KEY[40:60] not in shown


async def test_frames_contain_only_text_and_colours(replay_server):
    hostile = "\x1b]52;c;eA==\x07\x1b]0;t\x07\x1b]8;;http://x\x07l\x1b]8;;\x07\x1bPq#0\x1b\\\x1b(0q\x1b(B\x1b[8;99;99t"
    frames = await render_steps(replay_server, build_chunk(20, hostile + "ok"))
    assert frames[-1].rows[2] == "$ l─ok"


async def test_a_mask_does_not_make_a_row_longer_than_the_screen(replay_server):
    frames = await render_steps(
        replay_server, build_chunk(20, "\x1b[2J\x1b[H            ghp_" + "a1B2c3D4" * 4 + "e5F6")
    )
    assert all(len(row) <= 40 for row in frames[-1].rows)


def test_escape_sequences_in_the_first_screen_are_removed():
    screen = Screen(pane=PANE, rows=("a\x1b[2J\x07b",), width=20, height=3)
    assert encode_first_screen(screen) == b"a[2Jb\x1b[1;1H"


def test_a_secret_that_begins_above_the_screen_is_redacted():
    above = ["$ cat key", KEY[:60]]
    assert redact_colored_rows([f"\x1b[1m{KEY[60:]}\x1b[0m", "\x1b[32mall is fine\x1b[0m"], above) == [
        "[redacted:anthropic_key]",
        "\x1b[32mall is fine\x1b[0m",
    ]
    assert redact_rows([KEY[60:], "all is fine"], above) == ["[redacted:anthropic_key]", "all is fine"]


def test_a_coloured_row_loses_its_colours_only_with_a_secret():
    rows = ["\x1b[32mfine\x1b[0m", f"\x1b[31msk-ant-\x1b[1mapi03-{KEY[13:]}\x1b[0m"]
    assert redact_colored_rows(rows) == [rows[0], "sk-ant-[redacted:anthropic_key]"]


def test_a_part_of_a_known_secret_is_redacted():
    secrets = SeenSecrets()
    Redactor(seen_secrets=secrets).redact_lines([KEY])
    rows = [f"\x1b[1mworking\x1b[0m{KEY[30:60]}", "fine"]
    assert redact_colored_rows(rows, (), secrets) == ["working[redacted:anthropic_key]", "fine"]
