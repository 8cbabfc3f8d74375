"""How an epoch begins, goes on and ends in the store, and which gap stands between it and the next."""

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.epochs import find_cursor_column
from termvisor.clock import NS
from termvisor.errors import VisorError
from termvisor.model.terminal.output import Gap

MARKED_END = b"bye\r\n\x1b]7770;end;0\x1b\\"
KEY = "ghp_" + "a1B2" * 9


def showing(*rows: str, alternate: bool = False) -> PaneCapture:
    return PaneCapture(rows=rows, width=80, height=24, alternate=alternate)


async def begun(memory, pane, *rows, **more):
    return await memory.epochs.begin_epoch(await memory.reserve_epoch(pane), showing(*rows, **more))


async def test_what_a_pane_shows_at_first_is_its_first_text(memory):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane, "one", "two  ", "", "three", "", "")
    assert await memory.read_lines(pane) == ["one", "two", "", "three"]
    assert {line.source for line in await memory.store.output.read_lines(pane)} == {"screen"}
    assert await memory.list_event_kinds() == ["epoch_opened"]
    memory.write_output(epoch, b"four\r\n")
    assert await memory.read_lines(pane) == ["one", "two", "", "three", "four"]


def at_a_prompt(*rows: str, column: int, width: int = 80) -> PaneCapture:
    """The cursor stands in the last row, and the rest of the screen is blank."""
    blank = ("",) * (24 - len(rows))
    return PaneCapture(rows=(*rows, *blank), width=width, height=24, cursor_x=column, cursor_y=len(rows) - 1)


async def test_the_row_of_the_cursor_and_what_is_typed_there_are_one_line(memory):
    pane = await memory.add_pane()
    epoch = await memory.epochs.begin_epoch(await memory.reserve_epoch(pane), at_a_prompt("done", "$", column=2))
    assert await memory.read_lines(pane) == ["done"]
    assert memory.pipeline.current_readers[pane].pending_line == "$"
    memory.write_output(epoch, b"ec")
    await memory.pipeline.wait_settled()
    await memory.restart()
    (left,) = await memory.store.output.list_open_epochs()
    memory.pipeline.open_epoch(left)
    memory.write_output(left, b"ho hi\r\nhi\r\n")
    assert await memory.read_lines(pane) == ["done", "$ echo hi", "hi"]


async def test_a_row_that_the_program_paints_anew_is_not_doubled(memory):
    pane = await memory.add_pane()
    epoch = await memory.epochs.begin_epoch(await memory.reserve_epoch(pane), at_a_prompt("12 % done", column=0))
    memory.write_output(epoch, b"\r99 % done\r\n")
    assert await memory.read_lines(pane) == ["99 % done"]


async def test_a_prompt_that_nobody_used_is_stored_once_however_often_listening_begins(memory):
    pane, shown = await memory.add_pane(), at_a_prompt("alpha", "beta", "gamma", "$", column=2)
    for _ in range(3):
        epoch = await memory.epochs.begin_epoch(await memory.reserve_epoch(pane), shown)
        await memory.epochs.end_epoch(epoch, "stopped", 0)
    assert await memory.read_lines(pane) == ["alpha", "beta", "gamma", "$"]


async def test_a_half_typed_secret_is_masked_and_the_line_goes_on_behind_it(memory):
    pane, row = await memory.add_pane(), f"$ login {KEY}"
    epoch = await memory.epochs.begin_epoch(await memory.reserve_epoch(pane), at_a_prompt(row, column=len(row)))
    memory.write_output(epoch, b" --now\r\n")
    (line,) = await memory.read_lines(pane)
    assert line.startswith("$ login ") and line.endswith(" --now") and KEY not in line
    assert KEY.encode() not in (await memory.list_epochs(pane))[0].carry


@pytest.mark.parametrize(
    ("seen", "column"),
    [
        (at_a_prompt("one", "$", column=2), 2),
        (PaneCapture(rows=("x" * 25, ""), width=20, height=3, cursor_x=5, cursor_y=1), 25),
        (PaneCapture(rows=("日本" * 6, ""), width=20, height=3, cursor_x=4, cursor_y=1), 24),
        (PaneCapture(rows=("one", "two", ""), width=80, height=3, cursor_x=0, cursor_y=2), None),
        (PaneCapture(rows=("",), width=80, height=1), None),
    ],
)
def test_the_cursor_is_found_in_joined_rows(seen, column):
    count = len([row for row in seen.rows if row])
    assert find_cursor_column(seen, count) == column


