"""What we believe of a pane just before we act on it, and whether that is reason not to. Pure.

A Belief is fixed once, on the daemon's side; the guard made of it is checked again inside the multiplexer. What is not
known counts against acting.
"""

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.pane_agent import (
    AgentInteraction,
    PaneAgent,
    build_screen,
    get_agent_interaction,
    read_composer_text,
)
from termvisor.agents.adapters.dialog_options import RESTING_STATES, KeyPress, remove_pointer
from termvisor.backends.pane_control import PaneGuard, PaneState
from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.action.action import (
    Action,
    Actor,
    AnswerAgent,
    AnswerDialog,
    Interrupt,
    Kill,
    QuitAgent,
    SendKeys,
    SendText,
)
from termvisor.model.action.approval import Reservation
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.undo import UndoPrecondition
from termvisor.model.terminal.pane import InputState, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.regex import compile_patterns

MAX_SNAPSHOT_AGE_S = 2.0
"""Seconds after which a belief is too old to act on."""
HUMAN_TYPING_WINDOW_S = 3.0
MAX_TEXT_BYTES = 1 << 20
AgentAction = AnswerDialog | Interrupt | QuitAgent
"""What is said to an agent by keys, or by its server."""
_MENU_PREFIXES = ("/", "@", "!", "#")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


class PreconditionFailure(Struct, frozen=True, kw_only=True):
    """Why nothing was done. ``why`` is a stable code; expected and actual say what did not fit."""

    why: str
    text: str
    expected: str = ""
    actual: str = ""


class PaneSnapshot(Struct, frozen=True, kw_only=True):
    view: PaneView
    pane_state: PaneState
    input_place: InputState
    observed_at: int
    is_in_gap: bool = False
    is_ready: bool = False
    tail: tuple[str, ...] = ()
    reservation: Reservation | None = None
    has_agent_server: bool = False
    """The agent's own server can be spoken to."""
    takes_prompts: bool = False
    """And that in the conversation that the pane is sure to show."""
    undo_target: UndoPrecondition | None = None
    """What an action that is to be taken back left there."""
    holds_own_text: bool = False
    """What stands in the input is the text of that action."""
    agent: PaneAgent | None = None
    """The agent that lives there."""
    child_count: int | None = None
    """Programs that the pane's own process has started and that run; None where that is not known or not asked."""

    def build_guard(self, shown_text: str = "") -> PaneGuard:
        return PaneGuard(
            pane=self.pane_state.pane,
            pid=self.pane_state.pid,
            command=self.pane_state.command,
            alternate=self.pane_state.alternate,
            shows=shown_text,
            title=self.undo_target.title if self.undo_target else None,
            front=self.undo_target.front if self.undo_target else None,
        )

    @property
    def screen(self) -> Screen:
        return build_screen(self.view.id, self.pane_state, self.observed_at)

    @property
    def interaction(self) -> AgentInteraction | None:
        """How to speak to the agent that has the pane before it; None where a shell or another program has."""
        is_shell = self.view.activity.kind == "prompt"
        voice = None if self.agent is None or is_shell else get_agent_interaction(self.agent.name)
        return None if voice is None or voice.is_without_keyboard else voice

    @property
    def typed_input(self) -> input_line.TypedInput | None:
        """What stands in the input of a shell at its prompt."""
        return (
            None
            if self.input_place.column is None
            else input_line.read_prompt_input(self.pane_state, self.input_place.column)
        )


class RequestedAction(Struct, frozen=True, kw_only=True):
    """What is wanted, by whom, on which terms; and what the policy says about doubtful cases."""

    action: Action
    actor: Actor
    preconditions: Preconditions
    allows_unproven: bool = False
    allows_typing_beside_people: bool = False


PreconditionCheck = Callable[[PaneSnapshot, RequestedAction, int], PreconditionFailure | None]


