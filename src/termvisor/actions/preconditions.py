"""What we believe of a pane just before we act on it, and whether that is reason not to. Pure.

A Belief is fixed once, on the daemon's side; the guard made of it is checked again inside the multiplexer. What is not
known counts against acting.
"""

import re
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions import input_line as screen
from termvisor.actions.pane_agent import Tenant, Voice, screen_of, voice_of, written
from termvisor.agents.adapters.dialog_options import RESTS, Press, unpointed
from termvisor.backends.pane_control import Guard, Sight
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
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.undo import Undoes
from termvisor.model.terminal.pane import InputPlace, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.regex import compile_patterns

FRESH_FOR = 2.0
"""Seconds after which a belief is too old to act on."""
HUMAN_FOR = 3.0
TEXT_LIMIT = 1 << 20
TO_AGENT = AnswerDialog | Interrupt | QuitAgent
"""What is said to an agent by keys, or by its server."""
_OPENS_MENU = ("/", "@", "!", "#")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


class Refusal(Struct, frozen=True, kw_only=True):
    """Why nothing was done. ``why`` is a stable code; expected and actual say what did not fit."""

    why: str
    text: str
    expected: str = ""
    actual: str = ""


class Belief(Struct, frozen=True, kw_only=True):
    view: PaneView
    sight: Sight
    place: InputPlace
    observed_at: int
    is_in_gap: bool = False
    is_ready: bool = False
    tail: tuple[str, ...] = ()
    reservation: Reservation | None = None
    has_line: bool = False
    """The agent's own server can be spoken to."""
    takes_prompts: bool = False
    """And that in the conversation that the pane is sure to show."""
    left: Undoes | None = None
    """What an action that is to be taken back left there."""
    is_own_text: bool = False
    """What stands in the input is the text of that action."""
    tenant: Tenant | None = None
    """The agent that lives there."""
    children: int | None = None
    """Programs that the pane's own process has started and that run; None where that is not known or not asked."""

    def guard(self, shows: str = "") -> Guard:
        return Guard(
            pane=self.sight.pane,
            pid=self.sight.pid,
            command=self.sight.command,
            alternate=self.sight.alternate,
            shows=shows,
            title=self.left.title if self.left else None,
            front=self.left.front if self.left else None,
        )

    @property
    def shown(self) -> Screen:
        return screen_of(self.view.id, self.sight, self.observed_at)

    @property
    def voice(self) -> Voice | None:
        """How to speak to the agent that has the pane before it; None where a shell or another program has."""
        is_shell = self.view.activity.kind == "prompt"
        voice = None if self.tenant is None or is_shell else voice_of(self.tenant.agent)
        return None if voice is None or voice.is_mute else voice

    @property
    def typed(self) -> screen.Typed | None:
        """What stands in the input of a shell at its prompt."""
        return None if self.place.column is None else screen.at_prompt(self.sight, self.place.column)


class Wish(Struct, frozen=True, kw_only=True):
    """What is wanted, by whom, on which terms; and what the policy says about doubtful cases."""

    action: Action
    actor: Actor
    terms: Terms
    allows_unproven: bool = False
    allows_typing_beside_people: bool = False


Check = Callable[[Belief, Wish, int], Refusal | None]


