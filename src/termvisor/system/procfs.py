"""Read process information without starting a program, from /proc on Linux and libproc on macOS (untested).

Invariant: reading never raises. Exited processes, and unreadable values of other users' processes, are left out.
"""

import ctypes
import os
import struct
import sys
from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.model.health import ProcessUsage
from termvisor.system.subprocesses import run_and_capture

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Maximum size of an argv or environment that is read.
_MAX_READ_BYTES = 1 << 18
_DEAD_STATES = (b"Z", b"X")
# Fields of /proc/<pid>/stat after the name that every supported kernel has (see proc(5)).
_MIN_STAT_FIELDS = 20
_ARG_START = 45
_SAMPLE_WINDOW_S = 60.0


class ProcessEntry(Struct, frozen=True):
    """One process in a listing. Pid and start time together identify it."""

    pid: int
    parent_pid: int
    session_id: int
    started: int
    """Clock ticks since boot (macOS: seconds since 1970)."""
    name: str
    image: int = 0
    """Address of its argv; 0 if unknown. A new address means that the process has called exec."""


class ProcessStat(Struct, frozen=True):
    """Values of one process that change while it runs (Linux only)."""

    state: str
    group: int
    terminal: int
    """Device number of its controlling terminal; 0 if it has none. See `split_device_number`."""
    foreground_group: int
    """Foreground process group of that terminal; -1 if there is none."""
    cpu_ticks: int
    started: int


def list_processes() -> list[ProcessEntry]:
    """Return all running processes, excluding zombies."""
    return [process for pid in _list_pids() if (process := read_process(pid)) is not None]


def read_process(pid: int) -> ProcessEntry | None:
    """Return one process, or None if it has exited or is a zombie."""
    return _read_process_from_proc(pid) if sys.platform == "linux" else _read_process_from_libproc(pid)


def read_stat(pid: int) -> ProcessStat | None:
    """Return the current values of a process, or None if it has exited, is a zombie, or the system is not Linux."""
    if (found := _read_stat_fields(pid)) is None:
        return None
    _, fields = found
    return ProcessStat(
        state=fields[0].decode("ascii", "replace"),
        group=int(fields[2]),
        terminal=int(fields[4]),
        foreground_group=int(fields[5]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        started=int(fields[19]),
    )


def split_device_number(number: int) -> tuple[int, int]:
    """Return the major and minor numbers of a device number, as encoded in /proc/<pid>/stat."""
    return (number >> 8) & 0xFFF, (number & 0xFF) | ((number >> 12) & 0xFFF00)


def read_argv(pid: int) -> tuple[str, ...]:
    """Return the command line; empty if it cannot be read."""
    if sys.platform == "linux":
        words = read_file(f"/proc/{pid}/cmdline").split(b"\0")
        return tuple(map(os.fsdecode, words[:-1] if words[-1] == b"" else words))
    return _read_procargs(pid)[0]


def read_executable(pid: int) -> str:
    """Return the path of the running program, with ` (deleted)` appended if it was removed; empty if unreadable."""
    if sys.platform != "linux":
        room = ctypes.create_string_buffer(4096)
        count = ctypes.CDLL(None).proc_pidpath(pid, room, ctypes.c_uint32(4096))
        return os.fsdecode(room.raw[: max(0, count)])
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        # The process has exited, or belongs to another user.
        return ""


def read_cwd(pid: int) -> str:
    """Return the working directory; empty if it cannot be read."""
    if sys.platform != "linux":
        # ``struct proc_vnodepathinfo``: the path follows 152 bytes of vnode data.
        return os.fsdecode(_query_pid_info(pid, 9, 2352)[152:1176].partition(b"\0")[0])
    try:
        return os.readlink(f"/proc/{pid}/cwd").removesuffix(" (deleted)")
    except OSError:
        # The process has exited, or belongs to another user.
        return ""


def read_environment(pid: int, names: Iterable[str]) -> dict[str, str]:
    """Return the named variables of a process's environment. The others may hold secrets and are not kept."""
    wanted = {os.fsencode(name) for name in names}
    if not wanted:
        return {}
    block = read_file(f"/proc/{pid}/environ").split(b"\0") if sys.platform == "linux" else _read_procargs(pid)[1]
    pairs = (line.partition(b"=") for line in block)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs if name in wanted}


