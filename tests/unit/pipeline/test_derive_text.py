"""Text derived again from the raw log equals the text that the pipeline stores now."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.screen import Screen
from termvisor.pipeline.derive_text import EpochToDerive, derive_epochs, derive_text
from termvisor.pipeline.epoch_reader import EpochReader
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.redaction import use_rules
from termvisor.redaction.redactor import get_active_rules
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.store.tables.derived_text import DerivedText

PRINTED = (
    b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b[?2004l\r\x1b]133;C\x07\x1b[01;34ma\x1b[0m\r\n",
    b"\r\nb\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ vim\r\n\x1b[?1049h~\r\n~\r\n\x1b[?1049l$ ",
)
LINES = ["$ ls", "a", "", "b", "$ vim", "$"]
SIZE = sum(map(len, PRINTED))
EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=1, closed_at=20, committed=SIZE, size=SIZE)

NOTHING = DerivedText(PaneId(1), EpochId(1), is_complete=False)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    writer = SegmentWriter(str(tmp_path), 1)
    for number, data in enumerate(PRINTED):
        writer.append(data, 10 + number)
    writer.close()
    return str(tmp_path)


def derive(item: EpochToDerive) -> DerivedText:
    return derive_text(item, None, WindowFiles(f"{item.folder}/windows"))


def test_the_text_and_the_bounds_of_commands_are_derived(folder: str) -> None:
    text = derive(EpochToDerive(EPOCH, folder, None))
    assert text.is_complete
    assert [line for block in text.blocks for line in block.lines] == LINES
    assert [(lines, boundary.is_end) for boundary, lines in text.edges] == [(1, False), (4, True)]
    assert (text.blocks[-1].end, text.blocks[0].at) == (SIZE, 10)
    assert (text.committed, text.carry, os.listdir(f"{folder}/windows/windows")) == (0, b"", [])


def test_text_is_derived_with_the_redaction_of_the_settings(folder: str, tmp_path: Path) -> None:
    paths = Paths(f"{tmp_path}/c", f"{tmp_path}/d", f"{tmp_path}/r")
    make_instance_folders(paths)
    settings, rules = Settings(redact_patterns=("v[i]m",)), get_active_rules()
    try:
        (text,) = derive_epochs(paths, settings, [EpochToDerive(EPOCH, folder, None)])
    finally:
        use_rules(rules)
    assert [line for block in text.blocks for line in block.lines][4] == "$ [redacted:custom_1]"


def test_an_open_epoch_is_derived_up_to_what_is_stored(folder: str) -> None:
    files = WindowFiles(f"{folder}/windows")
    epoch = replace(EPOCH, committed=SIZE, closed_at=None, size=None)
    text = derive_text(EpochToDerive(epoch, folder, None), None, files)
    assert text.is_complete
    stored = [line for block in text.blocks for line in block.lines]
    reader = EpochReader(replace(epoch, committed=text.committed, carry=text.carry), folder, None, files)
    reader.read_step(SIZE)
    assert os.listdir(f"{folder}/windows/windows") != []
    unstored = [line.text for line in reader.text.list_unstored_lines(1)]
    assert [*stored, *unstored, reader.pending_line.rstrip()] == LINES


def test_an_epoch_that_began_on_the_alternate_screen_has_no_lines_of_it(folder: str) -> None:
    screen = Screen(pane=PaneId(1), rows=("~",), width=80, height=1, alternate=True)
    text = derive(EpochToDerive(EPOCH, folder, screen))
    assert text.is_complete
    assert [line for block in text.blocks for line in block.lines] == ["$"]


@pytest.mark.parametrize(("prompt", "first"), [("% > ", "% > $ ls"), ("", "$ ls")])
def test_the_first_bytes_continue_the_line_at_the_cursor(folder: str, prompt: str, first: str) -> None:
    rows = ("old", prompt)
    screen = Screen(pane=PaneId(1), rows=rows, width=80, height=2, cursor_x=len(prompt), cursor_y=1)
    assert derive(EpochToDerive(EPOCH, folder, screen)).blocks[0].lines[0] == first


@pytest.mark.parametrize(("printed", "lines"), [(b"\r\nnext\r\n", ["% >", "next"]), (b"\r\x1b[Knext\r\n", ["next"])])
def test_the_line_at_the_cursor_belongs_to_the_epoch(tmp_path: Path, printed: bytes, lines: list[str]) -> None:
    writer = SegmentWriter(f"{tmp_path}/log", 1 << 20)
    writer.append(printed, 10)
    writer.close()
    screen = Screen(pane=PaneId(1), rows=("old", "% >", ""), width=80, height=3, cursor_x=4, cursor_y=1)
    epoch = replace(EPOCH, committed=len(printed), size=len(printed))
    text = derive(EpochToDerive(epoch, f"{tmp_path}/log", screen))
    assert [line for block in text.blocks for line in block.lines] == lines
    below = replace(screen, rows=("old", "% >", "x"))
    assert derive(EpochToDerive(epoch, f"{tmp_path}/log", below)).blocks[0].lines[0] == "next"


def test_an_epoch_with_missing_bytes_is_not_derived(folder: str) -> None:
    for size in (SIZE + 1, None):
        assert derive(EpochToDerive(replace(EPOCH, committed=SIZE + 1, size=size), folder, None)) == NOTHING
        assert os.listdir(f"{folder}/windows/windows") == []
    for committed in (0, (1 << 26) + 1):
        assert derive(EpochToDerive(replace(EPOCH, committed=committed), folder, None)) == NOTHING
    first = min(name for name in os.listdir(folder) if name.endswith(".raw"))
    os.unlink(f"{folder}/{first}")
    assert derive(EpochToDerive(EPOCH, folder, None)) == NOTHING
    assert derive(EpochToDerive(EPOCH, f"{folder}/gone", None)) == NOTHING
