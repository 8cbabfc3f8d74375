"""Check whether the pane's current state permits an action. Pure.

Invariant: what is not known counts against acting.
"""

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.attempt import Attempt
from termvisor.actions.pane_agent import AgentInteraction, PaneAgent, read_composer_text
from termvisor.actions.pane_snapshot import HUMAN_TYPING_WINDOW_S, PaneSnapshot
from termvisor.agents.adapters.dialog_options import RESTING_STATES, KeyPress, remove_pointer
from termvisor.backends.pane_control import GuardMismatch
from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError, Conflict, ErrorDetail, StaleSnapshot
from termvisor.model.action.action import (
    Action,
    AnswerAgent,
    AnswerDialog,
    Interrupt,
    Kill,
    QuitAgent,
    SendKeys,
    SendText,
)
from termvisor.model.action.preconditions import Preconditions
from termvisor.regex import compile_patterns

MAX_SNAPSHOT_AGE_S = 2.0
"""Seconds after which a pane snapshot is too old to act on."""
MAX_TEXT_BYTES = 1 << 20
AgentAction = AnswerDialog | Interrupt | QuitAgent
"""Actions on an agent, by keys or by its server."""
_MENU_PREFIXES = ("/", "@", "!", "#")
"""First characters that open a completion menu in common agents and chat programs."""
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


class PreconditionFailure(Struct, frozen=True, kw_only=True):
    """Why nothing was done. ``why`` is a stable code; ``expected`` and ``actual`` say what did not match."""

    why: str
    text: str
    expected: str = ""
    actual: str = ""

    def build_error(self, correlation: str = "") -> Conflict:
        details: dict[str, ErrorDetail] = {"outcome": "refused", "why": self.why}
        if correlation:
            details["correlation"] = correlation
        if self.expected or self.actual:
            details |= {"expected": self.expected, "actual": self.actual}
        text = f"{self.text} (expected {self.expected}, found {self.actual})" if self.expected else self.text
        kind = Conflict if self.why == "reserved" else StaleSnapshot
        return kind(f"nothing was done: {text}", details=details)


def build_stale_error(why: str, text: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})


def build_guard_error(mismatch: GuardMismatch, *, is_first: bool = True) -> StaleSnapshot:
    """Build the error for a guard that did not hold when tmux checked it, right before the action or its next key."""
    text = f"expected {mismatch.expected}, found {mismatch.actual}"
    details = {"outcome": "refused", "why": f"stale_{mismatch.what}"}
    details |= {"expected": mismatch.expected, "actual": mismatch.actual}
    return StaleSnapshot(f"nothing {'' if is_first else 'more '}was done: {text}", details=details)


PreconditionCheck = Callable[[PaneSnapshot, Attempt, int], PreconditionFailure | None]


