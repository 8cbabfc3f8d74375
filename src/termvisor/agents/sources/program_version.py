"""Find the version of a running agent in the files of its program, without running it (`ProgramVersionFinder`).

In: a process and the names of the agent's packages. Out: a version, or an empty text if no file proves one. Only the
folders above the program, or above the script that a runtime runs, are read: the `package.json` of its npm package, the
folder of its Python distribution, or a version in the path itself.

Invariant: a file that was written after the process started proves nothing, because an update may have replaced it.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.clock import NS
from termvisor.model.agent.program_version import VERSION_PATTERN, parse_version
from termvisor.system import procfs

_MAX_FILE_BYTES = 64 * 1024
_MAX_FOLDERS = 6
_MAX_CACHED_FILES = 256
_MAX_DISTRIBUTIONS = 10_000
# Kernel start times have a resolution of 10 ms, and the time of the boot is computed from the uptime.
_START_TOLERANCE_NS = 2 * NS
_RUNTIME = re.compile(r"(?:node|nodejs|bun|deno|python)[\d.]*(?:\.exe)?")
_PACKAGE_FILE = "package.json"
_PACKAGES_FOLDER = "node_modules"
# Native installers: `claude/versions/2.1.325`, `cursor-agent/versions/2025.09.18-a1b2/index.js`.
_VERSIONED_PATH = re.compile(rf"/versions/({VERSION_PATTERN})(?:/[^/]+)?")
_HOMEBREW_PATH = re.compile(rf"/(?:Cellar|Caskroom)/[^/]+/({VERSION_PATTERN})(?:_\d+)?/(?!.*/{_PACKAGES_FOLDER}/)")
_DELETED = " (deleted)"


class _Package(Struct):
    name: str = ""
    version: str = ""


class ProgramVersionFinder:
    """Finder of versions. A file that did not change is read once."""

    def __init__(self) -> None:
        self._packages_by_file: dict[tuple[int, int, int], _Package] = {}

    def find_version(self, process: ProcessInfo, package_names: Sequence[str], started_at: int) -> str:
        """Return the version of a process that started at this instant; empty if it is not proven."""
        for path in _list_program_paths(process):
            is_replaced = path.endswith(_DELETED)
            real_path = path.removesuffix(_DELETED) if is_replaced else os.path.realpath(path)
            found = "" if is_replaced else self._find_package_version(real_path, package_names, started_at)
            found = found or _find_version_in_path(real_path)
            if found:
                return found if procfs.read_start_time(process.pid) == process.pid_started else ""
        return ""

    def find_installed_version(self, path: str, package_names: Sequence[str], now: int) -> str:
        """Return the version of the program at this path, which does not run; empty if it is not proven."""
        real_path = os.path.realpath(path)
        return self._find_package_version(real_path, package_names, now) or _find_version_in_path(real_path)

    def _find_package_version(self, path: str, package_names: Sequence[str], started_at: int) -> str:
        for folder in _iterate_package_folders(path):
            package = self._read_package(os.path.join(folder, _PACKAGE_FILE), started_at)
            if package is not None and is_package_of(package.name, package_names):
                return parse_version(package.version)
        return _find_distribution_version(path, package_names, started_at)

    def _read_package(self, path: str, started_at: int) -> _Package | None:
        """Return the contents of a package file; None if it is missing, too large, too new or something else."""
        try:
            # Not blocking, because anything may be in place of the file, such as a pipe.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # most folders have none
            return None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not _is_older(status, started_at):
                return None
            key = status.st_dev, status.st_ino, status.st_mtime_ns
            if key not in self._packages_by_file:
                if len(self._packages_by_file) >= _MAX_CACHED_FILES:
                    self._packages_by_file.clear()
                self._packages_by_file[key] = _parse_package(os.read(descriptor, _MAX_FILE_BYTES + 1))
            return self._packages_by_file[key]
        except OSError:  # a network file system that is gone
            return None
        finally:
            os.close(descriptor)


def is_package_of(name: str, package_names: Sequence[str]) -> bool:
    """Return True for one of the packages, or for the one with its native program, such as `<name>-linux-x64`."""
    return any(
        name == one or re.fullmatch(rf"{re.escape(one)}-(?:linux|darwin|win32|windows)-[0-9a-z-]+", name)
        for one in package_names
    )


def _list_program_paths(process: ProcessInfo) -> Iterator[str]:
    """Yield the path of the program or, if that is a runtime, of the script that it runs."""
    program = procfs.read_executable(process.pid) or (process.argv[0] if process.argv else "")
    if program.startswith("/") and not _RUNTIME.fullmatch(os.path.basename(program.removesuffix(_DELETED))):
        yield program
        return
    script = next((word for word in process.argv[1:] if word and not word.startswith("-")), "")
    if script:
        yield os.path.join(process.cwd, script)
    # A script may have replaced its command line by a title, as Claude Code does. Shells pass the path of the command.
    if command := procfs.read_environment(process.pid, ("_",)).get("_", ""):
        yield os.path.join(process.cwd, command)


def _iterate_package_folders(path: str) -> Iterator[str]:
    """Yield the folder of a program and those above it, up to the folder of all packages."""
    for _ in range(_MAX_FOLDERS):
        path = os.path.dirname(path)
        if os.path.basename(path) in (_PACKAGES_FOLDER, ""):
            return
        yield path


def _is_older(status: os.stat_result, started_at: int) -> bool:
    # The modification time is the one in the archive of the package; the change time is that of the installation.
    return status.st_ctime_ns <= started_at + _START_TOLERANCE_NS


def _parse_package(data: bytes) -> _Package:
    if len(data) > _MAX_FILE_BYTES:
        return _Package()
    try:
        return msgspec.json.decode(data, type=_Package)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The file is not under our control, and without a name it is not the package's.
        return _Package()


def _find_version_in_path(path: str) -> str:
    match = _VERSIONED_PATH.search(path)
    if match is None or match.end() != len(path):
        match = _HOMEBREW_PATH.search(path)
    return parse_version(match[1]) if match is not None else ""


def _find_distribution_version(path: str, package_names: Sequence[str], started_at: int) -> str:
    """Return the version of the Python distribution in the environment of a script `<environment>/bin/<name>`."""
    environment, folder = os.path.split(os.path.dirname(path))
    if folder != "bin" or not package_names:
        return ""
    names = "|".join(re.escape(re.sub(r"[-_.]+", "_", name)) for name in package_names)
    pattern = re.compile(rf"(?:{names})-({VERSION_PATTERN})\.dist-info", re.IGNORECASE)
    try:
        for entry in _list_distributions(os.path.join(environment, "lib")):
            match = pattern.fullmatch(entry.name)
            if match is not None and _is_older(entry.stat(follow_symlinks=False), started_at):
                return parse_version(match[1])
    except OSError:  # not an environment, or unreadable
        return ""
    return ""


def _list_distributions(library: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of `<library>/python3.*/site-packages`, at most a bounded number of each."""
    with os.scandir(library) as entries:
        folders = [os.path.join(entry.path, "site-packages") for entry in entries if entry.name.startswith("python3.")]
    for folder in folders:
        with os.scandir(folder) as entries:
            yield from islice(entries, _MAX_DISTRIBUTIONS)
