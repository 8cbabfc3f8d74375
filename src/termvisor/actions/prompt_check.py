"""Check that a shell is at its empty prompt, and say in words why it is not. Pure.

Marks prove a prompt. Without them a person may assert one (``SendText.at_prompt``): the kernel must then show that a
shell reads the input, and the row of the cursor must end like a prompt.
"""

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.precondition_failure import Failures, PreconditionFailure
from termvisor.model.action.action import SendText


def assume_prompt(snapshot: PaneSnapshot, action: SendText) -> PaneSnapshot:
    """Return the snapshot with the start of the input at the cursor, if only the caller asserts a prompt."""
    if not action.at_prompt or _is_proven(snapshot):
        return snapshot
    place = replace(snapshot.input_place, column=input_line.find_cursor_column(snapshot.pane_state))
    return replace(snapshot, input_place=place)


def check_prompt(snapshot: PaneSnapshot, action: SendText, *, allows_unproven: bool) -> Failures:
    """Check that a shell is at a proven or asserted, empty prompt."""
    activity, typed = snapshot.view.activity, snapshot.typed_input
    if snapshot.pane_state.alternate:
        yield build_screen_failure(snapshot)
    if action.at_prompt and not _is_proven(snapshot):
        yield from _check_asserted_prompt(snapshot)
        return
    if activity.kind != "prompt":
        yield _build_prompt_failure(snapshot)
    if not (activity.is_proven or allows_unproven):
        text = f"it is not proven that the shell of pane {snapshot.view.id} printed its prompt"
        yield PreconditionFailure("unproven_prompt", text, hint=_SETUP_HINT)
    if typed is None:
        yield PreconditionFailure("prompt_not_found", "the start of the shell's input is not known")
    elif typed.before.strip() or typed.behind:
        yield PreconditionFailure("input_not_empty", "the input is not empty")


def build_screen_failure(snapshot: PaneSnapshot) -> PreconditionFailure:
    text = f"a full-screen program is in pane {snapshot.view.id} ({snapshot.pane_state.command})"
    return PreconditionFailure("alternate_screen", text, hint="`--program --into-screen` types into it.")


_SETUP_HINT = "`visor setup shell` proves prompts, in new shells; `--at-prompt` if you see an empty prompt there."


def _check_asserted_prompt(snapshot: PaneSnapshot) -> Failures:
    activity = snapshot.view.activity
    if not snapshot.foreground.is_shell or (activity.kind == "command" and activity.is_proven):
        yield _build_prompt_failure(snapshot)
    if not input_line.is_at_empty_prompt(snapshot.pane_state):
        text = f"the row of the cursor in pane {snapshot.view.id} does not end like an empty prompt"
        yield PreconditionFailure("input_not_empty", text, hint="`visor setup shell` lets the shell say it itself.")


def _build_prompt_failure(snapshot: PaneSnapshot) -> PreconditionFailure:
    """Return what the pane does instead of waiting at a prompt."""
    pane, program, kind = snapshot.view.id, snapshot.pane_state.command, snapshot.view.activity.kind
    text = f"pane {pane} runs {program}, so no shell is at its prompt there"
    hint = "`--program` types into the program that reads the input."
    if kind == "command":
        hint = f"`visor wait-for {pane} --command-finished` waits for its end; {hint}"
    elif snapshot.foreground.is_shell:
        text = f"the shell of pane {pane} ({program}) sends no marks, so nothing shows that it is at its prompt"
        hint = _SETUP_HINT
    return PreconditionFailure("not_at_prompt", text, "prompt", kind, hint)


def _is_proven(snapshot: PaneSnapshot) -> bool:
    return snapshot.view.activity.kind == "prompt" and snapshot.view.activity.is_proven