async def test_a_secret_on_the_screen_does_not_reach_the_store(memory):
    pane = await memory.add_pane()
    await begun(memory, pane, f"export TOKEN={KEY}", "$")
    assert KEY not in "\n".join(await memory.read_lines(pane))


async def test_after_a_gap_only_rows_that_prove_to_follow_are_taken(memory):
    pane = await memory.add_pane()
    first = await begun(memory, pane, "alpha", "beta", "gamma")
    await memory.epochs.end_epoch(first, "pipe_stolen", 0)
    second = await begun(memory, pane, "alpha", "beta", "gamma", "missed by us")
    assert await memory.read_lines(pane) == ["alpha", "beta", "gamma", "missed by us"]
    await memory.epochs.end_epoch(second, "pipe_stolen", 0)
    await begun(memory, pane, "nothing", "that", "we know")
    assert await memory.read_lines(pane) == ["alpha", "beta", "gamma", "missed by us"]


async def test_a_pane_in_the_alternate_screen_yields_no_lines_until_it_leaves(memory):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane, "a full screen", alternate=True)
    memory.write_output(epoch, b"painted\r\n\x1b[?1049lback\r\n")
    assert await memory.read_lines(pane) == ["back"]


async def test_an_end_closes_the_epoch_with_all_its_text(memory):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane)
    size = memory.write_output(epoch, b"whole\r\nunfinished")
    await memory.epochs.end_epoch(epoch, "pipe_closed", size, "somebody closed it")
    assert [line.text for line in await memory.store.output.read_lines(pane)] == ["whole", "unfinished"]
    (stored,) = await memory.list_epochs(pane)
    assert (stored.ended_by, stored.size, stored.committed) == ("pipe_closed", size, size)
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.after, gap.end_at, gap.detail) == ("pipe_closed", epoch.id, None, "somebody closed it")
    assert await memory.list_event_kinds() == ["epoch_opened", "epoch_closed", "gap_recorded"]


async def test_an_end_and_its_gap_are_stored_together_or_not_at_all(memory):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane)
    trigger = "CREATE TRIGGER no_gap BEFORE INSERT ON gap BEGIN SELECT RAISE(ABORT, 'no gap'); END"
    await memory.store._db.write(lambda connection: connection.execute(trigger).fetchall())
    with pytest.raises(VisorError):
        await memory.epochs.end_epoch(epoch, "pipe_stolen", 0)
    assert [one.id for one in await memory.store.output.list_open_epochs()] == [epoch.id]
    assert await memory.list_gaps(pane) == []
    assert await memory.list_event_kinds() == ["epoch_opened"]


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
async def test_an_end_that_proves_nothing_leaves_a_gap(memory, data, ended_by, cause, is_over):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane)
    await memory.epochs.end_epoch(epoch, ended_by, memory.write_output(epoch, data))
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.end_at is not None) == (cause, is_over)


@pytest.mark.parametrize(("data", "ended_by"), [(MARKED_END, "pane_exited"), (b"word\r\n", "joined")])
async def test_a_proven_end_leaves_none(memory, data, ended_by):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane)
    await memory.epochs.end_epoch(epoch, ended_by, memory.write_output(epoch, data))
    assert await memory.list_gaps(pane) == []
    assert await memory.list_end_causes(pane) == [ended_by]


async def test_the_gap_begins_where_the_log_says_that_it_ended(memory):
    pane = await memory.add_pane()
    epoch = await begun(memory, pane)
    now = memory.clock.now()
    size = memory.write_output(epoch, b"word\r\n", now - 9 * NS, ends_at=now - 5 * NS)
    await memory.epochs.end_epoch(epoch, "pipe_stolen", size)
    assert [gap.start_at for gap in await memory.list_gaps(pane)] == [now - 5 * NS]
    assert [one.closed_at for one in await memory.list_epochs(pane)] == [now - 5 * NS]


