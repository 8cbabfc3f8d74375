"""What the kernel tells of processes, without starting a program: Linux /proc, and libproc on macOS (untested).

Reading never fails: what is gone or not ours to see is left out.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator

from msgspec import Struct

_READ_BYTES = 1 << 18
"""Bytes that are read of an argv or an environment."""


class ProcessEntry(Struct, frozen=True):
    """One process as a pass over all of them sees it. With its start, a pid names one life."""

    pid: int
    parent_pid: int
    session_id: int
    started: int
    """Clock ticks since boot (macOS: seconds since 1970)."""
    name: str
    image: int = 0
    """Where its argv lies in memory; another place means that it became another program. 0 where that is not told."""


def list_processes() -> list[ProcessEntry]:
    """All processes that live, in one pass; zombies do not live."""
    return [found for pid in _list_pids() if (found := read_process(pid)) is not None]


def read_process(pid: int) -> ProcessEntry | None:
    """None when no such process lives."""
    return _read_process_from_proc(pid) if sys.platform == "linux" else _read_process_from_libproc(pid)


def read_argv(pid: int) -> tuple[str, ...]:
    if sys.platform == "linux":
        words = _read_file(f"/proc/{pid}/cmdline").split(b"\0")
        return tuple(map(os.fsdecode, words[:-1] if words[-1] == b"" else words))
    return _read_procargs(pid)[0]


def read_cwd(pid: int) -> str:
    """Empty where it is not ours to see."""
    if sys.platform != "linux":
        return _read_cwd_from_libproc(pid)
    try:
        return os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)")
    except OSError:
        return ""


def read_environment(pid: int, names: Iterable[str]) -> dict[str, str]:
    """Of its environment only these; the rest may hold secrets and is not kept."""
    wanted = {os.fsencode(name) for name in names}
    if not wanted:
        return {}
    block = _read_file(f"/proc/{pid}/environ").split(b"\0") if sys.platform == "linux" else _read_procargs(pid)[1]
    pairs = (line.partition(b"=") for line in block)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name in wanted}


def _list_pids() -> Iterator[int]:
    if sys.platform == "linux":
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())
    else:
        yield from _list_pids_from_libproc()


def _read_process_from_proc(pid: int) -> ProcessEntry | None:
    head, _, rest = _read_file(f"/proc/{pid}/stat").rpartition(b")")
    fields = rest.split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return ProcessEntry(
        pid=pid,
        parent_pid=int(fields[1]),
        session_id=int(fields[3]),
        started=int(fields[19]),
        name=head.partition(b"(")[2].decode("utf-8", "replace"),
        image=int(fields[45]) if len(fields) > 45 else 0,
    )


def _read_file(path: str) -> bytes:
    """Whole files of /proc come in one read, up to what a buffer holds; empty when we may not."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = os.read(descriptor, _READ_BYTES)
        while 0 < len(data) < _READ_BYTES and (more := os.read(descriptor, _READ_BYTES)):
            data += more
    except OSError:  # it ended while we read
        return b""
    finally:
        os.close(descriptor)
    return data


def _list_pids_from_libproc() -> list[int]:
    library = ctypes.CDLL(None)
    room = (ctypes.c_int * (library.proc_listallpids(None, 0) + 64))()
    count = library.proc_listallpids(room, ctypes.sizeof(room))
    return [pid for pid in room[: max(0, count)] if pid > 0]


def _read_process_from_libproc(pid: int) -> ProcessEntry | None:
    """From ``struct proc_bsdinfo``: status 5 is a zombie."""
    data = _query_pid_info(pid, 3, 136)
    if len(data) < 136 or struct.unpack_from("I", data, 4)[0] == 5:
        return None
    try:
        session = os.getsid(pid)
    except OSError:
        return None
    name = (data[64:96].rstrip(b"\0") or data[48:64].rstrip(b"\0")).decode("utf-8", "replace")
    (parent,), (started,) = struct.unpack_from("I", data, 16), struct.unpack_from("Q", data, 120)
    return ProcessEntry(pid=pid, parent_pid=parent, session_id=session, started=started, name=name)


def _read_cwd_from_libproc(pid: int) -> str:
    """From ``struct proc_vnodepathinfo``: the path stands behind 152 bytes about the folder."""
    return os.fsdecode(_query_pid_info(pid, 9, 2352)[152:1176].partition(b"\0")[0])


def _query_pid_info(pid: int, kind: int, size: int) -> bytes:
    room = ctypes.create_string_buffer(size)
    count = ctypes.CDLL(None).proc_pidinfo(pid, kind, ctypes.c_uint64(0), room, size)
    return room.raw[: max(0, count)]


def _read_procargs(pid: int) -> tuple[tuple[str, ...], list[bytes]]:
    """KERN_PROCARGS2: how many arguments, the program's path and its padding, the arguments, the environment."""
    room, size = ctypes.create_string_buffer(_READ_BYTES), ctypes.c_size_t(_READ_BYTES)
    names = (ctypes.c_int * 3)(1, 49, pid)
    if ctypes.CDLL(None).sysctl(names, 3, room, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0 or size.value < 4:
        return (), []
    (count,) = struct.unpack_from("i", room.raw, 0)
    words = room.raw[4 : size.value].partition(b"\0")[2].lstrip(b"\0").split(b"\0")
    return tuple(map(os.fsdecode, words[:count])), words[count:]
