"""Begin, resume and end epochs in the store, with the gaps between them."""

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.epochs import find_cursor_column, find_gap_cause, find_input_column
from termvisor.clock import NS, format_timestamp
from termvisor.errors import VisorError
from termvisor.model.terminal.output import Gap
from termvisor.model.terminal.shell_state import RecordedShellState

MARKED_END = b"bye\r\n\x1b]7770;end;0\x1b\\"
KEY = "ghp_" + "a1B2" * 9


def build_capture(*rows: str, alternate: bool = False) -> PaneCapture:
    return PaneCapture(rows=rows, width=80, height=24, cursor_y=min(len(rows), 23), alternate=alternate)


async def begin_epoch(capture_store, pane, *rows, **more):
    return await capture_store.epochs.begin_epoch(await capture_store.reserve_epoch(pane), build_capture(*rows, **more))


async def test_the_first_screen_is_stored_as_the_first_text(capture_store):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane, "one", "two  ", "", "three", "", "")
    assert await capture_store.read_lines(pane) == ["one", "two", "", "three"]
    assert {line.source for line in await capture_store.pipeline.lines.read(pane)} == {"screen"}
    assert await capture_store.list_event_kinds() == ["epoch_opened"]
    capture_store.write_output(epoch, b"four\r\n")
    assert await capture_store.read_lines(pane) == ["one", "two", "", "three", "four"]


def build_prompt_capture(*rows: str, column: int, width: int = 80) -> PaneCapture:
    """Build a capture with the cursor in the last row and a blank rest of the screen."""
    blank = ("",) * (24 - len(rows))
    return PaneCapture(rows=(*rows, *blank), width=width, height=24, cursor_x=column, cursor_y=len(rows) - 1)


async def test_the_cursor_row_and_text_typed_there_are_one_line(capture_store):
    pane = await capture_store.add_pane()
    epoch = await capture_store.epochs.begin_epoch(
        await capture_store.reserve_epoch(pane), build_prompt_capture("done", "$", column=2)
    )
    assert await capture_store.read_lines(pane) == ["done"]
    assert capture_store.pipeline.current_readers[pane].pending_line == "$"
    capture_store.write_output(epoch, b"ec")
    await capture_store.pipeline.wait_settled()
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    capture_store.pipeline.open_epoch(left)
    capture_store.write_output(left, b"ho hi\r\nhi\r\n")
    assert await capture_store.read_lines(pane) == ["done", "$ echo hi", "hi"]


async def test_a_repainted_row_is_stored_once(capture_store):
    pane = await capture_store.add_pane()
    epoch = await capture_store.epochs.begin_epoch(
        await capture_store.reserve_epoch(pane), build_prompt_capture("12 % done", column=0)
    )
    capture_store.write_output(epoch, b"\r99 % done\r\n")
    assert await capture_store.read_lines(pane) == ["99 % done"]


async def test_an_unused_prompt_is_stored_once_however_often_capture_restarts(capture_store):
    pane, shown = await capture_store.add_pane(), build_prompt_capture("alpha", "beta", "gamma", "$", column=2)
    for _ in range(3):
        epoch = await capture_store.epochs.begin_epoch(await capture_store.reserve_epoch(pane), shown)
        await capture_store.epochs.end_epoch(epoch, "stopped", 0)
    assert await capture_store.read_lines(pane) == ["alpha", "beta", "gamma", "$"]


async def test_a_half_typed_secret_is_masked_and_the_line_continues(capture_store):
    pane, row = await capture_store.add_pane(), f"$ login {KEY}"
    epoch = await capture_store.epochs.begin_epoch(
        await capture_store.reserve_epoch(pane), build_prompt_capture(row, column=len(row))
    )
    capture_store.write_output(epoch, b" --now\r\n")
    (line,) = await capture_store.read_lines(pane)
    assert line.startswith("$ login ") and line.endswith(" --now") and KEY not in line
    assert KEY.encode() not in (await capture_store.list_epochs(pane))[0].carry


@pytest.mark.parametrize(
    ("seen", "column"),
    [
        (build_prompt_capture("one", "$", column=2), 2),
        (PaneCapture(rows=("x" * 25, ""), width=20, height=3, cursor_x=5, cursor_y=1), 25),
        (PaneCapture(rows=("日本" * 6, ""), width=20, height=3, cursor_x=4, cursor_y=1), 24),
        (PaneCapture(rows=("one", "two", ""), width=80, height=3, cursor_x=0, cursor_y=2), None),
        (PaneCapture(rows=("",), width=80, height=1), None),
    ],
)
def test_the_cursor_is_found_in_joined_rows(seen, column):
    count = len([row for row in seen.rows if row])
    assert find_cursor_column(seen, count) == column