async def test_the_gap_begins_when_the_caller_knows_better_and_never_in_the_future(memory):
    pane = await memory.add_pane()
    first, second = await begun(memory, pane), await begun(memory, pane)
    now = memory.clock.now()
    await memory.epochs.end_epoch(first, "link_down", 0, missed_since=now - 5 * NS)
    await memory.epochs.end_epoch(second, "link_down", 0, missed_since=now + 3600 * NS)
    early, late = await memory.list_gaps(pane)
    assert early.start_at == now - 5 * NS
    assert now < late.start_at <= memory.clock.now()


async def test_the_last_that_a_log_vouches_for_is_its_end_its_last_byte_or_its_beginning(memory):
    pane = await memory.add_pane()
    silent, cut, ended = [await begun(memory, pane) for _ in range(3)]
    now = memory.clock.now()
    memory.write_output(cut, b"x", now + 7)
    memory.write_output(ended, b"x", now + 7, ends_at=now + 9)
    cut_at = memory.epochs.find_last_byte_time(cut)
    assert memory.epochs.find_last_byte_time(silent) == silent.opened_at
    assert now + 7 <= cut_at <= memory.clock.now()
    assert memory.epochs.find_last_byte_time(ended) == now + 9
    assert [memory.epochs.measure_size(one) for one in (silent, cut, ended)] == [0, 1, 1]


async def test_hearing_a_pane_again_ends_its_gap_where_the_new_epoch_begins(memory):
    pane = await memory.add_pane()
    first = await begun(memory, pane)
    await memory.epochs.end_epoch(first, "pipe_stolen", 0)
    second = await begun(memory, pane)
    (gap,) = await memory.list_gaps(pane)
    assert (gap.after, gap.before, gap.end_at) == (first.id, second.id, second.opened_at)
    assert gap.start_at <= gap.end_at


async def test_an_epoch_that_was_only_reserved_is_not_resumed(memory):
    pane = await memory.add_pane()
    assert not await memory.epochs.resume_epoch(await memory.reserve_epoch(pane), is_stream_open=False)
    assert memory.pipeline.current_readers == {}


async def saw_the_screen(memory, epoch):
    await memory.epochs.begin_epoch(epoch, showing(""))


async def heard_a_word(memory, epoch):
    memory.write_output(epoch, b"word\r\n")


async def has_its_pipe(memory, epoch):
    """The recorder holds it, and the pane is quiet."""


@pytest.mark.parametrize("sign", [saw_the_screen, heard_a_word, has_its_pipe])
async def test_an_epoch_that_was_heard_is_resumed_and_no_gap_stays_open_before_it(memory, sign):
    pane = await memory.add_pane()
    epoch = await memory.reserve_epoch(pane)
    await sign(memory, epoch)
    await memory.store.output.record_gap(Gap(pane=pane, cause="recorder_restart", start_at=epoch.opened_at - NS))
    await memory.restart()
    (left,) = await memory.store.output.list_open_epochs()
    assert await memory.epochs.resume_epoch(left, is_stream_open=sign is has_its_pipe)
    (gap,) = await memory.list_gaps(pane)
    assert (gap.before, gap.end_at) == (epoch.id, epoch.opened_at)
    memory.write_output(left, b"goes on\r\n")
    assert (await memory.read_lines(pane))[-1] == "goes on"


async def test_a_pane_that_nobody_hears_has_one_open_gap_until_it_is_heard(memory):
    pane = await memory.add_pane()
    await memory.epochs.record_missed(pane, "no way")
    await memory.epochs.record_missed(pane, "no way at all")
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.detail, gap.end_at) == ("link_down", "no way", None)
    assert await memory.list_event_kinds() == ["gap_recorded"]
    await begun(memory, pane, "heard")
    assert [gap.end_at is None for gap in await memory.list_gaps(pane)] == [False]


async def test_a_gap_that_is_open_already_stands_for_not_hearing(memory):
    pane = await memory.add_pane()
    await memory.epochs.end_epoch(await begun(memory, pane), "pipe_stolen", 0)
    await memory.epochs.record_missed(pane, "no way")
    assert await memory.list_gap_causes(pane) == ["pipe_stolen"]


async def test_what_a_gone_pane_prints_is_not_missed_any_longer(memory):
    pane, other = await memory.add_pane("%1"), await memory.add_pane("%2")
    for one in (pane, other):
        await memory.epochs.record_missed(one, "no way")
    await memory.epochs.end_all_gaps(pane)
    assert [gap.end_at is None for gap in await memory.list_gaps()] == [False, True]