def _list_pids() -> Iterator[int]:
    if sys.platform == "linux":
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())
    else:
        yield from _list_pids_from_libproc()


def _read_process_from_proc(pid: int) -> ProcessEntry | None:
    if (found := _read_stat_fields(pid)) is None:
        return None
    name, fields = found
    return ProcessEntry(
        pid=pid,
        parent_pid=int(fields[1]),
        session_id=int(fields[3]),
        started=int(fields[19]),
        name=name.decode("utf-8", "replace"),
        image=int(fields[_ARG_START]) if len(fields) > _ARG_START else 0,
    )


def _read_stat_fields(pid: int) -> tuple[bytes, list[bytes]] | None:
    """Return the name and the fields after it. proc(5) counts from 1, so its field n has index n - 3."""
    # The name may contain spaces and parentheses, so it ends at the last parenthesis.
    head, _, rest = read_file(f"/proc/{pid}/stat").rpartition(b")")
    fields = rest.split()
    if len(fields) < _MIN_STAT_FIELDS or fields[0] in _DEAD_STATES:
        return None
    return head.partition(b"(")[2], fields


def read_file(path: str) -> bytes:
    """Return a whole file of /proc; empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # the process has exited, or belongs to another user
        return b""
    try:
        data = os.read(descriptor, _MAX_READ_BYTES)
        while 0 < len(data) < _MAX_READ_BYTES and (more := os.read(descriptor, _MAX_READ_BYTES)):
            data += more
    except OSError:  # the process exited while it was read
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
    """Parse ``struct proc_bsdinfo``, in which status 5 means a zombie."""
    data = _query_pid_info(pid, 3, 136)
    if len(data) < 136 or struct.unpack_from("I", data, 4)[0] == 5:
        return None
    try:
        session = os.getsid(pid)
    except OSError:
        # It exited after its information was read.
        return None
    name = (data[64:96].rstrip(b"\0") or data[48:64].rstrip(b"\0")).decode("utf-8", "replace")
    (parent,), (started,) = struct.unpack_from("I", data, 16), struct.unpack_from("Q", data, 120)
    return ProcessEntry(pid=pid, parent_pid=parent, session_id=session, started=started, name=name)


def _query_pid_info(pid: int, kind: int, size: int) -> bytes:
    room = ctypes.create_string_buffer(size)
    count = ctypes.CDLL(None).proc_pidinfo(pid, kind, ctypes.c_uint64(0), room, size)
    return room.raw[: max(0, count)]


def _read_procargs(pid: int) -> tuple[tuple[str, ...], list[bytes]]:
    """Parse KERN_PROCARGS2: argument count, program path with padding, arguments, environment."""
    room, size = ctypes.create_string_buffer(_MAX_READ_BYTES), ctypes.c_size_t(_MAX_READ_BYTES)
    names = (ctypes.c_int * 3)(1, 49, pid)
    if ctypes.CDLL(None).sysctl(names, 3, room, ctypes.byref(size), None, ctypes.c_size_t(0)) != 0 or size.value < 4:
        return (), []
    (count,) = struct.unpack_from("i", room.raw, 0)
    words = room.raw[4 : size.value].partition(b"\0")[2].lstrip(b"\0").split(b"\0")
    return tuple(map(os.fsdecode, words[:count])), words[count:]


class ProcessUsageSampler:
    """CPU percentage of processes over the last minute, computed from the samples that callers request."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=256)
        self._pid = 0

    def sample_usage(self, pid: int, monotonic: float) -> ProcessUsage | None:
        """Return the current usage, or None if the process does not exist."""
        usage = _read_usage_from_proc(pid) if sys.platform == "linux" else _read_usage_from_ps(pid)
        if usage is None:
            return None
        # A restarted recorder has another pid, and its CPU time starts at zero again.
        if pid != self._pid:
            self._pid = pid
            self._samples.clear()
        rss, cpu = usage
        self._samples.append((monotonic, cpu))
        while len(self._samples) > 2 and monotonic - self._samples[0][0] > _SAMPLE_WINDOW_S:
            self._samples.popleft()
        since, cpu_before = self._samples[0]
        percent = 100 * (cpu - cpu_before) / (monotonic - since) if monotonic > since else 0.0
        return ProcessUsage(
            pid=pid,
            rss_bytes=rss,
            cpu_seconds=round(cpu, 2),
            cpu_percent=round(percent, 2),
            free_descriptors=count_free_descriptors(pid),
        )


