"""All error classes, in a tree ordered by what the caller can do about them.

Each class has a stable snake_case code, an exit status and a default hint (what to do next). An instance adds a message
and details for programs. The first docstring line of a class is its text in the errors reference.
Expected outcomes (a Gap, a Verdict) are values, not exceptions.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

ErrorDetail = str | int | float | bool | None | list[str]
_ERROR_LINES = re.compile(r"^visor: ([a-z_]+): (.*)\n(.*)", re.MULTILINE)


class VisorError(Exception):
    """Base class of all errors. Raise a subclass."""

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
    """The request is invalid; correct the arguments."""

    code = "invalid_args"
    exit_status = 2
    hint = "Run `visor help <command>` for its arguments and options."


class UnknownCommand(BadRequest):
    """No command or operation has this name."""

    code = "unknown_command"


class ConfigError(BadRequest):
    """A setting or the config file is invalid."""

    code = "config_error"
    exit_status = 78
    hint = "Fix the reported line: `visor config edit` opens the config file, and checks it."


class ConfirmationRequired(BadRequest):
    """The change must be confirmed; nothing was changed. In a terminal the CLI shows ``shown`` and prompts."""

    code = "unconfirmed"
    hint = "Review the change, then repeat the command with --yes."

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
        """Return the preview of the change, one or more lines. Stored in the details, so that it reaches the client."""
        return str(self.details.get("shown", ""))


class InvalidCursor(BadRequest):
    """The cursor is malformed or older than the stored data; ``details.oldest`` is the oldest valid one."""

    code = "invalid_cursor"
    hint = "Restart from the cursor in `details.oldest`."


class Unsupported(BadRequest):
    """This backend, platform or version does not support the operation."""

    code = "unsupported"
    exit_status = 69
    hint = "The message says what is supported."


class NotUndoable(BadRequest):
    """The action was executed and cannot be undone."""

    code = "no_inverse"
    hint = "`visor undo --help` lists what can be undone; `visor audit` shows the executed actions."


class NotFound(VisorError):
    """The named pane does not exist."""

    code = "pane_not_found"
    exit_status = 4
    hint = "Run `visor list-panes` to see all panes and their ids."


class ObjectNotFound(NotFound):
    """The named session, rule, account, mute, file or tmux server does not exist."""

    code = "not_found"
    hint = "Check the name; the message says what it should name."


class CommandNotFound(NotFound):
    """The pane exists, but the command is not recorded for it."""

    code = "command_not_found"
    hint = "`visor list-commands` lists recorded commands; `visor setup shell` enables recording in your shell."


class AgentNotFound(NotFound):
    """The pane exists, but no agent runs in it."""

    code = "agent_not_found"
    hint = "`visor panes` shows which panes run an agent."


class EventNotFound(NotFound):
    """The detection does not exist or was deleted by retention."""

    code = "event_not_found"
    hint = "`visor events --type '*'` lists the stored detections."


class AmbiguousReference(VisorError):
    """The reference matches more than one object; nothing was executed."""

    code = "ref_ambiguous"
    exit_status = 4
    hint = "Use the id from the first column of `visor list-panes`."


class Refused(VisorError):
    """The policy, or a user whom it asked, denies the action."""

    code = "policy_denied"
    exit_status = 77
    hint = "`visor policy explain` shows which rule decided."


class NotPermitted(Refused):
    """The settings, or the kind of caller, forbid this, whatever the policy says."""

    code = "not_permitted"
    hint = "The message says who may do it, and where."


def build_person_required_error(what: str, doubt: str, command: str) -> NotPermitted:
    """Build the error for a caller that does what only a person may do; ``doubt`` says why it is none."""
    message = f"{what} must come from an interactive terminal" + (f": {doubt}" if doubt else "")
    hint = f"Run `{command}` in a terminal window of yours; `visor help approve` says who counts as a person."
    return NotPermitted(message, hint=hint, details={"doubt": doubt} if doubt else {})


class NeedsApproval(VisorError):
    """The action requires approval."""

    code = "needs_approval"
    exit_status = 77
    hint = "`visor inbox` shows the approval request."


class Conflict(VisorError):
    """The pane is reserved by another caller."""

    code = "reserved"
    exit_status = 75
    hint = "Retry later, or contact the owner named in the message."


class StateConflict(Conflict):
    """The object exists already, is in use, or is not in the state that the call needs; nothing was changed."""

    code = "conflict"
    hint = "The message says what is in the way."


class StaleSnapshot(Conflict):
    """The pane changed since it was checked; nothing was executed."""

    code = "stale_snapshot"
    hint = "Check the pane with `visor get-screen`, then retry."


class Unavailable(VisorError):
    """A required component is not running; start it or retry later."""

    code = "unavailable"
    exit_status = 69
    hint = "Run `visor doctor` to find out what is missing."


class MuxError(Unavailable):
    """The terminal multiplexer is not installed or did not respond."""

    code = "mux_error"
    hint = "Check that tmux is installed and running: `visor doctor`."


class StorageError(Unavailable):
    """The database or the raw log cannot be read or written."""

    code = "storage_error"
    exit_status = 74
    hint = "Nothing was deleted. Run `visor doctor` to check the data folder."


class NewerDatabase(StorageError):
    """The database was written by a newer version of Termvisor; it was not modified."""

    code = "newer_database"
    hint = "Upgrade Termvisor, or set VISOR_DATA_DIR to another folder."


class TimedOut(VisorError):
    """The operation timed out."""

    code = "timeout"
    exit_status = 124
    hint = "Increase the limit with --timeout-secs."


class Diverged(VisorError):
    """A replayed workflow run does not match its journal."""

    code = "workflow_error"
    exit_status = 70
    hint = "`visor workflow history` shows the failed step."


class NotDone(VisorError):
    """A step of a workflow run was not executed; ``details`` has the status and the reason."""

    code = "step_failed"
    exit_status = 70
    hint = "`visor workflow history` shows the failed step."

    @property
    def status(self) -> str:
        """Return `denied`, `refused`, `expired` or `failed`."""
        return str(self.details.get("status", "failed"))

    @property
    def why(self) -> str:
        """Return the reason as a stable code: `human_typing`, `reserved`, …"""
        return str(self.details.get("why", ""))


class WorkflowNotFound(NotFound):
    """The workflow or workflow run does not exist."""

    code = "workflow_not_found"
    hint = "`visor workflow list` lists workflows, `visor workflow status` lists runs."


class InternalError(VisorError):
    """Unexpected failure inside Termvisor."""


def list_error_classes() -> list[type[VisorError]]:
    """Return every error declared here, each parent before its subclasses.

    A subclass elsewhere only refines its parent for a caller in the same layer; it has no code of its own.
    """
    classes: list[type[VisorError]] = []
    pending: list[type[VisorError]] = [VisorError]
    while pending:
        cls = pending.pop(0)
        classes.append(cls)
        pending = [one for one in cls.__subclasses__() if one.__module__ == __name__] + pending
    return classes[1:]


def find_error_class(code: str) -> type[VisorError]:
    """Return the error class with this code, to rebuild an error from another process; else InternalError."""
    # Parents come first, so the first match is the most general class with this code.
    return next((cls for cls in list_error_classes() if cls.code == code), InternalError)


def format_error(error: VisorError) -> str:
    """Format the error of a starting daemon as two lines on stderr: ``visor: <code>: <message>``, then the hint."""
    return f"visor: {error.code}: {' '.join(error.message.split())}\n{error.hint}\n"


def parse_last_error(text: str) -> VisorError | None:
    """Return the last error that `format_error` wrote in this text; None if there is none."""
    errors = _ERROR_LINES.findall(text)
    if not errors:
        return None
    code, message, hint = errors[-1]
    error_class = find_error_class(code)
    # Another program's line may look the same, but has no known code.
    return error_class(message, hint=hint) if error_class.code == code else None
