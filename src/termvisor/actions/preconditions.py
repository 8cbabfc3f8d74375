"""Check whether the pane's current state permits an action. Pure.

Invariant: an unknown fact counts as a failed precondition.
"""

import re
from itertools import chain

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.attempt import Attempt
from termvisor.actions.pane_snapshot import (
    HUMAN_TYPING_WINDOW_S,
    AgentInteraction,
    PaneAgent,
    PaneSnapshot,
    list_typing_clients,
    read_composer_text,
)
from termvisor.actions.precondition_failure import Failures, PreconditionFailure
from termvisor.actions.prompt_check import build_screen_failure, check_prompt
from termvisor.agents.adapters.keyboard import RESTING_STATES, remove_pointer
from termvisor.clock import NS
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.action.action import (
    Action,
    AnswerAgent,
    AnswerDialog,
    Interrupt,
    Kill,
    QuitAgent,
    SendJobInput,
    SendKeys,
    SendText,
    get_default_owner,
)
from termvisor.model.action.preconditions import Preconditions
from termvisor.regex import compile_patterns

# Seconds after which a pane snapshot is too old to act on.
MAX_SNAPSHOT_AGE_S = 2.0
MAX_TEXT_BYTES = 1 << 20
AgentAction = AnswerDialog | Interrupt | QuitAgent
"""Actions on an agent, through keys or its server."""
# Characters that open a menu in common agents and chat programs if a text starts with them.
_MENU_PREFIXES = ("/", "@", "!", "#")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