def find_failed_precondition(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    """The first reason against it, or None."""
    if isinstance(request.action, AnswerAgent):
        return None  # nothing is done to the pane: the agent itself waits for the answer
    checks: list[PreconditionCheck] = [_check_pane_known, _check_not_reserved, _check_caller_conditions]
    if isinstance(request.action, SendText | SendKeys | Kill | AgentAction):
        checks.append(_check_not_own_pane)
    if isinstance(request.action, SendText | SendKeys | AgentAction):
        checks += [_check_accepts_input, _check_nobody_typing, _check_no_gap]
    if isinstance(request.action, AgentAction):
        checks.append(_check_agent_action)
    if isinstance(request.action, SendText):
        checks += [_check_text, _select_input_check(snapshot, request)]
    for check in checks:
        if (found := check(snapshot, request, now)) is not None:
            return found
    return None


def bind_dialog_rows(action: Action, snapshot: PaneSnapshot | None) -> Action:
    """An answer to whatever dialog is shown is one to this very dialog: what is judged and asked about is exact."""
    if not isinstance(action, AnswerDialog) or action.rows or snapshot is None or snapshot.interaction is None:
        return action
    press = snapshot.interaction.find_choice_keys(snapshot.screen, action.choice)
    return action if press is None else replace(action, rows=press.rows)


def _select_input_check(snapshot: PaneSnapshot, request: RequestedAction) -> PreconditionCheck:
    """What must hold of whatever reads there: an agent, a shell at its prompt, or any program."""
    if snapshot.interaction is not None:
        return _check_composer
    return _check_prompt if request.preconditions.into == "prompt" else _check_program_input


def _check_pane_known(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    """The pane is the one that is on record, and what we know of it is not old."""
    view, sight = snapshot.view, snapshot.pane_state
    if view.gone_at is not None:
        return PreconditionFailure(why="pane_gone", text="the pane no longer exists")
    if (view.instance.mux_id, view.facts.pid) != (sight.pane, sight.pid):
        return _build_mismatch("stale_pid", "another process runs in the pane", str(view.facts.pid), str(sight.pid))
    age = (now - snapshot.observed_at) / NS
    if age > MAX_SNAPSHOT_AGE_S and not request.preconditions.force_stale:
        return _build_mismatch(
            "stale_snapshot", "what is known of the pane is too old", f"{MAX_SNAPSHOT_AGE_S:g} s", f"{age:.1f} s"
        )
    return None


def _check_not_reserved(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    held = snapshot.reservation
    if held is None or held.expires_at <= now or held.owner == request.preconditions.owner:
        return None
    return _build_mismatch(
        "reserved", f"the pane is reserved by {held.owner}", request.preconditions.owner or "nobody", held.owner
    )


def _check_not_own_pane(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    if request.actor.pane is not None and request.actor.pane == snapshot.view.id:
        return PreconditionFailure(why="own_pane", text="this is the pane that the caller itself runs in")
    return None


def _check_accepts_input(snapshot: PaneSnapshot, _request: RequestedAction, _now: int) -> PreconditionFailure | None:
    sight = snapshot.pane_state
    for is_so, why, text in (
        (sight.dead, "pane_dead", "the program in the pane has ended"),
        (sight.in_mode, "copy_mode", "the pane is in copy mode, which would take the keys"),
        (sight.input_off, "input_off", "the pane's input is switched off"),
        (sight.synchronized, "synchronized", "the pane's input goes to other panes too"),
    ):
        if is_so:
            return PreconditionFailure(why=why, text=text)
    return None


def _check_nobody_typing(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    """Nobody types there right now."""
    typing = [person for person in snapshot.pane_state.viewers if (now - person.typed_at) / NS < HUMAN_TYPING_WINDOW_S]
    is_own = request.actor.kind == "human" and isinstance(request.action, SendKeys)
    if not typing or request.allows_typing_beside_people or is_own:
        return None
    return PreconditionFailure(
        why="human_typing",
        text=f"somebody typed there within the last {HUMAN_TYPING_WINDOW_S:g} s ({typing[0].client})",
    )


def _check_no_gap(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    if snapshot.is_in_gap and not request.preconditions.force_stale:
        return PreconditionFailure(
            why="recent_gap", text="the pane is not heard completely right now, so nothing can be proven"
        )
    return None


def _check_text(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    text = request.action.text if isinstance(request.action, SendText) else ""
    if not input_line.strip_decoration(text):
        return PreconditionFailure(
            why="nothing_to_see", text="a text of signs that cannot be seen apart from a prompt is not sent"
        )
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        return PreconditionFailure(why="too_long", text=f"the text is longer than {MAX_TEXT_BYTES} bytes")
    if found := _CONTROL_CHARACTERS.search(text):
        return _build_mismatch("control_characters", "the text holds a control character", "none", repr(found[0]))
    is_pasted = snapshot.input_place.is_paste_on is True
    if "\n" in text and not is_pasted:
        return PreconditionFailure(why="multi_line", text="the program there would run several lines one by one")
    if "\t" in text and not is_pasted:
        return PreconditionFailure(why="popup_text", text="a tab would be taken for a request to complete")
    return None


def _check_prompt(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    """A shell at its prompt, proven, with nothing typed yet."""
    activity = snapshot.view.activity
    if snapshot.pane_state.alternate:
        return PreconditionFailure(why="alternate_screen", text="a full-screen program is in the pane")
    if activity.kind != "prompt":
        return _build_mismatch("not_at_prompt", "the pane shows no shell's prompt", "prompt", activity.kind)
    if not (activity.is_proven or request.allows_unproven):
        return PreconditionFailure(why="unproven_prompt", text="the prompt's marks do not carry our nonce")
    typed = snapshot.typed_input
    if typed is None:
        return PreconditionFailure(why="prompt_not_found", text="where the shell's input begins is not known")
    if typed.before.strip() or typed.behind:
        return PreconditionFailure(why="input_not_empty", text="something is typed there already")
    return None


def _check_program_input(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    text = request.action.text if isinstance(request.action, SendText) else ""
    if snapshot.pane_state.alternate and not (isinstance(request.action, SendText) and request.action.into_screen):
        return PreconditionFailure(why="alternate_screen", text="a full-screen program is in the pane")
    if text[:1] in _MENU_PREFIXES:
        return PreconditionFailure(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu there")
    typed = input_line.read_program_input(snapshot.pane_state)
    if typed is None:
        return PreconditionFailure(why="prompt_not_found", text="the cursor was not found on the screen")
    if input_line.strip_decoration(typed.before) or input_line.strip_decoration(typed.behind):
        return PreconditionFailure(why="input_not_empty", text="something stands in the input already")
    return None


def _check_composer(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    """An agent that takes a prompt: by its server while it rests, else in an empty composer of a screen we know."""
    voice, tenant = snapshot.interaction, snapshot.agent
    if voice is None or tenant is None:
        return PreconditionFailure(why="no_agent", text="no agent is known to be there")
    if (asking := _check_no_dialog(snapshot, voice, tenant)) is not None:
        return asking
    if can_send_natively(snapshot, request.action):
        return _check_composer_empty(snapshot, voice) if request.preconditions.is_input_empty else None
    text = request.action.text if isinstance(request.action, SendText) else ""
    if text[:1] in _MENU_PREFIXES:
        return PreconditionFailure(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu there")
    return _check_composer_empty(snapshot, voice)


def can_send_natively(snapshot: PaneSnapshot, action: Action) -> bool:
    """Whether the agent's own server is asked: it rests, and the text is to be sent off."""
    is_whole = isinstance(action, SendText) and action.enter
    return is_whole and snapshot.takes_prompts and snapshot.agent is not None and snapshot.agent.state in RESTING_STATES


def _check_no_dialog(
    snapshot: PaneSnapshot, interaction: AgentInteraction, agent: PaneAgent
) -> PreconditionFailure | None:
    """A dialog would take whatever is typed for its answer."""
    state = interaction.read_screen(snapshot.screen).state
    if not (state.startswith("waiting_") or agent.state == "waiting_approval"):
        return None
    return PreconditionFailure(
        why="dialog_open", text=f"{agent.name} shows a dialog, which would take the text for its answer"
    )


def _check_composer_empty(snapshot: PaneSnapshot, interaction: AgentInteraction) -> PreconditionFailure | None:
    text = read_composer_text(interaction, snapshot.screen, snapshot.pane_state)
    if text is None:
        return PreconditionFailure(why="unknown_screen", text="no composer is seen on the agent's screen")
    if input_line.strip_decoration(text):
        return PreconditionFailure(
            why="composer_not_empty", text="something is written in the agent's composer already"
        )
    return None


def _check_agent_action(snapshot: PaneSnapshot, request: RequestedAction, _now: int) -> PreconditionFailure | None:
    """The agent that was meant is there, and its screen says what to press."""
    action, voice, tenant = request.action, snapshot.interaction, snapshot.agent
    if not isinstance(action, AgentAction):
        return None
    if voice is None or tenant is None:
        return PreconditionFailure(why="no_agent", text="no agent that can be spoken to is known to be there")
    if tenant.name != action.agent:
        return _build_mismatch("other_agent", "another agent is there", action.agent, tenant.name)
    if isinstance(action, AnswerDialog):
        return _check_same_dialog(voice.find_choice_keys(snapshot.screen, action.choice), action)
    if isinstance(action, Interrupt):
        may = snapshot.has_agent_server or voice.find_interrupt_keys(snapshot.screen) is not None
        return (
            None
            if may
            else PreconditionFailure(why="not_at_work", text="its screen shows no work that could be interrupted")
        )
    return _check_can_quit(snapshot, voice, tenant)


def _check_can_quit(
    snapshot: PaneSnapshot, interaction: AgentInteraction, agent: PaneAgent
) -> PreconditionFailure | None:
    if (asking := _check_no_dialog(snapshot, interaction, agent)) is not None:
        return asking
    if interaction.find_exit_keys(snapshot.screen) is None:
        return PreconditionFailure(
            why="at_work", text="its screen does not show that it rests: `visor interrupt` stops it"
        )
    return _check_composer_empty(snapshot, interaction)


def _check_same_dialog(press: KeyPress | None, action: AnswerDialog) -> PreconditionFailure | None:
    if press is None:
        return PreconditionFailure(
            why="no_such_choice", text=f"no dialog is seen in which {action.choice!r} can be picked surely"
        )
    if remove_pointer(press.rows) != remove_pointer(action.rows):
        return PreconditionFailure(why="dialog_changed", text="another dialog is shown by now")
    return None


def _check_caller_conditions(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    """What the caller asked to hold."""
    terms, view = request.preconditions, snapshot.view
    last = view.last_output_at
    quiet_for = None if last is None else (now - last) / NS
    expectations = (
        (terms.runtime, view.facts.pid, "if_runtime"),
        (terms.state, view.activity.kind, "if_state"),
        ("prompt" if terms.at_prompt else None, view.activity.kind, "if_prompt"),
        (True if terms.is_ready else None, snapshot.is_ready, "if_ready"),
    )
    for expected, actual, why in expectations:
        if expected is not None and expected != actual:
            return _build_mismatch(why, f"--{why.replace('_', '-')} does not hold", str(expected), str(actual))
    if terms.updated_within is not None and (quiet_for is None or quiet_for > terms.updated_within):
        ago = "never" if quiet_for is None else f"{quiet_for:.1f} s ago"
        return _build_mismatch("if_updated_within", "the pane printed too long ago", f"{terms.updated_within:g} s", ago)
    return _check_screen_conditions(snapshot, terms, quiet_for)


def _check_screen_conditions(
    snapshot: PaneSnapshot, preconditions: Preconditions, quiet_for: float | None
) -> PreconditionFailure | None:
    if preconditions.screen is not None and not matches_pattern(
        preconditions.screen, "\n".join(input_line.read_plain_rows(snapshot.pane_state))
    ):
        return _build_mismatch("if_screen", "the screen does not show it", preconditions.screen, "not on the screen")
    if preconditions.tail is None:
        return None
    if not matches_pattern(f"/{preconditions.tail}/", "\n".join(snapshot.tail[-preconditions.tail_lines :])):
        return _build_mismatch(
            "if_tail", "the last lines do not fit", preconditions.tail, snapshot.tail[-1] if snapshot.tail else ""
        )
    if quiet_for is not None and quiet_for < preconditions.stable_for:
        return _build_mismatch(
            "if_tail", "the last lines are too young", f"{preconditions.stable_for:g} s", f"{quiet_for:.1f} s"
        )
    return None


def matches_pattern(pattern: str, text: str) -> bool:
    """A text that stands in it, or a pattern between slashes."""
    if len(pattern) <= 2 or not pattern[0] == pattern[-1] == "/":
        return pattern in text
    try:
        matcher = compile_patterns({"wanted": pattern[1:-1]})
    except ConfigError as error:
        raise BadRequest(
            f"{pattern}: {error.message}", hint="Look-around and back-references are not known."
        ) from error
    return bool(matcher.find_ids(text.encode("utf-8", "replace")))


def _build_mismatch(why: str, text: str, expected: str, actual: str) -> PreconditionFailure:
    return PreconditionFailure(why=why, text=text, expected=expected, actual=actual)
