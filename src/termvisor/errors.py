"""Every error once, in a tree by what the caller can do about it.

An error has a stable snake_case code, a message, details for programs, a hint (what to do next) and an exit status.
Expected outcomes (a Gap, a Verdict) are values, not exceptions.
"""

from collections.abc import Mapping
from typing import ClassVar

ErrorDetail = str | int | float | bool | None | list[str]


class VisorError(Exception):
    """The root. Raise one of the leaves."""

    code: ClassVar[str] = "internal"
    exit_status: ClassVar[int] = 70
    hint: str = "This is a bug in Termvisor. Please report it with the output of `visor logs`."

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, ErrorDetail] | None = None):
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})
        if hint is not None:
            self.hint = hint


class BadRequest(VisorError):
    """Fix the call."""

    code = "invalid_args"
    exit_status = 2
    hint = "See `visor help` for the commands and their options."


class UnknownCommand(BadRequest):
    """There is no such command or operation."""

    code = "unknown_command"


class ConfigError(BadRequest):
    """A setting or the config file is wrong."""

    code = "config_error"
    exit_status = 78
    hint = "Run `visor config validate` and mend the named line."


class ConfirmationRequired(BadRequest):
    """A person should see ``shown`` first; nothing was done. On a terminal the command line shows it and asks."""

    code = "unconfirmed"
    hint = "Look at it, then say it again with --yes."

    def __init__(
        self,
        message: str,
        *,
        shown: str = "",
        hint: str | None = None,
        details: Mapping[str, ErrorDetail] | None = None,
    ):
        super().__init__(message, hint=hint, details={**(details or {}), **({"shown": shown} if shown else {})})

    @property
    def shown(self) -> str:
        """What the change would do, in lines; it travels in the details."""
        return str(self.details.get("shown", ""))


class InvalidCursor(BadRequest):
    """The cursor is older than what is kept, or not ours; ``details.oldest`` is the oldest valid one."""

    code = "invalid_cursor"
    hint = "Start again from the cursor in `details.oldest`."


class Unsupported(BadRequest):
    """This backend, platform or version cannot do that."""

    code = "unsupported"
    exit_status = 69
    hint = "See the message for what is supported."


class NotUndoable(BadRequest):
    """It was done, and nothing takes it back."""

    code = "no_inverse"
    hint = "`visor undo --help` says what can be taken back; `visor audit` what was done."


class NotFound(VisorError):
    """What was named does not exist."""

    code = "pane_not_found"
    exit_status = 4
    hint = "`visor list-panes` shows the panes and how to name them."


class CommandNotFound(NotFound):
    """The pane exists, but no such command of it is known."""

    code = "command_not_found"
    hint = "`visor list-commands` shows them; a shell tells them once `visor setup shell` was run."


class AgentNotFound(NotFound):
    """The pane exists, but no agent is in it, or it ended."""

    code = "agent_not_found"
    hint = "`visor panes` shows which panes have one."


class EventNotFound(NotFound):
    """There is no such detection, or it is no longer kept."""

    code = "event_not_found"
    hint = "`visor events --type '*'` lists what rules found."


class AmbiguousReference(VisorError):
    """The reference fits more than one; nothing was done."""

    code = "ref_ambiguous"
    exit_status = 4
    hint = "Use the number in the first column of `visor list-panes`."


class Refused(VisorError):
    """Policy says no."""

    code = "policy_denied"
    exit_status = 77
    hint = "`visor policy explain` says which rule decided."


class NeedsApproval(VisorError):
    """A person must say yes first."""

    code = "needs_approval"
    exit_status = 77
    hint = "`visor inbox` shows the question."


class Conflict(VisorError):
    """Somebody else holds it."""

    code = "reserved"
    exit_status = 75
    hint = "Wait, or ask the holder named in the message."


class StaleSnapshot(Conflict):
    """What was seen is no longer so; nothing was done."""

    code = "stale_snapshot"
    hint = "Look again, then decide again."


class Unavailable(VisorError):
    """Try later, or start what is missing."""

    code = "unavailable"
    exit_status = 69
    hint = "`visor doctor` says what is missing."


class MuxError(Unavailable):
    """The terminal multiplexer is missing, or did not answer."""

    code = "mux_error"
    hint = "Is tmux installed and running? `visor doctor` tells."


class StorageError(Unavailable):
    """The database or the raw log cannot be read or written."""

    code = "storage_error"
    exit_status = 74
    hint = "`visor doctor` checks the data folder; nothing was deleted."


class NewerDatabase(StorageError):
    """The database was written by a newer Termvisor; it was not touched."""

    code = "newer_database"
    hint = "Upgrade Termvisor, or set VISOR_DATA_DIR to another folder."


class TimedOut(VisorError):
    """It did not happen in time."""

    code = "timeout"
    exit_status = 124
    hint = "Allow more time with --timeout-secs."


class Diverged(VisorError):
    """A replayed run does not fit its own journal."""

    code = "workflow_error"
    exit_status = 70
    hint = "`visor workflow history` shows the step."


class NotDone(VisorError):
    """A step of a run was not done; ``details`` say how and why."""

    code = "step_failed"
    exit_status = 70
    hint = "`visor workflow history` shows the step."

    @property
    def status(self) -> str:
        """`denied`, `refused`, `expired` or `failed`."""
        return str(self.details.get("status", "failed"))

    @property
    def why(self) -> str:
        """The reason, as a stable code: `human_typing`, `reserved`, …"""
        return str(self.details.get("why", ""))


class WorkflowNotFound(NotFound):
    """There is no such workflow, or no such run."""

    code = "workflow_not_found"
    hint = "`visor workflow list` shows the workflows, `visor workflow status` the runs."


class InternalError(VisorError):
    """Our bug."""


def list_error_classes() -> list[type[VisorError]]:
    """Every error class that can be raised, in the order of this file."""
    found: list[type[VisorError]] = []
    todo: list[type[VisorError]] = [VisorError]
    while todo:
        cls = todo.pop(0)
        found.append(cls)
        todo = cls.__subclasses__() + todo
    return found[1:]
