"""Read the state that shells with the integration keep in files, for panes whose last marks were not captured.

Each shell keeps one record in a file named for its pid: format, nonce, pid, start time, state, exit status, input, and
folder. It overwrites the first line; what follows is left over from a longer record.

Invariant: a record counts only if the file is private and ours, the nonce is right, the process that wrote it still
runs in the pane's terminal, and the terminal agrees with it. What cannot be checked is not used.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.system import procfs
from termvisor.system.tty import find_terminal, is_line_editor_active

# The folder of a shell may take 4096 bytes.
_MAX_FILE_BYTES = 8192
_MAX_SHELL_DEPTH = 32
_RECORD_PATTERN = re.compile(
    rb"visor1 (?P<nonce>[0-9a-f]{32}) (?P<pid>\d{1,10}) (?P<started>\d{1,20}) (?P<kind>prompt|command)"
    rb" (?:-|(?P<exit>\d{1,3})) (?:-|(?P<input>chars|column|read)=(?P<value>\d{1,18})) (?:-|(?P<cwd>/[^\n]*))\n"
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class _CheckedRecord(Struct, frozen=True):
    """A record of a running process, and the process."""

    state: RecordedShellState
    process: procfs.ProcessStat


def read_shell_state(folder: str, nonce: str | None, pane_pid: int) -> RecordedShellState | None:
    """Return the state of the innermost shell of a pane; None if no shell has recorded one that can be trusted."""
    pane = procfs.read_stat(pane_pid)
    if pane is None or pane.terminal == 0 or pane.foreground_group <= 0:
        return None
    for pid in _list_possible_shells(pane_pid, pane.foreground_group):
        found = _read_record(folder, nonce, pid)
        if found is not None and found.process.terminal == pane.terminal:
            is_reading = found.process.group == pane.foreground_group and is_line_editor_active(find_terminal(pid))
            # A shell that reads a line is at its prompt, or runs `read -e`; another program in front is a command.
            return found.state if is_reading == (found.state.kind == "prompt") else None
    return None


def is_state_missing(folder: str, pane_pid: int) -> bool:
    """Return True if no shell of a pane has a file although it could: its integration is older than these files."""
    pane = procfs.read_stat(pane_pid)
    if pane is None or pane.foreground_group <= 0:
        return False
    return not any(os.path.exists(f"{folder}/{pid}") for pid in _list_possible_shells(pane_pid, pane.foreground_group))


def remove_stale_states(folder: str) -> int:
    """Remove the files of shells that have exited, and return how many there were."""
    removed = 0
    # The folder may be missing: only shells and the daemon create it. A file may disappear meanwhile.
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if _is_stale(folder, name):
                    os.unlink(f"{folder}/{name}")
                    removed += 1
    return removed


def _is_stale(folder: str, name: str) -> bool:
    """Return True if the process has exited or its pid was reused. A shell that has just started has no record yet."""
    started = procfs.read_start_time(int(name)) if name.isdecimal() else 0
    content = _read_private_file(f"{folder}/{name}")
    match = None if content is None else _RECORD_PATTERN.match(content[0])
    return started == 0 or (match is not None and int(match["started"]) != started)


def _list_possible_shells(pane_pid: int, foreground: int) -> Iterator[int]:
    """Yield the leader of the foreground group and its ancestors up to the pane's first process, innermost first."""
    pid = foreground if procfs.read_process(foreground) is not None else pane_pid
    for _ in range(_MAX_SHELL_DEPTH):
        yield pid
        process = procfs.read_process(pid)
        if pid == pane_pid or process is None or process.parent_pid <= 1:
            return
        pid = process.parent_pid


def _read_record(folder: str, nonce: str | None, pid: int) -> _CheckedRecord | None:
    content = _read_private_file(f"{folder}/{pid}")
    match = None if content is None else _RECORD_PATTERN.match(content[0])
    process = procfs.read_stat(pid)
    if content is None or match is None or process is None:
        return None
    identity = (match["nonce"].decode(), int(match["pid"]), int(match["started"]))
    if identity != (nonce, pid, process.started):
        return None
    cwd, value = (match["cwd"] or b"").decode("utf-8", "replace"), int(match["value"] or 0)
    state = RecordedShellState(
        kind="prompt" if match["kind"] == b"prompt" else "command",
        shell=str(pid),
        at=content[1],
        last_exit=None if match["exit"] is None else int(match["exit"]),
        cwd=None if _CONTROLS.search(cwd) else cwd or None,
        prompt_chars=value if match["input"] == b"chars" else None,
        input_column=value if match["input"] == b"column" else None,
        is_input_empty=match["input"] == b"read" and value == procfs.count_read_bytes(pid),
    )
    return _CheckedRecord(state, process)


def _read_private_file(path: str) -> tuple[bytes, int] | None:
    """Return the content and the time of the last change; None unless it is a small file that only this user reads."""
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        # Missing, a symbolic link, or of another user.
        return None
    try:
        found = os.fstat(descriptor)
        is_private = stat.S_ISREG(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077 and found.st_nlink == 1
        if not is_private or found.st_uid != os.geteuid() or found.st_size > _MAX_FILE_BYTES:
            return None
        content = os.read(descriptor, _MAX_FILE_BYTES)
        # A shell that is just writing is not read: its next mark tells more.
        is_stable = os.fstat(descriptor).st_mtime_ns == found.st_mtime_ns
        return (content, found.st_mtime_ns) if is_stable else None
    except OSError:
        # A failing disk gives no state.
        return None
    finally:
        os.close(descriptor)