async def test_a_secret_on_the_screen_does_not_reach_the_store(capture_store):
    pane = await capture_store.add_pane()
    await begin_epoch(capture_store, pane, f"export TOKEN={KEY}", "$")
    assert KEY not in "\n".join(await capture_store.read_lines(pane))


async def test_after_a_gap_only_rows_that_provably_follow_are_stored(capture_store):
    pane = await capture_store.add_pane()
    first = await begin_epoch(capture_store, pane, "alpha", "beta", "gamma")
    await capture_store.epochs.end_epoch(first, "pipe_stolen", 0)
    second = await begin_epoch(capture_store, pane, "alpha", "beta", "gamma", "missed by us")
    assert await capture_store.read_lines(pane) == ["alpha", "beta", "gamma", "missed by us"]
    await capture_store.epochs.end_epoch(second, "pipe_stolen", 0)
    await begin_epoch(capture_store, pane, "nothing", "that", "we know")
    assert await capture_store.read_lines(pane) == ["alpha", "beta", "gamma", "missed by us"]


async def test_a_pane_in_the_alternate_screen_yields_no_lines_until_it_leaves(capture_store):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane, "a full screen", alternate=True)
    capture_store.write_output(epoch, b"painted\r\n\x1b[?1049lback\r\n")
    assert await capture_store.read_lines(pane) == ["back"]


async def test_an_end_closes_the_epoch_with_all_its_text(capture_store):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane)
    size = capture_store.write_output(epoch, b"whole\r\nunfinished")
    await capture_store.epochs.end_epoch(epoch, "pipe_closed", size, "closed from outside")
    assert [line.text for line in await capture_store.pipeline.lines.read(pane)] == ["whole", "unfinished"]
    (stored,) = await capture_store.list_epochs(pane)
    assert (stored.ended_by, stored.size, stored.committed) == ("pipe_closed", size, size)
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.after, gap.end_at, gap.detail) == ("pipe_closed", epoch.id, None, "closed from outside")
    opened, closed, recorded = await capture_store.store.events.list(limit=9)
    assert (opened.kind, opened.pane, opened.data) == (
        ("epoch_opened", pane, {"epoch": epoch.id, "source": "pipe", "baseline": 0})
    )
    assert (closed.kind, closed.pane, closed.data) == (
        ("epoch_closed", pane, {"epoch": epoch.id, "ended_by": "pipe_closed", "bytes": size})
    )
    data = {"cause": "pipe_closed", "since": format_timestamp(gap.start_at), "detail": "closed from outside"}
    assert (recorded.kind, recorded.pane, recorded.data) == ("gap_recorded", pane, data)


async def test_an_end_and_its_gap_are_stored_together_or_not_at_all(capture_store):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane)
    trigger = "CREATE TRIGGER no_gap BEFORE INSERT ON gap BEGIN SELECT RAISE(ABORT, 'no gap'); END"
    await capture_store.store._db.write(lambda connection: connection.execute(trigger).fetchall())
    with pytest.raises(VisorError):
        await capture_store.epochs.end_epoch(epoch, "pipe_stolen", 0)
    assert [one.id for one in await capture_store.store.output.list_open_epochs()] == [epoch.id]
    assert await capture_store.list_gaps(pane) == []
    assert await capture_store.list_event_kinds() == ["epoch_opened"]


@pytest.mark.parametrize(
    ("data", "ended_by", "cause", "is_over"),
    [
        (b"word\r\n", "pane_exited", "tail_uncertain", True),
        (b"word\r\n", "server_gone", "server_gone", True),
        (b"word\r\n", "stopped", "recorder_restart", False),
        (MARKED_END, "recorder_restart", "recorder_restart", False),
        (MARKED_END + b"and more\r\n", "pane_exited", "tail_uncertain", True),
    ],
)
async def test_an_unproven_end_leaves_a_gap(capture_store, data, ended_by, cause, is_over):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane)
    await capture_store.epochs.end_epoch(epoch, ended_by, capture_store.write_output(epoch, data))
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is not None) == (cause, is_over)