def _read_usage_from_proc(pid: int) -> tuple[int, float] | None:
    """Return the resident memory in bytes and the CPU time in seconds."""
    process, sizes = read_stat(pid), read_file(f"/proc/{pid}/statm").split()
    if process is None or not sizes:
        return None
    return int(sizes[1]) * os.sysconf("SC_PAGE_SIZE"), process.cpu_ticks / TICKS_PER_SECOND


def _read_usage_from_ps(pid: int) -> tuple[int, float] | None:
    status, out, _ = run_and_capture(["ps", "-o", "rss=,cputime=", "-p", str(pid)])
    columns = out.split()
    if status != 0 or len(columns) != 2:
        return None
    seconds = 0.0
    for part in columns[1].replace(b"-", b":").split(b":"):
        seconds = seconds * 60 + float(part)
    return int(columns[0]) * 1024, seconds


def read_boot_id() -> str:
    """Return what identifies this boot of the machine; empty if that is unknown."""
    return read_file("/proc/sys/kernel/random/boot_id").decode("ascii", "replace").strip()


def read_start_time(pid: int) -> int:
    """Return the start in clock ticks since boot (macOS: seconds since 1970); 0 if the process has exited.

    A zombie counts as exited.
    """
    process = read_process(pid)
    return 0 if process is None else process.started


def is_process_running(pid: int, started: int, boot: str = "") -> bool:
    """Return True if this process still runs, and no other with its number. A ``boot`` that is unknown counts for any.

    A process id and its start in ticks may repeat after a reboot.
    """
    return read_start_time(pid) == started and (not boot or read_boot_id() in ("", boot))


def count_read_bytes(pid: int) -> int | None:
    """Return how many bytes a process has read with read() and the like since it started; None if unknown."""
    words = read_file(f"/proc/{pid}/io").split()
    return int(words[1]) if words[:1] == [b"rchar:"] else None


def count_free_descriptors(pid: int) -> int | None:
    """Return how many more files a process may open, or None if that is unknown."""
    try:
        used = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        # Gone, another user's, or no procfs.
        return None
    for line in read_file(f"/proc/{pid}/limits").splitlines():
        if line.startswith(b"Max open files"):
            soft = line.split()[3]
            return int(soft) - used if soft.isdigit() else None
    return None


def list_children(pid: int) -> list[int] | None:
    """Return the child processes, including zombies, in no order; None if they cannot be read."""
    children: list[bytes] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                children += file.read().split()
    except OSError:  # it has exited, or this is not Linux
        return None
    return [int(child) for child in children]


def count_children(pid: int) -> int | None:
    """Return the number of running child processes; None if it cannot be read."""
    children = list_children(pid)
    return None if children is None else sum(read_start_time(child) > 0 for child in children)


def read_run_count(pid: int) -> int | None:
    """Return how often the kernel has run the process (its main thread); None if that is unknown.

    A process whose count did not change has done nothing since.
    """
    fields = read_file(f"/proc/{pid}/schedstat").split()
    return int(fields[2]) if len(fields) == 3 else None


def has_terminal(pid: int) -> bool:
    """Return True if the process has a controlling terminal, wherever its output goes."""
    if sys.platform == "linux":
        process = read_stat(pid)
        return process is not None and process.terminal != 0
    # ``e_tdev`` of ``struct proc_bsdinfo``; -1 without a terminal.
    data = _query_pid_info(pid, 3, 136)
    return len(data) == 136 and struct.unpack_from("i", data, 108)[0] not in (0, -1)
