"""Build and install the script that agent hooks run: `tell` spools an event, `ask` requests permission."""

import os
import shlex
import sys

from termvisor.errors import Unavailable
from termvisor.model.agent.hooks import HOOK_COMMAND_MARKER, HookedAgent
from termvisor.settings import Paths
from termvisor.system import files
from termvisor.system.files import check_own_folder, make_private_folder

_TEMPLATE_PATH = os.path.join(os.path.dirname(__file__), "snippets", "hook.sh")


def build_script(paths: Paths) -> bytes:
    """Return the script, filled in with this instance's paths."""
    with open(_TEMPLATE_PATH, encoding="utf-8") as file:
        text = file.read()
    for name, value in (
        ("@RUNTIME_DIR@", paths.runtime_dir),
        ("@PYTHON@", sys.executable),
        ("@SPOOL@", paths.spool_dir),
    ):
        text = text.replace(name, shlex.quote(value))
    # A path may hold bytes that are not UTF-8.
    return text.encode("utf-8", "surrogateescape")


def install(paths: Paths) -> None:
    """Write the script if it is missing or outdated. Raises Unavailable."""
    script = build_script(paths)
    try:
        check_own_folder(paths.data_dir)
        make_private_folder(paths.data_dir)
        make_private_folder(paths.spool_dir)
        if read_installed_script(paths) != script:
            files.write_atomically(paths.hook_file, script, None)
    except OSError as error:
        raise Unavailable(f"cannot write {paths.hook_file}: {error.strerror}; nothing was changed") from error


def read_installed_script(paths: Paths) -> bytes | None:
    """Return the installed script; None if it is missing or unreadable."""
    try:
        with open(paths.hook_file, "rb") as file:
            return file.read()
    except OSError:
        return None


def build_tell_command(paths: Paths, agent: HookedAgent, event: str) -> str:
    """Return the hook command for an event. It exits 0 even without the script, so it never fails the agent."""
    return f"sh {shlex.quote(paths.hook_file)} tell {agent} {event} $PPID 2>/dev/null || : {HOOK_COMMAND_MARKER}"


def build_ask_command(paths: Paths, agent: HookedAgent) -> str:
    return f"sh {shlex.quote(paths.hook_file)} ask {agent} 2>/dev/null || : {HOOK_COMMAND_MARKER}"