def find_failed_precondition(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    """Return the first precondition that does not hold, or None."""
    return next(_check_action(snapshot, attempt, now), None)


def find_failed_condition(snapshot: PaneSnapshot, preconditions: Preconditions, now: int) -> PreconditionFailure | None:
    """Return the first of the caller's conditions that does not hold, for operations that only read the pane."""
    checks = _check_pane_known(snapshot, preconditions, now), _check_caller_conditions(snapshot, preconditions, now)
    return next(chain.from_iterable(checks), None)


def _check_action(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> Failures:
    action = attempt.action
    if isinstance(action, AnswerAgent):
        return  # does not touch the pane: the agent is waiting for this answer
    yield from _check_pane_known(snapshot, attempt.preconditions, now)
    yield from _check_not_reserved(snapshot, attempt, now)
    yield from _check_caller_conditions(snapshot, attempt.preconditions, now)
    if (
        isinstance(action, SendText | SendKeys | SendJobInput | Kill | AgentAction)
        and attempt.actor.pane == snapshot.view.id
    ):
        yield PreconditionFailure("own_pane", "the caller itself runs in this pane")
    if isinstance(action, SendText):
        yield from _check_text(snapshot, action.text)
    if isinstance(action, SendJobInput):
        yield from _check_job_input(snapshot, action)
    if isinstance(action, SendText | SendKeys | SendJobInput | AgentAction):
        yield from _check_accepts_input(snapshot)
        yield from _check_no_user_typing(snapshot, attempt, now)
        if snapshot.is_in_gap and not attempt.preconditions.force_stale:
            text = "the pane's output is not captured completely right now, so its state is not proven"
            yield PreconditionFailure("recent_gap", text)
    if isinstance(action, AgentAction):
        yield from _check_agent_action(snapshot, action)
    if isinstance(action, SendText):
        # The text is read by an agent, a shell at its prompt, or some other program.
        interaction, agent = snapshot.interaction, snapshot.agent
        if interaction is not None and agent is not None:
            yield from _check_no_dialog(snapshot, interaction, agent)
            yield from _check_composer(snapshot, interaction, action, attempt.preconditions)
        elif attempt.preconditions.into == "prompt":
            yield from check_prompt(snapshot, action, allows_unproven=attempt.decision.allows_unproven)
        else:
            yield from _check_program_input(snapshot, action)
    yield from _check_undo_target(snapshot)


def bind_dialog_rows(action: Action, snapshot: PaneSnapshot | None) -> Action:
    """Bind an answer to the dialog shown now, so that policy and approval apply to exactly that dialog."""
    if not isinstance(action, AnswerDialog) or action.rows or snapshot is None or snapshot.interaction is None:
        return action
    press = snapshot.interaction.find_choice_keys(snapshot.screen, action.choice)
    return action if press is None else replace(action, rows=press.rows)


def _check_pane_known(snapshot: PaneSnapshot, preconditions: Preconditions, now: int) -> Failures:
    """Check that the pane in tmux is still the stored one and that the snapshot is not too old."""
    view, pane_state = snapshot.view, snapshot.pane_state
    if view.gone_at is not None:
        yield PreconditionFailure("pane_gone", "the pane no longer exists")
    if (view.instance.mux_id, view.facts.pid) != (pane_state.pane, pane_state.pid):
        text = "another process runs in the pane"
        yield PreconditionFailure("stale_pid", text, str(view.facts.pid), str(pane_state.pid))
    age, limit = (now - snapshot.observed_at) / NS, f"{MAX_SNAPSHOT_AGE_S:g} s"
    if age > MAX_SNAPSHOT_AGE_S and not preconditions.force_stale:
        yield PreconditionFailure("stale_snapshot", "the pane snapshot is too old", limit, f"{age:.1f} s")


def _check_not_reserved(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> Failures:
    reservation, is_human = snapshot.reservation, attempt.actor.kind == "human"
    caller = attempt.preconditions.owner or get_default_owner(attempt.actor)
    if reservation is None or reservation.expires_at <= now or reservation.owner == caller:
        return
    # Only a person decides that another caller's reservation does not count; the audit log shows it.
    if is_human and attempt.preconditions.overrides_reservation:
        return
    way = "; `--override-reservation` acts anyway" if is_human else ""
    text = f"the pane is reserved by {reservation.owner}, and you are {caller}{way}"
    yield PreconditionFailure("reserved", text)


def _check_accepts_input(snapshot: PaneSnapshot) -> Failures:
    pane_state = snapshot.pane_state
    for is_blocked, why, text in (
        (pane_state.dead, "pane_dead", "the program in the pane has ended"),
        (pane_state.in_mode, "copy_mode", "the pane is in copy mode, which would interpret the keys"),
        (pane_state.input_off, "input_off", "the pane's input is switched off"),
        (pane_state.synchronized, "synchronized", "the pane's input is synchronized with other panes"),
    ):
        if is_blocked:
            yield PreconditionFailure(why, text)


def _check_no_user_typing(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> Failures:
    typing = list_typing_clients(snapshot.pane_state, now)
    # A person who sends keys is the one typing.
    is_own = attempt.actor.kind == "human" and isinstance(attempt.action, SendKeys)
    if typing and not attempt.decision.allows_typing_beside_people and not is_own:
        text = f"a user typed in the pane within the last {HUMAN_TYPING_WINDOW_S:g} s ({typing[0].client})"
        yield PreconditionFailure("human_typing", text)


def _check_text(snapshot: PaneSnapshot, text: str) -> Failures:
    if not input_line.strip_decoration(text):
        why = "the text has only characters of prompts and frames, so it could not be recognized in the input"
        yield PreconditionFailure("nothing_to_see", why)
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        yield PreconditionFailure("too_long", f"the text is longer than {MAX_TEXT_BYTES} bytes")
    if match := _CONTROL_CHARACTERS.search(text):
        why = "the text contains a control character"
        yield PreconditionFailure("control_characters", why, "none", repr(match[0]))
    if snapshot.input_place.is_paste_on is not True:
        if "\n" in text:
            yield PreconditionFailure("multi_line", "the program there would run several lines one by one")
        if "\t" in text:
            yield PreconditionFailure("popup_text", "a tab would trigger completion")


def _check_job_input(snapshot: PaneSnapshot, action: SendJobInput) -> Failures:
    """Check the text; that the job waits for it is checked by its terminal, right before it is typed."""
    if len(action.text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        yield PreconditionFailure("too_long", f"the text is longer than {MAX_TEXT_BYTES} bytes")
    if match := _CONTROL_CHARACTERS.search(action.text):
        why = "the text contains a control character"
        yield PreconditionFailure("control_characters", why, "none", repr(match[0]))
    if "\n" in action.text and snapshot.input_place.is_paste_on is not True:
        yield PreconditionFailure("multi_line", "the program there would read several lines one by one")
    if snapshot.interaction is not None and snapshot.agent is not None:
        hint = f"`visor send {snapshot.view.id}` checks what the agent shows."
        yield PreconditionFailure(
            "agent_runs", f"the agent {snapshot.agent.name} runs in the job's terminal", hint=hint
        )


def _check_program_input(snapshot: PaneSnapshot, action: SendText) -> Failures:
    if snapshot.pane_state.alternate and not action.into_screen:
        yield build_screen_failure(snapshot)
    yield from _check_no_menu(action.text)
    typed = input_line.read_program_input(snapshot.pane_state)
    if typed is None:
        yield PreconditionFailure("prompt_not_found", "the cursor was not found on the screen")
    elif input_line.strip_decoration(typed.before) or input_line.strip_decoration(typed.behind):
        yield _build_input_failure(snapshot)


def _build_input_failure(snapshot: PaneSnapshot) -> PreconditionFailure:
    """Return the failure for text beside the cursor, which may be a prompt: only its program knows."""
    pane, program = snapshot.view.id, snapshot.pane_state.command
    text = f"the row of the cursor in pane {pane} shows text, a prompt or typed text, so its input may not be empty"
    hint = f"Look at it with `visor get-screen {pane}`; `visor send-keys {pane}` presses keys without this check."
    if snapshot.foreground.is_shell:
        hint = f"A shell reads the input ({program}): send without `--program`; `--at-prompt` if you see its prompt."
    return PreconditionFailure("input_not_empty", text, hint=hint)


def _check_no_menu(text: str) -> Failures:
    if text[:1] in _MENU_PREFIXES:
        yield PreconditionFailure("popup_text", f"a text that begins with {text[0]!r} may open a menu")


def _check_composer(
    snapshot: PaneSnapshot, interaction: AgentInteraction, action: SendText, preconditions: Preconditions
) -> Failures:
    """Check that the agent can take a prompt: it must be idle if it has a server, else its input box must be empty."""
    is_native = can_send_natively(snapshot, action)
    if not is_native:
        yield from _check_queue(snapshot, interaction, action)
        yield from _check_no_menu(action.text)
    if not is_native or preconditions.is_input_empty:
        yield from _check_composer_empty(snapshot, interaction)


def _check_queue(snapshot: PaneSnapshot, interaction: AgentInteraction, action: SendText) -> Failures:
    """Check that the agent either is not working, or queues what it is sent meanwhile."""
    agent, pane = snapshot.agent, snapshot.view.id
    if agent is not None and agent.state == "running" and action.enter and not interaction.has_queue:
        text = f"{agent.name} in pane {pane} is working, and it queues no messages"
        hint = f"`visor wait-for {pane} --state idle,completed,waiting` waits until it takes one."
        yield PreconditionFailure("at_work", text, hint=hint)


def can_send_natively(snapshot: PaneSnapshot, action: Action) -> bool:
    """Return True if the text can go to the agent's server: the agent is idle and the text is to be submitted."""
    is_submitted, agent = isinstance(action, SendText) and action.enter, snapshot.agent
    return is_submitted and snapshot.takes_prompts and agent is not None and agent.state in RESTING_STATES


def _check_no_dialog(snapshot: PaneSnapshot, interaction: AgentInteraction, agent: PaneAgent) -> Failures:
    shown = interaction.read_screen(snapshot.screen).state
    # The screen of this moment is newer than the agent's state, so a dialog that it no longer shows is gone. A dialog
    # that was reported but never shown may be drawn at any moment, or no rule recognizes it.
    is_reported = agent.state == "waiting_approval" and (shown == "unknown" or not agent.has_shown_dialog)
    if is_reported or shown.startswith("waiting_"):
        pane = snapshot.view.id
        text = f"{agent.name} in pane {pane} shows a dialog, which would take the text as its answer"
        hint = f"`visor inbox` shows what it asks, `visor answer {pane} <choice>` answers it; then send again."
        yield PreconditionFailure("dialog_open", text, hint=hint)


def _check_composer_empty(snapshot: PaneSnapshot, interaction: AgentInteraction) -> Failures:
    text = read_composer_text(interaction, snapshot.screen, snapshot.pane_state)
    if text is None:
        yield PreconditionFailure(
            "unknown_screen", "no composer found on the agent's screen", hint=_build_look_hint(snapshot)
        )
    elif input_line.strip_decoration(text):
        pane = snapshot.view.id
        hint = f"`visor get-screen {pane}` shows the text in it; submit or clear it there, then send again."
        yield PreconditionFailure("composer_not_empty", f"the agent's composer in pane {pane} is not empty", hint=hint)


def _build_look_hint(snapshot: PaneSnapshot) -> str:
    return f"`visor get-screen {snapshot.view.id}` shows it; `visor explain {snapshot.view.id}` shows what is known."


def _check_agent_action(snapshot: PaneSnapshot, action: AgentAction) -> Failures:
    """Check that the requested agent runs in the pane and that its screen shows which keys to press."""
    interaction, agent, screen = snapshot.interaction, snapshot.agent, snapshot.screen
    if interaction is None or agent is None:
        yield PreconditionFailure("no_agent", "no supported agent is known to run in the pane")
        return
    if agent.name != action.agent:
        yield PreconditionFailure("other_agent", "another agent runs in the pane", action.agent, agent.name)
    if isinstance(action, AnswerDialog):
        press = interaction.find_choice_keys(screen, action.choice)
        if press is None:
            text = f"no dialog found in which {action.choice!r} is a certain choice"
            yield PreconditionFailure("no_such_choice", text)
        elif remove_pointer(press.rows) != remove_pointer(action.rows):
            yield PreconditionFailure("dialog_changed", "another dialog is shown now")
    elif isinstance(action, Interrupt):
        if not snapshot.has_agent_server and interaction.find_interrupt_keys(screen) is None:
            yield PreconditionFailure("not_at_work", "the agent's screen shows no work to interrupt")
    else:
        yield from _check_no_dialog(snapshot, interaction, agent)
        if interaction.find_exit_keys(screen) is None:
            text = "the agent's screen does not show that it is idle: `visor interrupt` stops it"
            yield PreconditionFailure("at_work", text)
        yield from _check_composer_empty(snapshot, interaction)


def _check_undo_target(snapshot: PaneSnapshot) -> Failures:
    """Check that the effect of the action to undo is unchanged, so that nothing newer is overwritten."""
    target, pane_state, activity = snapshot.undo_target, snapshot.pane_state, snapshot.view.activity
    if target is None:
        return
    if target.title is not None and pane_state.title != target.title:
        yield PreconditionFailure("title_changed", "the title was changed again since")
    if target.front is not None and pane_state.front != target.front:
        yield PreconditionFailure("front_changed", "another pane of the session is active now")
    if target.is_alone and snapshot.child_count != 0:
        yield PreconditionFailure("other_programs", "other programs run in the spawned shell")
    if not target.is_typed:
        return
    if pane_state.alternate or (activity.kind, activity.is_proven) != ("prompt", True):
        yield PreconditionFailure("not_at_prompt", "the pane is not proven to be at a shell prompt")
    typed = snapshot.typed_input
    if typed is None or not snapshot.holds_own_text or input_line.strip_decoration(typed.behind):
        yield PreconditionFailure("input_changed", "the input no longer holds exactly the typed text")


def _check_caller_conditions(snapshot: PaneSnapshot, preconditions: Preconditions, now: int) -> Failures:
    """Check the caller's `--if-…` conditions."""
    view = snapshot.view
    last = view.last_output_at
    quiet_for = None if last is None else (now - last) / NS
    agent = snapshot.agent
    expectations = (
        (preconditions.runtime, "no agent" if agent is None else agent.runtime, "if_runtime"),
        ("prompt" if preconditions.at_prompt else None, view.activity.kind, "if_prompt"),
        (True if preconditions.is_ready else None, snapshot.is_ready, "if_ready"),
    )
    for expected, actual, why in expectations:
        if expected is not None and expected != actual:
            yield PreconditionFailure(why, f"--{why.replace('_', '-')} does not hold", str(expected), str(actual))
    # An activity that is unknown says nothing about an agent, whose state has its own `unknown`.
    activity = view.activity.kind if agent is None or view.activity.kind != "unknown" else ""
    current = [name for name in ("" if agent is None else agent.state, activity) if name]
    if preconditions.states and preconditions.states.isdisjoint(current):
        expected_states = ", ".join(sorted(preconditions.states))
        yield PreconditionFailure("if_state", "--if-state does not hold", expected_states, ", ".join(current))
    if preconditions.updated_within is not None and (quiet_for is None or quiet_for > preconditions.updated_within):
        ago = "never" if quiet_for is None else f"{quiet_for:.1f} s ago"
        limit = f"{preconditions.updated_within:g} s"
        yield PreconditionFailure("if_updated_within", "the last output is too old", limit, ago)
    if (pattern := preconditions.screen) is not None:
        rows = "\n".join(input_line.read_plain_rows(snapshot.pane_state))
        if not matches_pattern(pattern, rows):
            yield PreconditionFailure("if_screen", "the screen does not match", pattern, "not on the screen")
    tail, lines = preconditions.tail, snapshot.tail
    if tail is None:
        return
    if not matches_pattern(f"/{tail}/", "\n".join(lines[-preconditions.tail_lines :])):
        yield PreconditionFailure("if_tail", "the last lines do not match", tail, lines[-1] if lines else "")
    if quiet_for is not None and quiet_for < preconditions.stable_for:
        limit = f"{preconditions.stable_for:g} s"
        yield PreconditionFailure("if_tail", "the last lines are too recent", limit, f"{quiet_for:.1f} s")


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
