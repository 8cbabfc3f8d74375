"""Simulate a full disk: by a file size limit on processes, or by a small file system."""

import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_UNLIMITED = resource.RLIM_INFINITY


@contextmanager
def block_file_growth(*pids: int) -> Iterator[None]:
    """Prevent these processes from growing any file."""
    before = {pid: resource.prlimit(pid, resource.RLIMIT_FSIZE) for pid in pids}
    for pid, (_, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        for pid, limits in before.items():
            if Path(f"/proc/{pid}").exists():
                resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)


class SmallDisk:
    """A small file system at ``path``; always unmounted."""

    def __init__(self, path: str):
        self.path = path

    def fill(self) -> None:
        """Fill it to the last byte."""
        with open(f"{self.path}/ballast", "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue

    def remove_ballast(self) -> None:
        Path(f"{self.path}/ballast").unlink()

    def remount(self, how: str) -> None:
        _run_checked("mount", "-o", f"remount,{how}", self.path)


@contextmanager
def mount_small_disk(path: str, size: str) -> Iterator[SmallDisk]:
    Path(path).mkdir(mode=0o700)
    _run_checked("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", path)
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "--lazy", path], check=False)


def _run_checked(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(
            f"{' '.join(argv)}: {done.stderr.strip()}. This test mounts a small file system: run it as root, in a "
            "container with --cap-add SYS_ADMIN, or as `unshare --user --map-root-user --mount make test-live`."
        )
