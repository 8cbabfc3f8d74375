"""The folder of a job: the command for the wrapper, the result that the wrapper leaves, and the FIFO between them.

``<data>/jobs/<id>`` with mode 0700. The spec file is removed by the wrapper as soon as it is read; the key in it, which
signs the result and the end mark, is kept in a file of its own for the next daemon.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from termvisor.errors import StorageError
from termvisor.jobs import wrapper
from termvisor.model.ids import JobId
from termvisor.model.job import JobEnd, JobSpec
from termvisor.system.procfs import read_boot_id, read_start_time

_KEY_FILE = "key"
_KEY_BYTES = 16


class RecordedResult(Struct, frozen=True, kw_only=True):
    """What the wrapper wrote last: its state, its process and, once finished, the end."""

    state: str
    pid: int = 0
    child: int = 0
    boot: str = ""
    end: JobEnd | None = None
    started_at: int = 0


class JobFolder:
    """The folder of one job, which may be gone. ``linger`` is how long the wrapper waits for an acknowledgement."""

    def __init__(self, folder: str, job: JobId):
        self.path, self.job = f"{folder}/{job}", job
        self._go = -1
        self._key = b""

    def prepare(self, spec: JobSpec, linger: float) -> None:
        """Write everything that the wrapper needs. Raises StorageError."""
        self._key = os.urandom(_KEY_BYTES)
        try:
            self.remove()
            os.makedirs(self.path, 0o700)
            content = wrapper.encode_spec(
                str(self.job),
                self._key,
                argv=[os.fsencode(word) for word in spec.argv],
                cwd=os.fsencode(spec.cwd),
                env={os.fsencode(name): os.fsencode(value) for name, value in spec.env.items()},
                is_interactive=spec.is_interactive,
                linger=linger,
            )
            self._write(wrapper.SPEC_FILE, content)
            self._write(_KEY_FILE, self._key)
            # Written in full now: later the disk may be full.
            self._write(wrapper.RESULT_FILE, bytes(wrapper.RESULT_BYTES))
            os.mkfifo(f"{self.path}/{wrapper.GO_FILE}", 0o600)
        except OSError as error:
            self.remove()
            raise StorageError(f"the job's files cannot be written: {error.strerror}") from error

    @property
    def command(self) -> tuple[str, ...]:
        """The program that the terminal runs."""
        # -I: neither the user's environment nor the working directory changes what is imported.
        return (sys.executable, "-ISEB", wrapper.__file__, self.path)

    def begin(self) -> None:
        """Let the wrapper start the command."""
        self._write_word(wrapper.BEGIN)

    def acknowledge(self) -> None:
        """Let the wrapper exit: everything that it printed is in the log."""
        self._write_word(wrapper.ACKNOWLEDGE)
        self.close()

    def _write_word(self, word: bytes) -> None:
        # The folder may have been removed by hand; the wrapper then gives up by itself.
        with suppress(OSError):
            if self._go < 0:
                flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC
                self._go = os.open(f"{self.path}/{wrapper.GO_FILE}", flags)
            os.write(self._go, word)

    def read_result(self) -> RecordedResult | None:
        """Return what the wrapper recorded; None if it has not started, or if the file is damaged or gone."""
        with suppress(OSError, ValueError):
            with open(f"{self.path}/{wrapper.RESULT_FILE}", "rb") as file:
                mac, _, words = file.read(wrapper.RESULT_BYTES).rstrip().partition(b" ")
            if words and mac.decode() == wrapper.compute_mac(self._read_key(), words):
                return _parse_result(dict(word.split("=", 1) for word in words.decode().split()))
        return None

    def has_started_reading(self) -> bool:
        """Return True if the wrapper has taken the command."""
        return not os.path.exists(f"{self.path}/{wrapper.SPEC_FILE}")

    def find_end_mark(self, data: bytes) -> tuple[int, int] | None:
        """Return where our end mark begins and ends; None if it is not there. Marks of other programs are output."""
        at = data.find(wrapper.MARK_PREFIX)
        while at >= 0:
            start = at + len(wrapper.MARK_PREFIX)
            stop = data.find(wrapper.MARK_END, start)
            words, _, mac = data[start:stop].rpartition(b";")
            if stop >= 0 and mac and mac.decode("ascii", "replace") == self._sign(words):
                return at, stop + len(wrapper.MARK_END)
            at = data.find(wrapper.MARK_PREFIX, start)
        return None

    def _sign(self, words: bytes) -> str:
        is_own = words.startswith(str(self.job).encode() + b";")
        try:
            return wrapper.compute_mac(self._read_key(), b"end " + words) if is_own else ""
        except OSError:  # no wrapper, or its folder was removed
            return ""

    def close(self) -> None:
        if self._go >= 0:
            os.close(self._go)
            self._go = -1

    def remove(self) -> None:
        self.close()
        with suppress(OSError):  # gone already
            for name in os.listdir(self.path):
                os.unlink(f"{self.path}/{name}")
            os.rmdir(self.path)

    def _read_key(self) -> bytes:
        if not self._key:
            with open(f"{self.path}/{_KEY_FILE}", "rb") as file:
                self._key = file.read(64)
        return self._key

    def _write(self, name: str, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(f"{self.path}/{name}", flags, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)


def _parse_result(fields: Mapping[str, str]) -> RecordedResult:
    end = None
    if fields["state"] == "finished":
        end = JobEnd(
            code=int(fields["code"]),
            signal=int(fields["sig"]),
            errno=int(fields.get("errno", 0)),
            started_at=int(fields["t0"]),
            finished_at=int(fields["t1"]),
            user_s=int(fields["user"]) / 1e6,
            system_s=int(fields["sys"]) / 1e6,
            max_rss=int(fields["rss"]) * 1024,
        )
    return RecordedResult(
        state=fields["state"],
        pid=int(fields["pid"]),
        child=int(fields.get("child", 0)),
        boot=fields["boot"],
        started_at=int(fields.get("t0", 0)),
        end=end,
    )


def is_wrapper_alive(pid: int, started: int, boot: str) -> bool:
    """Return True if this process, of this boot, still runs: a process id alone comes back soon."""
    return bool(pid) and boot in ("", "-", read_boot_id()) and read_start_time(pid) == started


def list_job_ids(folder: str) -> list[JobId]:
    """Return the jobs that have a folder."""
    try:
        return sorted(JobId(int(name)) for name in os.listdir(folder) if name.isdecimal())
    except OSError:  # no job has run yet
        return []