@pytest.mark.parametrize(("data", "ended_by"), [(MARKED_END, "pane_exited"), (b"word\r\n", "joined")])
async def test_a_proven_end_leaves_no_gap(capture_store, data, ended_by):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane)
    await capture_store.epochs.end_epoch(epoch, ended_by, capture_store.write_output(epoch, data))
    assert await capture_store.list_gaps(pane) == []
    assert await capture_store.list_end_causes(pane) == [ended_by]


async def test_the_gap_begins_at_the_end_record_of_the_log(capture_store):
    pane = await capture_store.add_pane()
    epoch = await begin_epoch(capture_store, pane)
    now = capture_store.clock.now()
    size = capture_store.write_output(epoch, b"word\r\n", now - 9 * NS, ends_at=now - 5 * NS)
    await capture_store.epochs.end_epoch(epoch, "pipe_stolen", size)
    assert [gap.start_at for gap in await capture_store.list_gaps(pane)] == [now - 5 * NS]
    assert [one.closed_at for one in await capture_store.list_epochs(pane)] == [now - 5 * NS]


async def test_without_an_end_record_the_gap_begins_at_the_last_byte_and_never_in_the_future(capture_store):
    pane = await capture_store.add_pane()
    cut, ahead, silent = [await begin_epoch(capture_store, pane) for _ in range(3)]
    now = capture_store.clock.now()
    for epoch, at in ((cut, now - 5 * NS), (ahead, now + 3600 * NS)):
        await capture_store.epochs.end_epoch(epoch, "link_down", capture_store.write_output(epoch, b"word", at))
    await capture_store.epochs.end_epoch(silent, "recorder_restart", 0)
    starts = {gap.after: gap.start_at for gap in await capture_store.list_gaps(pane)}
    assert starts[cut.id] == now - 5 * NS
    assert now < starts[ahead.id] <= capture_store.clock.now()
    assert starts[silent.id] == silent.opened_at


async def test_the_last_byte_time_is_that_of_the_end_record_last_byte_or_start(capture_store):
    pane = await capture_store.add_pane()
    silent, cut, ended = [await begin_epoch(capture_store, pane) for _ in range(3)]
    now = capture_store.clock.now()
    capture_store.write_output(cut, b"x", now + 7)
    capture_store.write_output(ended, b"x", now + 7, ends_at=now + 9)
    cut_at = capture_store.epochs.find_last_byte_time(cut)
    assert capture_store.epochs.find_last_byte_time(silent) == silent.opened_at
    assert now + 7 <= cut_at <= capture_store.clock.now()
    assert capture_store.epochs.find_last_byte_time(ended) == now + 9
    assert [capture_store.epochs.measure_size(one) for one in (silent, cut, ended)] == [0, 1, 1]


async def test_capturing_a_pane_again_ends_its_gap_at_the_new_epoch(capture_store):
    pane = await capture_store.add_pane()
    first = await begin_epoch(capture_store, pane)
    await capture_store.epochs.end_epoch(first, "pipe_stolen", 0)
    second = await begin_epoch(capture_store, pane)
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.after, gap.before, gap.end_at) == (first.id, second.id, second.opened_at)
    assert gap.start_at <= gap.end_at


async def test_a_reserved_epoch_is_not_resumed(capture_store):
    pane = await capture_store.add_pane()
    assert not await capture_store.epochs.resume_epoch(await capture_store.reserve_epoch(pane), is_stream_open=False)
    assert capture_store.pipeline.current_readers == {}


async def begin_with_screen(capture_store, epoch):
    await capture_store.epochs.begin_epoch(epoch, build_capture(""))


async def write_word(capture_store, epoch):
    capture_store.write_output(epoch, b"word\r\n")


async def keep_stream(capture_store, epoch):
    """Keep the stream open in the recorder while the pane is quiet."""


@pytest.mark.parametrize("sign", [begin_with_screen, write_word, keep_stream])
async def test_a_captured_epoch_is_resumed_and_ends_the_gap_before_it(capture_store, sign):
    pane = await capture_store.add_pane()
    epoch = await capture_store.reserve_epoch(pane)
    await sign(capture_store, epoch)
    await capture_store.store.output.record_gap(Gap(pane=pane, cause="recorder_restart", start_at=epoch.opened_at - NS))
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    assert await capture_store.epochs.resume_epoch(left, is_stream_open=sign is keep_stream)
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.before, gap.end_at) == (epoch.id, epoch.opened_at)
    capture_store.write_output(left, b"goes on\r\n")
    assert (await capture_store.read_lines(pane))[-1] == "goes on"


