"""Derive the text of epochs again from their raw log, exactly as it would be derived now. Runs in a worker process."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.model.terminal.output import Epoch, InitialLine
from termvisor.model.terminal.screen import Screen
from termvisor.pipeline.epoch_reader import EpochReader, encode_first_carry
from termvisor.pipeline.epoch_text import seed_window
from termvisor.pipeline.window_files import WindowFiles
from termvisor.redaction import build_rules, use_rules
from termvisor.settings import Paths, Settings
from termvisor.store.tables.derived_text import DerivedText
from termvisor.system.shell_nonce import load_nonce

_MAX_EPOCH_BYTES = 1 << 26
"""Larger epochs are not derived again, because all their text is in memory at once."""
_SLICE_BYTES = 1 << 18
_DEFAULT_WIDTH, _DEFAULT_HEIGHT = 80, 24


class EpochToDerive(Struct, frozen=True):
    """An epoch, the folder of its raw log, and what the pane showed when it began."""

    epoch: Epoch
    folder: str
    first_screen: Screen | None


def derive_epochs(paths: Paths, settings: Settings, epochs: list[EpochToDerive]) -> Iterator[DerivedText]:
    """Yield the text of every epoch. Runs in a worker process, which may be killed at any time.

    ``paths`` and ``settings`` are the daemon's, which may differ from the environment and the settings file.
    """
    nonce = load_nonce(paths.nonce_file)
    use_rules(build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=nonce))
    files = WindowFiles(paths.raw_dir)
    for item in epochs:
        yield derive_text(item, nonce, files)


def derive_text(item: EpochToDerive, nonce: str | None, files: WindowFiles) -> DerivedText:
    """Return the text up to the committed offset, and the state at its end if the epoch goes on.

    No rule is matched: the events of the epoch happened once.
    """
    epoch, end = item.epoch, item.epoch.committed
    is_finished = epoch.size is not None and end >= epoch.size
    nothing = DerivedText(epoch.pane, epoch.id, is_complete=False)
    if not 0 < end <= _MAX_EPOCH_BYTES:
        return nothing
    window = seed_window(epoch, _build_capture(item.first_screen), _find_begun_line(item.first_screen), files)
    carry = encode_first_carry(epoch, window)
    begun_epoch = replace(epoch, committed=0, carry=carry, size=end if is_finished else None)
    reader = EpochReader(begun_epoch, item.folder, nonce, files)
    while reader.read_step(min(_SLICE_BYTES, end - reader.read_offset)):
        pass
    is_complete = reader.read_offset >= end
    if is_finished:
        reader.finish()
    reader.reader.close()
    update = reader.take_progress()
    if is_finished or not is_complete:
        files.delete_all(epoch.id)
    if update is None or not is_complete or reader.take_gaps():
        return nothing
    text = DerivedText(epoch.pane, epoch.id, update.blocks, update.edges)
    return text if is_finished else replace(text, committed=update.committed, carry=update.carry)


def _build_capture(screen: Screen | None) -> PaneCapture:
    """Return what the pane showed when the epoch began; a later change of its size is not known."""
    if screen is None:
        return PaneCapture(rows=(), width=_DEFAULT_WIDTH, height=_DEFAULT_HEIGHT)
    return PaneCapture(
        rows=screen.rows,
        width=screen.width,
        height=screen.height,
        cursor_x=screen.cursor_x,
        cursor_y=screen.cursor_y,
        alternate=screen.alternate,
    )


def _find_begun_line(screen: Screen | None) -> InitialLine:
    """Return the line at the cursor, usually a prompt, which the first bytes of the epoch continue."""
    if screen is None or screen.alternate or any(row.strip() for row in screen.rows[screen.cursor_y + 1 :]):
        return InitialLine()
    text = "".join(screen.rows[screen.cursor_y : screen.cursor_y + 1]).rstrip()
    return InitialLine(text, screen.cursor_x) if text else InitialLine()
