from termvisor.model.output import Block
from termvisor.store import Progress


async def test_blocks_that_match_come_newest_first(store, new_pane, write_lines):
    pane = await new_pane()
    for text in ("apple one", "pear", "apple two"):
        await write_lines(pane, text)
    found = await store.read(lambda reading: [block.text for block in reading.newest('text : "apple"', (0, 99))])
    assert found == ["apple two", "apple one"]


async def test_the_pane_is_a_word_of_the_index(store, new_pane, write_lines):
    first, second = await new_pane("%1"), await new_pane("%2")
    await write_lines(first, f"apple {second}")
    await write_lines(second, "apple")
    match = f'text : "apple" AND pane : ("{second}")'
    assert await store.read(lambda reading: [block.pane for block in reading.newest(match, (0, 99))]) == [second]


async def test_the_best_are_scored_among_the_newest_only(store, new_pane, write_lines):
    pane = await new_pane()
    for text in ("apple apple apple", "apple and a lot of other fruit", "apple apple"):
        await write_lines(pane, text)
    scored = await store.read(lambda reading: reading.best('text : "apple"', (0, 99), 2))
    assert [number for _, number in sorted(scored)] == [3, 2]


async def test_a_time_names_the_shelves_of_blocks_that_may_hold_it(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        Block(epoch=epoch, start=0, end=0, at=number, until=number, lines=("x",)) for number in range(1, 1000)
    )
    await store.output.commit([Progress(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    spans = {
        asked: await store.read(lambda reading, asked=asked: reading.spans(*asked))
        for asked in ((None, None), (600, None), (None, 100), (300, 520), (2000, None))
    }
    assert spans == {
        (None, None): [(0, (1 << 63) - 1)],
        (600, None): [(512, 1023)],
        (None, 100): [(0, 255)],
        (300, 520): [(256, 767)],
        (2000, None): [],
    }


async def test_a_time_between_which_nothing_was_stored_splits_the_span(store, new_pane):
    pane = await new_pane()
    epoch = await store.output.open_epoch(pane, "pipe", 1)
    blocks = tuple(
        Block(epoch=epoch, start=0, end=0, at=at, until=at, lines=("x",)) for at in [1] * 255 + [1000] * 256 + [1] * 10
    )
    await store.output.commit([Progress(pane=pane, epoch=epoch, committed=1, blocks=blocks)])
    assert await store.read(lambda reading: reading.spans(0, 10)) == [(512, 767), (0, 255)]


async def test_neighbours_of_a_line_come_from_the_blocks_around_it(store, new_pane, write_lines):
    pane, other = await new_pane("%1"), await new_pane("%2")
    await write_lines(pane, "1", "2")
    await write_lines(other, "noise")
    await write_lines(pane, "3", "4", "5")
    line = (await store.output.lines(pane))[2]
    assert await store.read(lambda reading: reading.around(line, 1)) == (("2",), ("4",))
    assert await store.read(lambda reading: reading.around(line, 9)) == (("1", "2"), ("4", "5"))
    assert await store.read(lambda reading: reading.around(line, 0)) == ((), ())


async def test_panes_are_known_by_session_and_target(store, new_pane):
    work = {await new_pane("%1", session_name="work"), await new_pane("%2", session_name="work")}
    play = await new_pane("%3", session_name="it's play")
    assert await store.read(lambda reading: reading.panes_in_session("work")) == work
    assert await store.read(lambda reading: reading.panes_in_session("it's play")) == {play}
    assert await store.read(lambda reading: reading.panes_in_session("nowhere")) == set()
    assert await store.read(lambda reading: reading.panes_on_target("local")) == work | {play}
    assert await store.read(lambda reading: reading.panes_on_target("nowhere")) == set()
