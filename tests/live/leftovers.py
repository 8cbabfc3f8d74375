"""What is still running of an instance: every process of ours carries its runtime folder in its environment."""

import os


def processes(runtime_dir: str) -> dict[int, str]:
    """Command lines by pid; the programs in panes are nobody's but the user's and are not asked for."""
    mark = f"VISOR_RUNTIME_DIR={runtime_dir}\0".encode()
    found = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        environ, command = _read(pid, "environ"), _read(pid, "cmdline")
        if mark in environ and command:
            found[int(pid)] = command.replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return found


def _read(pid: str, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it ended meanwhile, or is not ours
        return b""
