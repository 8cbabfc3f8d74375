"""Act on panes: answer, send, interrupt, kill, attach, replay; preview and confirm each action, and show its outcome.

Everything is an operation of the daemon, called as this terminal's user: the gate judges, asks and logs it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import convert

from termvisor.errors import VisorError
from termvisor.frontends.cli.attach import choose_tmux_command
from termvisor.frontends.tui.daemon_calls import CONSENT_CODES, describe_error, render_result
from termvisor.frontends.tui.dialog_rows import find_options
from termvisor.frontends.tui.prompts import LinePrompt
from termvisor.ops.api.catalog import load_operation
from termvisor.ops.history.replay import ReplayArgs
from termvisor.ops.input._action_operation import ActionResult
from termvisor.ops.panes.attach import AttachResult
from termvisor.ops.render.text import RenderOptions, pluralize
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_and_capture, run_in_terminal

if TYPE_CHECKING:
    from termvisor.frontends.tui.cockpit import CockpitApp

_MAX_OPTION_TEXT = 60
"""Characters of an option that must still be on the screen when it is chosen."""
_PLAIN = RenderOptions(width=0)


class PaneActions:
    """Actions on the selected pane, or on all marked ones."""

    def __init__(self, app: "CockpitApp"):
        self._app = app

    # Answers

    async def allow_once(self, pane: int) -> None:
        request = self._app.state.find_request(pane)
        if request is None:
            await self._answer_dialog(pane, "allow", "allow it once")
            return
        number = request.id
        self._app.ask_choice(f"Allow once: {request.what}?", y=("yes", lambda: self._answer("approve", number)))

    async def deny(self, pane: int) -> None:
        request = self._app.state.find_request(pane)
        if request is None:
            await self._answer_dialog(pane, "deny", "deny it")
            return
        number = request.id
        self._app.prompt_line(
            LinePrompt(
                label=f"Deny request {number}; a reason for the agent, or Enter:",
                on_submit=lambda reason: self._answer("deny", number, reason=reason.strip()),
            )
        )

    async def choose_option(self, pane: int, digit: str, screen: Sequence[str]) -> None:
        option = next((one for one in find_options(screen) if one.digit == digit), None)
        if option is None:
            self._app.show_message(f"Pane {pane} shows no dialog with an option {digit}.", "warning")
            return
        shown = option.label[:_MAX_OPTION_TEXT]
        await self._answer_dialog(pane, digit, f"answer {digit}. {option.label}", shown)

    async def _answer_dialog(self, pane: int, choice: str, label: str, shown: str = "") -> None:
        # The gate presses the key only on the dialog with this text: not on another one that came meanwhile.
        params: dict[str, Any] = {"choice": choice, **({"if_screen": shown} if shown else {})}
        await self.preview("answer_dialog", [pane], label, params)

    async def _answer(self, name: str, number: int, **params: Any) -> None:
        self._app.show_message(f"Request {number}: waiting for the outcome …", "dim")
        await self._run(name, f"request {number}", id=number, **params)

    # Actions with a preview

    async def send(self, panes: Sequence[int], text: str) -> None:
        if not text:
            return
        agents = {pane for pane in panes if self._app.state.briefs[pane].agent}
        for group in ([one for one in panes if one in agents], [one for one in panes if one not in agents]):
            if group:
                params = {"text": text, "program": group[0] in agents}
                await self.preview("send_text", group, f"send {text!r}", params)

    async def interrupt(self, panes: Sequence[int]) -> None:
        for name, is_agent in (("interrupt", True), ("kill", False)):
            group = [pane for pane in panes if bool(self._app.state.briefs[pane].agent) is is_agent]
            if group:
                await self.preview(name, group, "interrupt", {})

    async def kill(self, panes: Sequence[int]) -> None:
        def choose(label: str, **params: Any) -> Callable[[], Awaitable[None]]:
            return lambda: self.preview("kill", panes, label, params)

        self._app.ask_choice(
            f"End the program in {describe_panes(panes)}:",
            i=("INT", choose("send INT")),
            t=("TERM", choose("send TERM", signal="TERM")),
            k=("KILL", choose("send KILL", signal="KILL")),
            c=("close the pane", choose("close the pane", close=True)),
        )

    async def preview(self, name: str, panes: Sequence[int], label: str, params: dict[str, Any]) -> None:
        """Show what the gate would say about an action on each pane, and ask whether to go on."""
        lines, allowed = [], []
        for pane in panes:
            try:
                result = convert(await self._app.calls.call(name, pane=str(pane), dry_run=True, **params), ActionResult)
            except VisorError as error:
                lines.append((f"pane {pane}: {describe_error(error)}", "error"))
                continue
            verdict = result.foreseen
            if verdict is None:
                continue
            # A verdict `ask` is answered by the person who reads this; a denial or a failed condition is final.
            is_possible = verdict.answer != "deny" and not verdict.refused
            text = verdict.refused_why or verdict.why
            lines.append((f"pane {pane}: policy: {verdict.answer}{f': {text}' if text else ''}", ""))
            if is_possible:
                allowed.append((pane, verdict.answer == "ask"))
        self._app.show_messages(lines)
        if allowed:
            where = describe_panes([pane for pane, _ in allowed])
            self._app.ask_choice(f"{label}, {where}?", y=("yes", lambda: self._execute(name, allowed, label, params)))

    async def _execute(self, name: str, panes: Sequence[tuple[int, bool]], label: str, params: dict[str, Any]) -> None:
        self._app.show_message(f"{label} …", "dim")
        for pane, needs_consent in panes:
            # `kill` always asks; what is asked was just answered here.
            consent = {"yes": True} if needs_consent or name == "kill" else {}
            await self._run(name, f"pane {pane}: {label}", pane=str(pane), **params, **consent)
        self._app.clear_marks()

    async def _run(self, name: str, label: str, **params: Any) -> None:
        operation = load_operation(name)
        try:
            text = render_result(operation, await self._app.calls.call(name, **params), _PLAIN)
        except VisorError as error:
            style = "warning" if error.code in CONSENT_CODES else "error"
            self._app.show_message(f"{label}: {describe_error(error)}", style)
            return
        self._app.show_message(" · ".join(line.strip() for line in f"{label}: {text}".splitlines()), "running")

    # Leave the view for a while

    async def attach(self, pane: int) -> None:
        """Show the pane in this terminal until the user detaches, or in the client of tmux that runs this view."""
        tmux = get_environment().get("TMUX", "")
        try:
            attached = convert(await self._app.calls.call("attach", pane=str(pane)), AttachResult)
            command = choose_tmux_command(attached, tmux)
        except VisorError as error:
            self._app.show_message(
                f"{describe_error(error)} `visor attach {pane}` shows it in another terminal.", "error"
            )
            return
        if tmux and command == attached.inside != attached.outside:
            status, _, errors = run_and_capture(command)
            if status:
                self._app.show_message(errors.decode("utf-8", "replace"), "error")
            return
        ended = self._app.suspend_for(lambda: run_in_terminal(command))
        if ended is not None:
            self._app.show_message(f"tmux ended with status {ended}." if ended else f"Back from pane {pane}.", "dim")

    async def replay(self, pane: int) -> None:
        from termvisor.frontends.tui.player.player import run_player

        try:
            self._app.suspend_for(lambda: run_player(ReplayArgs(pane=str(pane))))
        except VisorError as error:
            self._app.show_message(describe_error(error), "error")


def describe_panes(panes: Sequence[int]) -> str:
    """Return `pane 7`, or `3 panes (7, 8, 9)`."""
    if len(panes) == 1:
        return f"pane {panes[0]}"
    return f"{pluralize(len(panes), 'pane')} ({', '.join(map(str, panes))})"
