"""Wrong text of an epoch is replaced; ids stay in order, and every number that refers to a line follows."""

import pytest

from termvisor.model.detection.detection import Detection
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.search import search
from termvisor.store import EpochUpdate, Store
from termvisor.store.sqlite.database import Connection
from termvisor.store.tables import derived_text
from termvisor.store.tables.derived_text import DerivedText
from termvisor.store.tables.output import StreamDetection

WRONG = (("ls?2004l", "a\x1b[0m", "b"), ("c", "d"))
RIGHT = ("ls", "a", "b", "c", "new", "d", "end")


def build_block(epoch, start, lines, **options) -> TextBlock:
    return TextBlock(epoch=epoch, start=start, end=start + 10, at=start, until=start + 1, lines=tuple(lines), **options)


def build_detection(pane, epoch, text) -> Detection:
    evidence = {"epoch": epoch}
    return Detection(pane=pane, at=1, rule="r", type="t", source="stream", context=text, key=text, evidence=evidence)


class Scene:
    """A pane with three epochs, of which the second is wrong; each has a command, and a detection in its last line."""

    def __init__(self, store: Store, pane: int):
        self.store, self.pane, self.epochs = store, pane, []

    async def add_epoch(self, *groups, with_screen: bool = False) -> None:
        epoch = await self.store.output.open_epoch(self.pane, "pipe", 1)
        screen = (build_block(epoch, 0, ["shown"], source="screen"),) if with_screen else ()
        blocks = screen + tuple(build_block(epoch, 10 * index, lines) for index, lines in enumerate(groups))
        count = sum(len(block.lines) for block in blocks)
        command = CommandUpdate(start=5, end=25, started_at=1, ended_at=2, exit_code=0, status="finished")
        edges = ((CommandBoundary(5, 0, False), len(screen) + 1), (CommandBoundary(5, 0, True), count))
        detection = build_detection(self.pane, epoch, groups[-1][-1])
        update = EpochUpdate(
            pane=self.pane, epoch=epoch, committed=30, blocks=blocks, commands=(command,), edges=edges,
            events=(StreamDetection(detection, lines_before=count - 1),),
        )  # fmt: skip
        await self.store.output.commit([update])
        self.epochs.append(epoch)

    async def replace(self, *groups, edges=()) -> None:
        epoch = self.epochs[1]
        blocks = tuple(build_block(epoch, 10 * index, lines) for index, lines in enumerate(groups))
        await self.store.derived_text.replace([DerivedText(self.pane, epoch, blocks, edges)])

    async def read_texts(self) -> list[str]:
        return [line.text for line in await self.store.output.read_lines(self.pane, limit=99)]

    async def read_outputs(self) -> list[list[str]]:
        """Return the output of each command."""
        commands = await self.store.commands.list(pane=self.pane)
        spans = [(one.first_line - 1, (one.last_line or 0) + 1) for one in commands]
        return [
            [line.text for line in await self.store.output.read_lines(self.pane, after=after, before=before)]
            for after, before in spans
        ]

    async def read_detected(self) -> list[str]:
        """Return the line to which each detection refers now."""
        query = "SELECT evidence ->> 'line' FROM detection ORDER BY event"
        numbers = await self.store._db.read(lambda connection: [row[0] for row in connection.execute(query)])
        lines = {line.number: line.text for line in await self.store.output.read_lines(self.pane, limit=99)}
        return [lines[number] for number in numbers]


@pytest.fixture
async def scene(store, new_pane) -> Scene:
    scene = Scene(store, await new_pane())
    await scene.add_epoch(["before", "one"])
    await scene.add_epoch(*WRONG, with_screen=True)
    await scene.add_epoch(["after", "two"])
    return scene


EDGES = ((CommandBoundary(5, 0, False), 1), (CommandBoundary(5, 0, True), 6))


@pytest.mark.parametrize("groups", [(RIGHT,), (RIGHT[:2], RIGHT[2:]), tuple((line,) for line in RIGHT)])
async def test_more_lines_take_the_place_of_wrong_ones(scene: Scene, groups):
    await scene.replace(*groups, edges=EDGES)
    assert await scene.read_texts() == ["before", "one", "shown", *RIGHT, "after", "two"]
    assert await scene.read_outputs() == [["one"], ["a", "b", "c", "new", "d"], ["two"]]
    assert await scene.read_detected() == ["one", "d", "two"]
    assert await scene.store.check_integrity(thorough=True) == "ok"


async def test_an_old_cursor_is_too_old_for_every_new_number(scene: Scene):
    last = await scene.store.output.find_last_line_number(scene.pane)
    await scene.replace(RIGHT, edges=EDGES)
    numbers = [line.number for line in await scene.store.output.read_lines(scene.pane, limit=99)]
    assert numbers == list(range(last + 1, last + 13))
    assert await scene.store.output.find_last_line_number(scene.pane) == last + 12


async def test_only_the_right_text_is_found_and_in_order_of_time(scene: Scene):
    await scene.replace(RIGHT, edges=EDGES)
    found = await search(scene.store, SearchQuery(text="two OR new OR one"), 10)
    assert [hit.line.text for hit in found.hits] == ["two", "new", "one"]
    assert (await search(scene.store, SearchQuery(text="2004l"), 10)).hits == ()


