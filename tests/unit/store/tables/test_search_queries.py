import pytest

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.screen import CapturedScreen, Screen, ScreenRow
from termvisor.store import EpochUpdate


async def test_matching_blocks_are_listed_newest_first(store, new_pane, write_lines):
    pane = await new_pane()
    for text in ("apple one", "pear", "apple two"):
        await write_lines(pane, text)
    found = await store.read(
        lambda reading: [block.text for block in reading.iterate_newest("block", 'text : "apple"', (0, 99))]
    )
    assert found == ["apple two", "apple one"]


async def test_pane_is_a_column_of_the_index(store, new_pane, write_lines):
    first, second = await new_pane("%1"), await new_pane("%2")
    await write_lines(first, f"apple {second}")
    await write_lines(second, "apple")
    match = f'text : "apple" AND pane : ("{second}")'
    assert await store.read(
        lambda reading: [block.pane for block in reading.iterate_newest("block", match, (0, 99))]
    ) == [second]


async def test_only_the_newest_matches_are_scored(store, new_pane, write_lines):
    pane = await new_pane()
    for text in ("apple apple apple", "apple and a lot of other fruit", "apple apple"):
        await write_lines(pane, text)
    scored = await store.read(lambda reading: reading.list_best("block", 'text : "apple"', (0, 99), 2))
    assert [number for _, number in sorted(scored)] == [3, 2]


async def test_time_range_returns_the_buckets_that_may_contain_it(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        TextBlock(epoch=epoch, start=0, end=0, at=number, until=number, lines=("x",)) for number in range(1, 1000)
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    spans = {
        asked: await store.read(lambda reading, asked=asked: reading.list_id_ranges("block", *asked))
        for asked in ((None, None), (600, None), (None, 100), (300, 520), (2000, None))
    }
    assert spans == {
        (None, None): [(0, (1 << 63) - 1)],
        (600, None): [(512, 1023)],
        (None, 100): [(0, 255)],
        (300, 520): [(256, 767)],
        (2000, None): [],
    }


async def test_a_time_range_may_match_several_id_ranges(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        TextBlock(epoch=epoch, start=0, end=0, at=at, until=at, lines=("x",))
        for at in [1] * 255 + [1000] * 256 + [1] * 10
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    assert await store.read(lambda reading: reading.list_id_ranges("block", 0, 10)) == [(512, 767), (0, 255)]


async def test_neighbours_of_a_line_come_from_the_blocks_around_it(store, new_pane, write_lines):
    pane, other = await new_pane("%1"), await new_pane("%2")
    await write_lines(pane, "1", "2")
    await write_lines(other, "noise")
    await write_lines(pane, "3", "4", "5")
    line = (await store.output.read_lines(pane))[2]
    assert await store.read(lambda reading: reading.read_lines_around(line, 1)) == (("2",), ("4",))
    assert await store.read(lambda reading: reading.read_lines_around(line, 9)) == (("1", "2"), ("4", "5"))
    assert await store.read(lambda reading: reading.read_lines_around(line, 0)) == ((), ())


async def test_panes_are_found_by_session_and_target(store, new_pane):
    work = {await new_pane("%1", session_name="work"), await new_pane("%2", session_name="work")}
    play = await new_pane("%3", session_name="it's play")
    assert await store.read(lambda reading: reading.find_panes_by("session", "work")) == work
    assert await store.read(lambda reading: reading.find_panes_by("session", "it's play")) == {play}
    assert await store.read(lambda reading: reading.find_panes_by("session", "nowhere")) == set()
    assert await store.read(lambda reading: reading.find_panes_by("target", "local")) == work | {play}
    assert await store.read(lambda reading: reading.find_panes_by("target", "nowhere")) == set()


@pytest.fixture
async def shown(store, new_pane):
    """Store two screens of one pane: at 10 with two rows, at 500 with one more."""
    pane = await new_pane()
    apple, pear, plum = ScreenRow("apple", 1), ScreenRow("pear", 2), ScreenRow("plum apple", 3)
    for at, rows in ((10, (apple, pear)), (500, (apple, plum, pear))):
        screen = Screen(pane=pane, rows=(), width=80, height=24, at=at)
        await store.sightings.add([CapturedScreen(EpochId(1), screen, rows)])
    return pane


async def test_rows_of_screens_match_with_their_times_and_screen(store, shown):
    rows = await store.read(lambda reading: list(reading.iterate_newest("sighting", 'text : "apple"', (0, 99))))
    assert [(row.text, row.pane, row.at, row.until, row.source, row.screen) for row in rows] == [
        ("plum apple", shown, 500, 500, "screen", 2),
        ("apple", shown, 10, 500, "screen", 1),
    ]
    assert await store.read(lambda reading: reading.read_block("sighting", 1)) == rows[1]
    scored = await store.read(lambda reading: reading.list_best("sighting", 'text : "apple"', (0, 99), 9))
    assert sorted(number for _, number in scored) == [1, 3]


async def test_a_row_matches_the_whole_time_in_which_it_was_shown(store, shown):
    assert await store.read(lambda reading: reading.list_id_ranges("sighting", 400, 450)) == [(0, 255)]
    assert await store.read(lambda reading: reading.list_id_ranges("sighting", 501, None)) == []


async def test_neighbours_of_a_row_are_those_of_its_screen(store, shown):
    around = {
        (screen, text): await store.read(lambda reading, s=screen, t=text: reading.read_rows_around(s, t, 1))
        for screen, text in ((1, "apple"), (2, "plum apple"), (2, "absent"), (9, "apple"))
    }
    assert around == {
        (1, "apple"): ((), ("pear",)),
        (2, "plum apple"): (("apple",), ("pear",)),
        (2, "absent"): ((), ()),
        (9, "apple"): ((), ()),
    }


async def test_blocks_of_baseline_screens_have_id_ranges(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        TextBlock(epoch=epoch, start=0, end=0, at=1, until=1, lines=("x",), source=source)
        for source in ("screen", "screen", "stream", "screen", "stream")
    )
    await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    assert await store.read(lambda reading: reading.list_screen_id_ranges()) == [(4, 4), (1, 2)]


async def test_lines_of_detections_are_found(store, new_pane):
    pane = await new_pane()
    known = {"at": 1, "pane": pane, "source": "stream"}
    await store.detections.add(
        [
            Detection(type="usage.low", rule="r1", severity="info", context="a1\na2", **known),
            Detection(type="usage.reached", rule="r2", severity="error", context="b1\nb2", **known),
            Detection(type="auth.required", rule="r3", severity="info", context="c", **known),
            Detection(type="usage.empty", rule="r4", severity="info", context="", **known),
        ]
    )
    expected = {
        ("event", "usage.*", 9): ["b2", "a2"],
        ("event", "usage.*", 1): ["b2"],
        ("rule", "r2", 9): ["b2"],
        ("severity", "error", 9): ["b2"],
        ("severity", "info", 9): ["c", "b2", "a2"],
        ("rule", "nothing", 9): [],
    }
    found = await store.read(lambda reading: {asked: reading.find_detected_lines(*asked) for asked in expected})
    assert found == {asked: [(pane, line) for line in lines] for asked, lines in expected.items()}


async def test_a_pane_that_was_ever_seen_is_known(store, new_pane):
    pane = await new_pane()
    seen = await store.read(lambda reading: [reading.has_pane(number) for number in (pane, pane + 1, 1 << 70)])
    assert seen == [True, False, False]


async def test_a_message_that_was_deleted_has_no_lines(store):
    assert await store.read(lambda reading: reading.read_message_lines_around(99, 0, 2)) == ((), ())