def refusal(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    """The first reason against it, or None."""
    if isinstance(wish.action, AnswerAgent):
        return None  # nothing is done to the pane: the agent itself waits for the answer
    checks: list[Check] = [_as_known, _unreserved, _terms]
    if isinstance(wish.action, SendText | SendKeys | Kill | TO_AGENT):
        checks.append(_not_ourselves)
    if isinstance(wish.action, SendText | SendKeys | TO_AGENT):
        checks += [_listens, _alone, _whole]
    if isinstance(wish.action, TO_AGENT):
        checks.append(_spoken)
    if isinstance(wish.action, SendText):
        checks += [_text, _input(belief, wish)]
    for check in checks:
        if (found := check(belief, wish, now)) is not None:
            return found
    return None


def as_seen(action: Action, belief: Belief | None) -> Action:
    """An answer to whatever dialog is shown is one to this very dialog: what is judged and asked about is exact."""
    if not isinstance(action, AnswerDialog) or action.rows or belief is None or belief.voice is None:
        return action
    press = belief.voice.pick(belief.shown, action.choice)
    return action if press is None else replace(action, rows=press.rows)


def _input(belief: Belief, wish: Wish) -> Check:
    """What must hold of whatever reads there: an agent, a shell at its prompt, or any program."""
    if belief.voice is not None:
        return _composer
    return _prompt if wish.terms.into == "prompt" else _program


def _as_known(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    """The pane is the one that is on record, and what we know of it is not old."""
    view, sight = belief.view, belief.sight
    if view.gone_at is not None:
        return Refusal(why="pane_gone", text="the pane no longer exists")
    if (view.instance.mux_id, view.facts.pid) != (sight.pane, sight.pid):
        return _differs("stale_pid", "another process runs in the pane", str(view.facts.pid), str(sight.pid))
    age = (now - belief.observed_at) / NS
    if age > FRESH_FOR and not wish.terms.force_stale:
        return _differs("stale_snapshot", "what is known of the pane is too old", f"{FRESH_FOR:g} s", f"{age:.1f} s")
    return None


def _unreserved(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    held = belief.reservation
    if held is None or held.expires_at <= now or held.owner == wish.terms.owner:
        return None
    return _differs("reserved", f"the pane is reserved by {held.owner}", wish.terms.owner or "nobody", held.owner)


def _not_ourselves(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    if wish.actor.pane is not None and wish.actor.pane == belief.view.id:
        return Refusal(why="own_pane", text="this is the pane that the caller itself runs in")
    return None


def _listens(belief: Belief, _wish: Wish, _now: int) -> Refusal | None:
    sight = belief.sight
    for is_so, why, text in (
        (sight.dead, "pane_dead", "the program in the pane has ended"),
        (sight.in_mode, "copy_mode", "the pane is in copy mode, which would take the keys"),
        (sight.input_off, "input_off", "the pane's input is switched off"),
        (sight.synchronized, "synchronized", "the pane's input goes to other panes too"),
    ):
        if is_so:
            return Refusal(why=why, text=text)
    return None


def _alone(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    """Nobody types there right now."""
    typing = [person for person in belief.sight.people if (now - person.typed_at) / NS < HUMAN_FOR]
    is_own = wish.actor.kind == "human" and isinstance(wish.action, SendKeys)
    if not typing or wish.allows_typing_beside_people or is_own:
        return None
    return Refusal(
        why="human_typing", text=f"somebody typed there within the last {HUMAN_FOR:g} s ({typing[0].client})"
    )


def _whole(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    if belief.is_in_gap and not wish.terms.force_stale:
        return Refusal(why="recent_gap", text="the pane is not heard completely right now, so nothing can be proven")
    return None


def _text(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    text = wish.action.text if isinstance(wish.action, SendText) else ""
    if not screen.squeeze(text):
        return Refusal(why="nothing_to_see", text="a text of signs that cannot be seen apart from a prompt is not sent")
    if len(text.encode("utf-8", "replace")) > TEXT_LIMIT:
        return Refusal(why="too_long", text=f"the text is longer than {TEXT_LIMIT} bytes")
    if found := _CONTROL.search(text):
        return _differs("control_characters", "the text holds a control character", "none", repr(found[0]))
    is_pasted = belief.place.is_paste_on is True
    if "\n" in text and not is_pasted:
        return Refusal(why="multi_line", text="the program there would run several lines one by one")
    if "\t" in text and not is_pasted:
        return Refusal(why="popup_text", text="a tab would be taken for a request to complete")
    return None


def _prompt(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    """A shell at its prompt, proven, with nothing typed yet."""
    activity = belief.view.activity
    if belief.sight.alternate:
        return Refusal(why="alternate_screen", text="a full-screen program is in the pane")
    if activity.kind != "prompt":
        return _differs("not_at_prompt", "the pane shows no shell's prompt", "prompt", activity.kind)
    if not (activity.is_proven or wish.allows_unproven):
        return Refusal(why="unproven_prompt", text="the prompt's marks do not carry our nonce")
    typed = belief.typed
    if typed is None:
        return Refusal(why="prompt_not_found", text="where the shell's input begins is not known")
    if typed.before.strip() or typed.behind:
        return Refusal(why="input_not_empty", text="something is typed there already")
    return None


def _program(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    text = wish.action.text if isinstance(wish.action, SendText) else ""
    if belief.sight.alternate and not (isinstance(wish.action, SendText) and wish.action.into_screen):
        return Refusal(why="alternate_screen", text="a full-screen program is in the pane")
    if text[:1] in _OPENS_MENU:
        return Refusal(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu there")
    typed = screen.in_program(belief.sight)
    if typed is None:
        return Refusal(why="prompt_not_found", text="the cursor was not found on the screen")
    if screen.squeeze(typed.before) or screen.squeeze(typed.behind):
        return Refusal(why="input_not_empty", text="something stands in the input already")
    return None


def _composer(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    """An agent that takes a prompt: by its server while it rests, else in an empty composer of a screen we know."""
    voice, tenant = belief.voice, belief.tenant
    if voice is None or tenant is None:
        return Refusal(why="no_agent", text="no agent is known to be there")
    if (asking := _asking(belief, voice, tenant)) is not None:
        return asking
    if takes_natively(belief, wish.action):
        return _empty(belief, voice) if wish.terms.is_input_empty else None
    text = wish.action.text if isinstance(wish.action, SendText) else ""
    if text[:1] in _OPENS_MENU:
        return Refusal(why="popup_text", text=f"a text that begins with {text[0]!r} may open a menu there")
    return _empty(belief, voice)


def takes_natively(belief: Belief, action: Action) -> bool:
    """Whether the agent's own server is asked: it rests, and the text is to be sent off."""
    is_whole = isinstance(action, SendText) and action.enter
    return is_whole and belief.takes_prompts and belief.tenant is not None and belief.tenant.state in RESTS


def _asking(belief: Belief, voice: Voice, tenant: Tenant) -> Refusal | None:
    """A dialog would take whatever is typed for its answer."""
    state = voice.look(belief.shown).state
    if not (state.startswith("waiting_") or tenant.state == "waiting_approval"):
        return None
    return Refusal(why="dialog_open", text=f"{tenant.agent} shows a dialog, which would take the text for its answer")


def _empty(belief: Belief, voice: Voice) -> Refusal | None:
    text = written(voice, belief.shown, belief.sight)
    if text is None:
        return Refusal(why="unknown_screen", text="no composer is seen on the agent's screen")
    if screen.squeeze(text):
        return Refusal(why="composer_not_empty", text="something is written in the agent's composer already")
    return None


def _spoken(belief: Belief, wish: Wish, _now: int) -> Refusal | None:
    """The agent that was meant is there, and its screen says what to press."""
    action, voice, tenant = wish.action, belief.voice, belief.tenant
    if not isinstance(action, TO_AGENT):
        return None
    if voice is None or tenant is None:
        return Refusal(why="no_agent", text="no agent that can be spoken to is known to be there")
    if tenant.agent != action.agent:
        return _differs("other_agent", "another agent is there", action.agent, tenant.agent)
    if isinstance(action, AnswerDialog):
        return _same_dialog(voice.pick(belief.shown, action.choice), action)
    if isinstance(action, Interrupt):
        may = belief.has_line or voice.interrupt(belief.shown) is not None
        return None if may else Refusal(why="not_at_work", text="its screen shows no work that could be interrupted")
    return _may_leave(belief, voice, tenant)


def _may_leave(belief: Belief, voice: Voice, tenant: Tenant) -> Refusal | None:
    if (asking := _asking(belief, voice, tenant)) is not None:
        return asking
    if voice.leave(belief.shown) is None:
        return Refusal(why="at_work", text="its screen does not show that it rests: `visor interrupt` stops it")
    return _empty(belief, voice)


def _same_dialog(press: Press | None, action: AnswerDialog) -> Refusal | None:
    if press is None:
        return Refusal(why="no_such_choice", text=f"no dialog is seen in which {action.choice!r} can be picked surely")
    if unpointed(press.rows) != unpointed(action.rows):
        return Refusal(why="dialog_changed", text="another dialog is shown by now")
    return None


def _terms(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    """What the caller asked to hold."""
    terms, view = wish.terms, belief.view
    last = view.last_output_at
    quiet_for = None if last is None else (now - last) / NS
    expectations = (
        (terms.runtime, view.facts.pid, "if_runtime"),
        (terms.state, view.activity.kind, "if_state"),
        ("prompt" if terms.at_prompt else None, view.activity.kind, "if_prompt"),
        (True if terms.is_ready else None, belief.is_ready, "if_ready"),
    )
    for expected, actual, why in expectations:
        if expected is not None and expected != actual:
            return _differs(why, f"--{why.replace('_', '-')} does not hold", str(expected), str(actual))
    if terms.updated_within is not None and (quiet_for is None or quiet_for > terms.updated_within):
        ago = "never" if quiet_for is None else f"{quiet_for:.1f} s ago"
        return _differs("if_updated_within", "the pane printed too long ago", f"{terms.updated_within:g} s", ago)
    return _shown(belief, terms, quiet_for)


def _shown(belief: Belief, terms: Terms, quiet_for: float | None) -> Refusal | None:
    if terms.screen is not None and not fits(terms.screen, "\n".join(screen.plain(belief.sight))):
        return _differs("if_screen", "the screen does not show it", terms.screen, "not on the screen")
    if terms.tail is None:
        return None
    if not fits(f"/{terms.tail}/", "\n".join(belief.tail[-terms.tail_lines :])):
        return _differs("if_tail", "the last lines do not fit", terms.tail, belief.tail[-1] if belief.tail else "")
    if quiet_for is not None and quiet_for < terms.stable_for:
        return _differs("if_tail", "the last lines are too young", f"{terms.stable_for:g} s", f"{quiet_for:.1f} s")
    return None


def fits(pattern: str, text: str) -> bool:
    """A text that stands in it, or a pattern between slashes."""
    if len(pattern) <= 2 or not pattern[0] == pattern[-1] == "/":
        return pattern in text
    try:
        matcher = compile_patterns({"wanted": pattern[1:-1]})
    except ConfigError as error:
        raise BadRequest(
            f"{pattern}: {error.message}", hint="Look-around and back-references are not known."
        ) from error
    return bool(matcher.ids(text.encode("utf-8", "replace")))


def _differs(why: str, text: str, expected: str, actual: str) -> Refusal:
    return Refusal(why=why, text=text, expected=expected, actual=actual)