async def test_an_epoch_without_any_right_line_becomes_empty(scene: Scene):
    await scene.replace()
    assert await scene.read_texts() == ["before", "one", "shown", "after", "two"]
    assert await scene.read_outputs() == [["one"], [], ["two"]]
    assert await scene.store.check_integrity(thorough=True) == "ok"


async def test_text_deleted_by_retention_does_not_come_back(scene: Scene):
    await scene.store._db.write(
        lambda connection: [
            connection.execute("INSERT INTO block_fts (block_fts, rowid, text, pane)"
                               " SELECT 'delete', id, text, pane FROM block_indexed WHERE id <= 3"),
            connection.execute("DELETE FROM block WHERE id <= 3"),
        ]
    )  # fmt: skip
    await scene.replace(RIGHT[:3], RIGHT[3:], edges=EDGES)
    assert await scene.read_texts() == [*RIGHT[3:], "after", "two"]
    assert (await scene.read_outputs())[1:] == [["c", "new", "d"], ["two"]]


async def test_a_command_whose_marks_are_not_read_again_keeps_about_its_output(scene: Scene):
    await scene.replace(RIGHT[:3], RIGHT[3:])
    assert await scene.read_outputs() == [["one"], ["c", "new", "d", "end"], ["two"]]


async def test_epochs_are_listed_until_they_are_replaced_or_incomplete(scene: Scene):
    first, second, third = scene.epochs
    query = f"INSERT INTO text_to_derive VALUES ({first}), ({second}), ({third})"
    await scene.store._db.write(lambda connection: connection.execute(query).fetchall())
    assert [epoch.id for epoch in await scene.store.output.list_doubtful_epochs()] == scene.epochs
    await scene.replace(RIGHT, edges=EDGES)
    await scene.store.derived_text.replace([DerivedText(scene.pane, first, is_complete=False)])
    assert (await scene.read_texts())[:2] == ["before", "one"]
    assert [epoch.id for epoch in await scene.store.output.list_doubtful_epochs()] == [third]


async def test_an_epoch_that_goes_on_continues_in_the_right_state(scene: Scene):
    text = DerivedText(scene.pane, scene.epochs[1], committed=20, carry=b"right")
    await scene.store.derived_text.replace([text, DerivedText(scene.pane, scene.epochs[0])])
    epochs = await scene.store.output.list_open_epochs()
    assert [(epoch.committed, epoch.carry) for epoch in epochs] == [(30, b""), (20, b"right"), (30, b"")]


async def read_blocks(scene: Scene) -> list[tuple]:
    query = 'SELECT id, first_line, line_count, start, "end", at, until, source, text FROM block WHERE epoch = ?'
    return await scene.store._db.read(lambda connection: list(connection.execute(query, (scene.epochs[1],))))


async def test_merged_blocks_cover_the_bytes_and_times_of_all(scene: Scene):
    await scene.replace(*((line,) for line in RIGHT[:3]), edges=EDGES)
    assert await read_blocks(scene) == [
        (2, 13, 1, 0, 10, 0, 1, "screen", "shown"),
        (3, 14, 2, 0, 20, 0, 11, "stream", "ls\na"),
        (4, 16, 1, 20, 30, 20, 21, "stream", "b"),
    ]


async def test_a_command_before_all_kept_lines_moves_to_the_first_of_them(scene: Scene):
    await scene.store._db.write(
        lambda connection: [
            connection.execute("INSERT INTO block_fts (block_fts, rowid, text, pane)"
                               " SELECT 'delete', id, text, pane FROM block_indexed WHERE id <= 1"),
            connection.execute("DELETE FROM block WHERE id <= 1"),
        ]
    )  # fmt: skip
    await scene.replace(RIGHT, edges=EDGES)
    assert (await scene.read_outputs())[0] == []
    first, *_ = await scene.store.commands.list(pane=scene.pane)
    lines = await scene.store.output.read_lines(scene.pane, limit=1, after=0)
    assert (first.first_line, first.last_line) == (lines[0].number, lines[0].number - 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 100), (3, 100), (4, 101), (5, 102), (6, 110), (9, 110), (10, 111), (11, 120)],
)
def test_a_line_that_is_gone_moves_to_the_next_one_that_was_kept(old, new):
    connection = Connection(":memory:")
    connection.execute("CREATE TABLE pane (id, next_line); INSERT INTO pane VALUES (1, 120)")
    replacer = derived_text._TextReplacer(connection, 1, {})
    replacer._runs = [derived_text._NumberedRun(3, 3, 100), derived_text._NumberedRun(9, 2, 110)]
    assert replacer._find_number(old) == new


async def test_each_of_two_commands_in_an_epoch_keeps_its_own_output(scene: Scene):
    epoch = scene.epochs[1]
    second = CommandUpdate(start=15, end=25, started_at=1, ended_at=2, exit_code=0, status="finished")
    await scene.store.output.commit([EpochUpdate(pane=scene.pane, epoch=epoch, committed=30, commands=(second,), edges=(
        (CommandBoundary(15, 0, False), 0), (CommandBoundary(15, 0, True), 0),
    ))])  # fmt: skip
    edges = [(5, False, 1), (5, True, 3), (15, False, 4), (15, True, 6)]
    await scene.replace(RIGHT, edges=tuple((CommandBoundary(start, 0, end), count) for start, end, count in edges))
    outputs = await scene.read_outputs()
    assert sorted(outputs) == [["a", "b"], ["new", "d"], ["one"], ["two"]]
