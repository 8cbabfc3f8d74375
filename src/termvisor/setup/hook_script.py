"""The one small program that agents' hooks run, private and in our data folder: `tell` an event, or `ask`."""

import os
import shlex
import sys

from termvisor.errors import Unavailable
from termvisor.model.agent.hooks import MARKER, HookedAgent
from termvisor.settings import Places, make_private
from termvisor.system import atomic_write as whole_file

_TEMPLATE = os.path.join(os.path.dirname(__file__), "snippets", "hook.sh")


def script(places: Places) -> bytes:
    """As it would be written now."""
    with open(_TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    for name, value in (
        ("@RUNTIME_DIR@", places.runtime_dir),
        ("@PYTHON@", sys.executable),
        ("@SPOOL@", places.spool_dir),
    ):
        text = text.replace(name, shlex.quote(value))
    return text.encode("utf-8", "surrogateescape")


def install(places: Places) -> None:
    """Nothing is written where it stands there already."""
    wanted = script(places)
    try:
        make_private(places.data_dir)
        make_private(places.spool_dir)
        if found(places) != wanted:
            whole_file.write(places.hook_file, wanted, None)
    except OSError as error:
        raise Unavailable(f"cannot write {places.hook_file}: {error.strerror}; nothing was changed") from error


def found(places: Places) -> bytes | None:
    """What stands there; None for nothing."""
    try:
        with open(places.hook_file, "rb") as file:
            return file.read()
    except OSError:
        return None


def tells(places: Places, agent: HookedAgent, event: str) -> str:
    """The command that an agent runs at an event. It ends well even where the script is gone."""
    return f"sh {shlex.quote(places.hook_file)} tell {agent} {event} $PPID 2>/dev/null || : {MARKER}"


def asks(places: Places, agent: HookedAgent) -> str:
    return f"sh {shlex.quote(places.hook_file)} ask {agent} 2>/dev/null || : {MARKER}"