async def test_a_pane_without_capture_has_one_open_gap_until_it_is_captured(capture_store):
    pane = await capture_store.add_pane()
    await capture_store.epochs.record_missed(pane, "no way")
    await capture_store.epochs.record_missed(pane, "no way at all")
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.detail, gap.end_at) == ("link_down", "no way", None)
    assert await capture_store.list_event_kinds() == ["gap_recorded"]
    await begin_epoch(capture_store, pane, "heard")
    assert [gap.end_at is None for gap in await capture_store.list_gaps(pane)] == [False]


async def test_a_missed_pane_with_an_open_gap_gets_no_second_one(capture_store):
    pane = await capture_store.add_pane()
    await capture_store.epochs.end_epoch(await begin_epoch(capture_store, pane), "pipe_stolen", 0)
    await capture_store.epochs.record_missed(pane, "no way")
    assert await capture_store.list_gap_causes(pane) == ["pipe_stolen"]


async def test_the_gap_of_a_gone_pane_is_ended(capture_store):
    pane, other = await capture_store.add_pane("%1"), await capture_store.add_pane("%2")
    for one in (pane, other):
        await capture_store.epochs.record_missed(one, "no way")
    await capture_store.epochs.end_all_gaps(pane)
    assert [gap.end_at is None for gap in await capture_store.list_gaps()] == [False, True]


@pytest.mark.parametrize(
    ("ended_by", "saw_end", "expected"),
    [
        ("joined", False, None),
        ("pane_exited", True, None),
        ("pane_exited", False, "tail_uncertain"),
        ("stopped", False, "recorder_restart"),
        ("pipe_stolen", False, "pipe_stolen"),
        ("server_gone", True, "server_gone"),
    ],
)
def test_only_an_end_that_proves_completeness_leaves_no_gap(ended_by, saw_end, expected):
    assert find_gap_cause(ended_by, saw_end=saw_end) == expected


PROMPT = RecordedShellState(kind="prompt", shell="7", at=5 * NS)


@pytest.mark.parametrize(
    ("known", "rows", "cursor", "column"),
    [
        ({"prompt_chars": 2}, ("$ ls",), 4, 2),
        ({"prompt_chars": 2}, ("$",), 2, 2),
        ({"prompt_chars": 3}, ("日本> x",), 7, 5),
        ({"input_column": 6}, ("left> x",), 7, 6),
        ({"is_input_empty": True}, ("upper", "any prompt>"), 12, 12),
        ({}, ("$",), 2, None),
        ({"kind": "command", "prompt_chars": 2}, ("$",), 2, None),
    ],
)
def test_where_the_input_of_a_recorded_prompt_begins(known, rows, cursor, column):
    capture = build_prompt_capture(*rows, column=cursor)
    assert find_input_column(capture, replace(PROMPT, **known)) == column


def test_the_input_is_not_found_if_the_cursor_is_in_another_row():
    capture = replace(build_prompt_capture("$", "a list below", column=2), cursor_y=0)
    assert find_input_column(capture, replace(PROMPT, prompt_chars=2)) is None


async def test_a_recorded_command_is_running_when_its_capture_begins(capture_store):
    pane = await capture_store.add_pane()
    capture_store.epochs.read_shell_state = lambda pid: replace(PROMPT, kind="command", shell=str(pid), cwd="/srv")
    epoch = await capture_store.reserve_epoch(pane)
    begun = await capture_store.epochs.begin_epoch(replace(epoch, opened_at=6 * NS), build_capture("shown"), 7)
    (command,) = await capture_store.store.commands.list(pane=pane)
    assert (command.status, command.started_at, command.cwd, command.first_line) == ("running", 5 * NS, "/srv", 2)
    capture_store.write_output(begun, b"more\r\n")
    assert await capture_store.read_lines(pane) == ["shown", "more"]


async def test_a_command_that_starts_while_the_pipe_is_opened_is_left_to_its_mark(capture_store):
    pane = await capture_store.add_pane()
    capture_store.epochs.read_shell_state = lambda pid: replace(PROMPT, kind="command")
    epoch = replace(await capture_store.reserve_epoch(pane), opened_at=5 * NS)
    await capture_store.epochs.begin_epoch(epoch, build_capture("shown"), 7)
    assert await capture_store.store.commands.list(pane=pane) == []