def find_failed_precondition(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    """Return the first precondition that does not hold, or None."""
    if isinstance(attempt.action, AnswerAgent):
        return None  # the pane is not touched: the agent is waiting for this answer
    checks: list[PreconditionCheck] = [_check_pane_known, _check_not_reserved, _check_caller_conditions]
    if isinstance(attempt.action, SendText | SendKeys | Kill | AgentAction):
        checks.append(_check_not_own_pane)
    if isinstance(attempt.action, SendText | SendKeys | AgentAction):
        checks += [_check_accepts_input, _check_no_user_typing, _check_no_gap]
    if isinstance(attempt.action, AgentAction):
        checks.append(_check_agent_action)
    if isinstance(attempt.action, SendText):
        checks += [_check_text, _select_input_check(snapshot, attempt)]
    for check in checks:
        if (failure := check(snapshot, attempt, now)) is not None:
            return failure
    return None


def bind_dialog_rows(action: Action, snapshot: PaneSnapshot | None) -> Action:
    """Bind an answer to the dialog that is shown now, so that policy and approval refer to exactly this one."""
    if not isinstance(action, AnswerDialog) or action.rows or snapshot is None or snapshot.interaction is None:
        return action
    press = snapshot.interaction.find_choice_keys(snapshot.screen, action.choice)
    return action if press is None else replace(action, rows=press.rows)


def _select_input_check(snapshot: PaneSnapshot, attempt: Attempt) -> PreconditionCheck:
    """Return the check for the reader of the text: an agent, a shell at its prompt, or any other program."""
    if snapshot.interaction is not None:
        return _check_composer
    return _check_prompt if attempt.preconditions.into == "prompt" else _check_program_input


def _check_pane_known(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    """Check that tmux shows the stored pane, and that the snapshot is not too old."""
    view, pane_state = snapshot.view, snapshot.pane_state
    if view.gone_at is not None:
        return PreconditionFailure(why="pane_gone", text="the pane no longer exists")
    if (view.instance.mux_id, view.facts.pid) != (pane_state.pane, pane_state.pid):
        text = "another process runs in the pane"
        return _build_mismatch("stale_pid", text, str(view.facts.pid), str(pane_state.pid))
    age = (now - snapshot.observed_at) / NS
    if age > MAX_SNAPSHOT_AGE_S and not attempt.preconditions.force_stale:
        return _build_mismatch(
            "stale_snapshot", "the pane snapshot is too old", f"{MAX_SNAPSHOT_AGE_S:g} s", f"{age:.1f} s"
        )
    return None


def _check_not_reserved(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    reservation, caller = snapshot.reservation, attempt.preconditions.owner
    if reservation is None or reservation.expires_at <= now or reservation.owner == caller:
        return None
    text = f"the pane is reserved by {reservation.owner}"
    return _build_mismatch("reserved", text, caller or "no owner", reservation.owner)


def _check_not_own_pane(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    if attempt.actor.pane is not None and attempt.actor.pane == snapshot.view.id:
        return PreconditionFailure(why="own_pane", text="the caller itself runs in this pane")
    return None


def _check_accepts_input(snapshot: PaneSnapshot, _attempt: Attempt, _now: int) -> PreconditionFailure | None:
    pane_state = snapshot.pane_state
    for is_blocked, why, text in (
        (pane_state.dead, "pane_dead", "the program in the pane has ended"),
        (pane_state.in_mode, "copy_mode", "the pane is in copy mode, which would interpret the keys"),
        (pane_state.input_off, "input_off", "the pane's input is switched off"),
        (pane_state.synchronized, "synchronized", "the pane's input is synchronized with other panes"),
    ):
        if is_blocked:
            return PreconditionFailure(why=why, text=text)
    return None


def _check_no_user_typing(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    typing = snapshot.list_typing_clients(now)
    # Keys that a person sends are that person's own typing.
    is_own = attempt.actor.kind == "human" and isinstance(attempt.action, SendKeys)
    if not typing or attempt.decision.allows_typing_beside_people or is_own:
        return None
    text = f"a user typed in the pane within the last {HUMAN_TYPING_WINDOW_S:g} s ({typing[0].client})"
    return PreconditionFailure(why="human_typing", text=text)


def _check_no_gap(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    if snapshot.is_in_gap and not attempt.preconditions.force_stale:
        text = "the pane's output is not captured completely right now, so its state is not proven"
        return PreconditionFailure(why="recent_gap", text=text)
    return None


def _check_text(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    text = attempt.action.text if isinstance(attempt.action, SendText) else ""
    if not input_line.strip_decoration(text):
        text = "the text has only characters of prompts and frames, so it could not be recognized in the input"
        return PreconditionFailure(why="nothing_to_see", text=text)
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        return PreconditionFailure(why="too_long", text=f"the text is longer than {MAX_TEXT_BYTES} bytes")
    if match := _CONTROL_CHARACTERS.search(text):
        return _build_mismatch("control_characters", "the text contains a control character", "none", repr(match[0]))
    is_pasted = snapshot.input_place.is_paste_on is True
    if "\n" in text and not is_pasted:
        return PreconditionFailure(why="multi_line", text="the program there would run several lines one by one")
    if "\t" in text and not is_pasted:
        return PreconditionFailure(why="popup_text", text="a tab would trigger completion")
    return None


def _check_prompt(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    """Check for a shell at a proven, empty prompt."""
    activity = snapshot.view.activity
    if snapshot.pane_state.alternate:
        return PreconditionFailure(why="alternate_screen", text="a full-screen program is in the pane")
    if activity.kind != "prompt":
        text = "the pane is not known to be at a shell prompt"
        return _build_mismatch("not_at_prompt", text, "prompt", activity.kind)
    if not (activity.is_proven or attempt.decision.allows_unproven):
        return PreconditionFailure(why="unproven_prompt", text="the prompt marks do not carry Termvisor's nonce")
    typed = snapshot.typed_input
    if typed is None:
        return PreconditionFailure(why="prompt_not_found", text="the start of the shell's input is not known")
    if typed.before.strip() or typed.behind:
        return PreconditionFailure(why="input_not_empty", text="the input is not empty")
    return None


def _check_program_input(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    text = attempt.action.text if isinstance(attempt.action, SendText) else ""
    if snapshot.pane_state.alternate and not (isinstance(attempt.action, SendText) and attempt.action.into_screen):
        return PreconditionFailure(why="alternate_screen", text="a full-screen program is in the pane")
    if text[:1] in _MENU_PREFIXES:
        return PreconditionFailure(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu")
    typed = input_line.read_program_input(snapshot.pane_state)
    if typed is None:
        return PreconditionFailure(why="prompt_not_found", text="the cursor was not found on the screen")
    if input_line.strip_decoration(typed.before) or input_line.strip_decoration(typed.behind):
        return PreconditionFailure(why="input_not_empty", text="the input is not empty")
    return None


def _check_composer(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    """Check that the agent can take a prompt: by its server while it is idle, else in an empty composer."""
    interaction, agent = snapshot.interaction, snapshot.agent
    if interaction is None or agent is None:
        return PreconditionFailure(why="no_agent", text="no agent is known to run in the pane")
    if (failure := _check_no_dialog(snapshot, interaction, agent)) is not None:
        return failure
    if can_send_natively(snapshot, attempt.action):
        return _check_composer_empty(snapshot, interaction) if attempt.preconditions.is_input_empty else None
    text = attempt.action.text if isinstance(attempt.action, SendText) else ""
    if text[:1] in _MENU_PREFIXES:
        return PreconditionFailure(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu")
    return _check_composer_empty(snapshot, interaction)


def can_send_natively(snapshot: PaneSnapshot, action: Action) -> bool:
    """Return True if the text goes to the agent's server: the agent is idle, and the text is to be submitted."""
    is_submitted, agent = isinstance(action, SendText) and action.enter, snapshot.agent
    return is_submitted and snapshot.takes_prompts and agent is not None and agent.state in RESTING_STATES


def _check_no_dialog(
    snapshot: PaneSnapshot, interaction: AgentInteraction, agent: PaneAgent
) -> PreconditionFailure | None:
    state = interaction.read_screen(snapshot.screen).state
    if not (state.startswith("waiting_") or agent.state == "waiting_approval"):
        return None
    text = f"{agent.name} shows a dialog, which would take the text as its answer"
    return PreconditionFailure(why="dialog_open", text=text)


def _check_composer_empty(snapshot: PaneSnapshot, interaction: AgentInteraction) -> PreconditionFailure | None:
    text = read_composer_text(interaction, snapshot.screen, snapshot.pane_state)
    if text is None:
        return PreconditionFailure(why="unknown_screen", text="no composer found on the agent's screen")
    if input_line.strip_decoration(text):
        return PreconditionFailure(why="composer_not_empty", text="the agent's composer is not empty")
    return None


def _check_agent_action(snapshot: PaneSnapshot, attempt: Attempt, _now: int) -> PreconditionFailure | None:
    """Check that the requested agent runs in the pane and that its screen shows which keys to press."""
    action, interaction, agent = attempt.action, snapshot.interaction, snapshot.agent
    if not isinstance(action, AgentAction):
        return None
    if interaction is None or agent is None:
        return PreconditionFailure(why="no_agent", text="no supported agent is known to run in the pane")
    if agent.name != action.agent:
        return _build_mismatch("other_agent", "another agent runs in the pane", action.agent, agent.name)
    if isinstance(action, AnswerDialog):
        return _check_same_dialog(interaction.find_choice_keys(snapshot.screen, action.choice), action)
    if isinstance(action, Interrupt):
        if snapshot.has_agent_server or interaction.find_interrupt_keys(snapshot.screen) is not None:
            return None
        return PreconditionFailure(why="not_at_work", text="the agent's screen shows no work to interrupt")
    return _check_can_quit(snapshot, interaction, agent)


def _check_can_quit(
    snapshot: PaneSnapshot, interaction: AgentInteraction, agent: PaneAgent
) -> PreconditionFailure | None:
    if (failure := _check_no_dialog(snapshot, interaction, agent)) is not None:
        return failure
    if interaction.find_exit_keys(snapshot.screen) is None:
        text = "the agent's screen does not show that it is idle: `visor interrupt` stops it"
        return PreconditionFailure(why="at_work", text=text)
    return _check_composer_empty(snapshot, interaction)


def _check_same_dialog(press: KeyPress | None, action: AnswerDialog) -> PreconditionFailure | None:
    if press is None:
        text = f"no dialog found in which {action.choice!r} is a certain choice"
        return PreconditionFailure(why="no_such_choice", text=text)
    if remove_pointer(press.rows) != remove_pointer(action.rows):
        return PreconditionFailure(why="dialog_changed", text="another dialog is shown now")
    return None


def _check_caller_conditions(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    """Check the `--if-…` conditions of the caller."""
    preconditions, view = attempt.preconditions, snapshot.view
    last = view.last_output_at
    quiet_for = None if last is None else (now - last) / NS
    expectations = (
        (preconditions.runtime, view.facts.pid, "if_runtime"),
        (preconditions.state, view.activity.kind, "if_state"),
        ("prompt" if preconditions.at_prompt else None, view.activity.kind, "if_prompt"),
        (True if preconditions.is_ready else None, snapshot.is_ready, "if_ready"),
    )
    for expected, actual, why in expectations:
        if expected is not None and expected != actual:
            return _build_mismatch(why, f"--{why.replace('_', '-')} does not hold", str(expected), str(actual))
    if preconditions.updated_within is not None and (quiet_for is None or quiet_for > preconditions.updated_within):
        ago = "never" if quiet_for is None else f"{quiet_for:.1f} s ago"
        limit = f"{preconditions.updated_within:g} s"
        return _build_mismatch("if_updated_within", "the last output is too old", limit, ago)
    return _check_screen_conditions(snapshot, preconditions, quiet_for)


def _check_screen_conditions(
    snapshot: PaneSnapshot, preconditions: Preconditions, quiet_for: float | None
) -> PreconditionFailure | None:
    if preconditions.screen is not None and not matches_pattern(
        preconditions.screen, "\n".join(input_line.read_plain_rows(snapshot.pane_state))
    ):
        return _build_mismatch("if_screen", "the screen does not match", preconditions.screen, "not on the screen")
    if preconditions.tail is None:
        return None
    if not matches_pattern(f"/{preconditions.tail}/", "\n".join(snapshot.tail[-preconditions.tail_lines :])):
        return _build_mismatch(
            "if_tail", "the last lines do not match", preconditions.tail, snapshot.tail[-1] if snapshot.tail else ""
        )
    if quiet_for is not None and quiet_for < preconditions.stable_for:
        return _build_mismatch(
            "if_tail", "the last lines are too recent", f"{preconditions.stable_for:g} s", f"{quiet_for:.1f} s"
        )
    return None


def matches_pattern(pattern: str, text: str) -> bool:
    """Return True if the text contains the literal ``pattern``, or matches it if it is written as /regex/.

    Raises ``BadRequest`` for an invalid regex.
    """
    if len(pattern) <= 2 or not pattern[0] == pattern[-1] == "/":
        return pattern in text
    try:
        matcher = compile_patterns({"expression": pattern[1:-1]})
    except ConfigError as error:
        raise BadRequest(
            f"{pattern}: {error.message}", hint="Look-around and back-references are not supported."
        ) from error
    return bool(matcher.find_ids(text.encode("utf-8", "replace")))


def _build_mismatch(why: str, text: str, expected: str, actual: str) -> PreconditionFailure:
    return PreconditionFailure(why=why, text=text, expected=expected, actual=actual)
