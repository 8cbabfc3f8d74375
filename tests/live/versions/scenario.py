"""Drive a real agent of any version through one scenario, and record what it shows and reports.

Nothing here reads the meaning of a screen: a step waits for the scripted model (a request came, its reply was sent, the
connection was closed), for a file that a tool makes, or for a screen that no longer changes. What such facts cannot
prove is not recorded: a step whose effect did not happen is left out, and named in ``skipped``.
"""

import os
import termios
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec.structs import replace

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.target import LOCAL
from termvisor.system.process_lifetime import compute_start_instant
from tests.live.agents.agent_pane import AgentPane
from tests.live.agents.model.server import ModelExchange, ModelServer
from tests.live.agents.record_collector import RecordCollector
from tests.live.polling import wait_until
from tests.live.versions.packages import AgentPackage
from tests.live.versions.screen_text import remove_moving_glyphs, squeeze, trim_rows
from tests.recordings.version_recording import RecordedMoment, RecordedSample

T = TypeVar("T")
SECOND_NS = 10**9
WATCHED_S = 4.5
"""How long each moment is recorded."""
SAMPLE_INTERVAL_S = 0.4
_STEP_TIMEOUT_S = 25.0
_START_TIMEOUT_S = 60.0
_MAX_RECORD_CHARS, _MAX_UNREAD_CHARS = 20_000, 300
"""Longer records are left out; short ones that no reader knows yet are kept for later readers."""
_LOCAL_MODES = 3
"""Index in the list of `termios.tcgetattr`."""


@dataclass
class ScenarioRun:
    """One agent process in a pane, connected to the scripted model."""

    package: AgentPackage
    agent_pane: AgentPane
    model: ModelServer
    window_style: str = "default"
    """Colours of the pane, which agents ask the terminal for."""
    moments: list[RecordedMoment] = field(default_factory=list)
    samples: list[RecordedSample] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _number: int = 0
    """Of the last prompt that was sent."""
    _last_shown: tuple[object, ...] = ()
    _is_over: threading.Event = field(default_factory=threading.Event)
    _collector: RecordCollector | None = None

    def __post_init__(self) -> None:
        self._sampler = threading.Thread(target=self._take_samples, daemon=True)

    def start(self, *more: str) -> None:
        """Start the program, sample from then on, and wait until it accepts text."""
        pane = self.agent_pane
        command = f"{pane.program.build_command(pane.place, *more).replace('exec env', 'env')}; exec sh"
        if not pane.pane:
            pane.pane = pane.tmux.start_session(command="sh", width=pane.width, height=pane.height)
            pane.tmux("pipe-pane", "-O", "-t", pane.pane, f"cat >> '{pane.output}'")
            pane.tmux("set-option", "-g", "window-style", self.window_style)
        pane.tmux("respawn-pane", "-k", "-t", pane.pane, command)
        self._set_process()
        self._sampler.start()
        self._wait_until_accepts_text()
        self._set_process()  # some replace themselves while they start

    def _set_process(self) -> None:
        pane = self.agent_pane
        process = wait_until(self._find_process, timeout_s=_START_TIMEOUT_S)
        self.runtime = AgentProcess(
            id=RuntimeId(1),
            pane=PaneId(1),
            place=PaneLocation(LOCAL.name, pane.tmux.socket, MuxPaneId(pane.pane)),
            agent=self.package.adapter.name,
            pid=process.pid,
            pid_started=process.pid_started,
            cwd=process.cwd,
            started_at=compute_start_instant(process.pid_started, time.time_ns()),
        )
        if self._collector is None or self._collector.process.pid != process.pid:
            self._collector = RecordCollector(pane, self.package.adapter, process, self.runtime)

    def run(self) -> None:
        """Start the agent and run all steps while another thread samples. A step that fails is skipped."""
        try:
            self.start()
            self._run_steps()
        finally:
            self._is_over.set()
            if self._sampler.ident:
                self._sampler.join()

    def _run_steps(self) -> None:
        for step in (
            self.record_start,
            self.record_turn,
            self.record_allowed_command,
            self.record_refused_command,
            self.record_question,
            self.record_draft,
            self.record_interrupt,
            self.record_retry,
            self.record_compaction,  # before the errors: after it some versions answer an unanswered prompt again
            self.record_error,
            self.record_login_error,
            self.record_limit,
            self.record_exit,
        ):
            try:
                step()
            except AssertionError as error:
                self.skipped.append(f"{step.__name__}: {str(error)[:200]}")
                if not self.model.exchanges:  # this version cannot use the scripted model
                    return
                self._return_to_prompt()

    # Steps

    def record_start(self) -> None:
        self._wait_until_still(3.0)  # notices that follow a start, and the letters typed to see whether it accepts text
        self.record_moment("started", ["idle"])

    def record_turn(self) -> None:
        exchange = self.ask("MODEL slow 9")
        self.record_moment("running", ["running"], since=exchange.asked_at)
        self.wait_for_reply(exchange)
        self.record_moment("completed", ["completed"], since=exchange.answered_at)

    def record_allowed_command(self) -> None:
        exchange = self._request_command("made")
        self._answer("allow")
        self._wait(self._has_file("made"), "the allowed command did not run")
        since = time.time_ns()
        if not self.package.runs_commands_after_turn:
            after = self._wait(lambda: self._find_reply_after(exchange), "no reply after the allowed command")
            since = after.answered_at
        self.record_moment("allowed", ["completed"], since=since)

    def record_refused_command(self) -> None:
        exchange = self._request_command("other")
        pressed_at = time.time_ns()
        for key in self.package.refuse_keys:
            self.agent_pane.press(key)
            self._wait_until_still(0.6)  # some ask for a reason first
        if self._is_pending(exchange):
            self.agent_pane.press("Escape")
            self._wait_until_still()
        assert not self._has_file("other")(), "the refused command ran"
        self._record_rest("refused", pressed_at)

    def record_question(self) -> None:
        assert self.package.question, "this agent does not ask"
        exchange = self.ask(f"MODEL tool {self.package.question}")
        self.wait_for_reply(exchange)
        self._wait_until_still()
        assert self._find_reply_after(exchange) is None, "this version does not ask"
        self.record_moment("question", ["waiting_input"], since=exchange.answered_at)
        pressed_at = time.time_ns()
        self.agent_pane.press("Escape")
        self._wait_until_still()
        self._record_rest("question_dismissed", pressed_at)

    def record_draft(self) -> None:
        self.type_text("a thought that is not sent")
        self.record_moment("draft", ["idle", "completed"])
        self._clear_composer()

    def record_interrupt(self) -> None:
        exchange = self.ask("MODEL slow 40")
        time.sleep(2.0)  # into the middle of the turn
        pressed_at = time.time_ns()
        self._interrupt(exchange)
        self.record_moment("interrupted", ["idle", "completed"], since=max(pressed_at, exchange.aborted_at))
        self._clear_composer()  # some versions put the prompt back

    def record_retry(self) -> None:
        exchange = self.ask("MODEL stall 12")
        self.record_moment("stalled", ["running"], since=exchange.asked_at)
        self.wait_for_reply(exchange)
        self.record_moment("answered", ["completed"], since=exchange.answered_at)

    def record_error(self) -> None:
        self.ask("MODEL fail 422")
        since = self._wait_for_last_reply()
        self.record_moment("error_422", ["error"], since=since)
        if self._poll(lambda: any(one.asked_at > since for one in self.model.exchanges), 8.0):  # it still retries
            self.moments[-1] = replace(self.moments[-1], truths=("running",))
            self._return_to_prompt()

    def record_login_error(self) -> None:
        self.ask("MODEL fail 401")
        refused = ["error", "waiting_input", "waiting_approval"]
        self.record_moment("error_401", refused, since=self._wait_for_last_reply())
        self._return_to_prompt()

    def record_limit(self) -> None:
        exchange = self.ask("MODEL limit")
        self.wait_for_reply(exchange)
        limited = ["error", "waiting_input", "waiting_approval", "running"]  # depends on the vendor
        self.record_moment("usage_limit", limited, since=exchange.answered_at)
        self._return_to_prompt()

    def record_compaction(self) -> None:
        assert self.package.compact_command, "this agent has no command for it"
        self._submit(self.package.compact_command)
        self._wait_until_still(3.5)  # the model takes three seconds for a summary
        while self._poll(self._is_summarizing, 1.0):
            self._wait_until_still()  # some versions ask for two
        self.record_moment("compacted", ["idle", "completed"])

    def record_exit(self) -> None:
        self._submit(self.package.exit_command)
        if not self._poll(lambda: self._find_process() is None, 8.0):
            self._return_to_prompt()  # its first letter may be lost after an interrupt
            self._submit(self.package.exit_command)
        self._wait(lambda: self._find_process() is None, "did not exit")
        self.record_moment("left", ["gone"])

    # Acting

    def ask(self, prompt: str) -> ModelExchange:
        """Send a prompt and return the request that the model got for it."""
        mark = f"step {self._number + 1}:"
        self._submit(f"{mark} {prompt}")
        self._number += 1
        return self._wait(lambda: self._find_request(mark), f"no request for {prompt!r}")

    def wait_for_reply(self, exchange: ModelExchange) -> None:
        self._wait(lambda: exchange.answered_at or exchange.aborted_at, "the model's reply did not end", 60.0)
        assert exchange.answered_at, "the agent closed the connection"

    def _wait_for_last_reply(self) -> int:
        """Wait until the agent has stopped retrying, and return when the last reply ended."""
        self._wait(self._is_model_quiet, "the agent goes on retrying", 60.0)
        return max(one.answered_at for one in self.model.exchanges)

    def _find_rest_time(self, pressed_at: int) -> int:
        """Return when the agent came to rest: some ask the model again after a refusal."""
        return max(pressed_at, *(one.answered_at for one in self.model.exchanges))

    def _is_model_quiet(self) -> bool:
        ends = [one.answered_at or one.aborted_at for one in self.model.exchanges]
        return all(ends) and time.time_ns() - max(ends) > 4 * SECOND_NS

    def type_text(self, text: str) -> None:
        pane = self.agent_pane
        pane.tmux("send-keys", "-t", pane.pane, "-l", "--", text)
        tail = squeeze(text)[-25:]
        self._wait(lambda: tail in squeeze(pane.capture_text()), f"{text!r} is not on the screen")

    def _submit(self, text: str) -> None:
        self.type_text(text)
        self._wait_until_still(0.6)  # a slash opens a menu that ignores an early Enter
        self.agent_pane.press("Enter")

    def _request_command(self, name: str) -> ModelExchange:
        exchange = self.ask(f"MODEL shell touch {name}")
        self.wait_for_reply(exchange)
        self._wait_until_still()
        assert self._is_pending(exchange) and not self._has_file(name)(), "the command ran without a question"
        self.record_moment(f"asked_{name}", ["waiting_approval"], since=exchange.answered_at)
        return exchange

    def _answer(self, decision: str) -> None:
        """Press the adapter's keys for the dialog; if it finds none, Enter, which allows in all known versions."""
        interaction = get_agent_interaction(self.package.adapter.name)
        press = interaction and interaction.find_choice_keys(self.agent_pane.capture_screen(), decision)
        for key in press.keys if press else ("Enter",):
            self.agent_pane.press(key)
            time.sleep(press.pause_s if press else 0.0)

    def _interrupt(self, exchange: ModelExchange) -> None:
        for _ in range(4):
            for key in self.package.interrupt_keys:
                self.agent_pane.press(key)
                time.sleep(0.2)
            if self._poll(lambda: exchange.aborted_at, 3.0):
                return
        raise AssertionError("the agent does not stop")

    def _return_to_prompt(self) -> None:
        """Leave dialogs and turns until typed text appears again."""
        # A dialog that Escape does not close is left by its last option, which is the one that stops or refuses.
        for keys in (self.package.interrupt_keys, ("Escape",), ("Escape",) * 2, ("Up", "Enter"), ("C-c",), ("Escape",)):
            for key in keys:
                self.agent_pane.press(key)
                time.sleep(0.2)
            self._wait_until_still()
            self._clear_composer()
            if self._accepts_text():
                return

    def _clear_composer(self) -> None:
        self.agent_pane.press("C-u")
        self._wait_until_still(0.6)
        self.agent_pane.press(*(["BSpace"] * 60))
        self._wait_until_still(0.6)

    # Waiting

    def _wait_until_accepts_text(self) -> None:
        accepted = 0
        self._poll(lambda: not self._echoes_keys(), _START_TIMEOUT_S)
        for _ in range(8):
            self._wait_until_still(1.5)
            accepted = accepted + 1 if self._accepts_text() else 0
            if accepted == 2:  # once may be before a dialog at the start
                assert self._find_process(), f"it has exited\n{self.agent_pane.capture_text()}"
                return
            if accepted:
                continue
            for key in self.package.notice_keys:
                self.agent_pane.press(key)
        raise AssertionError(f"it does not accept text\n{self.agent_pane.capture_text()}")

    def _accepts_text(self) -> bool:
        """Type three letters and delete them; a dialog does not show them, and neither does a program that starts."""
        pane = self.agent_pane
        if self._echoes_keys():
            return False
        pane.tmux("send-keys", "-t", pane.pane, "-l", "--", "zqy")
        is_shown = bool(self._poll(lambda: "zqy" in pane.capture_text(), 3.0))
        pane.press("BSpace", "BSpace", "BSpace")
        self._poll(lambda: "zqy" not in pane.capture_text(), 2.0)
        return is_shown

    def _echoes_keys(self) -> bool:
        """Return True if the terminal itself shows what is typed: no program reads single keys yet, or any more."""
        pane = self.agent_pane
        terminal = os.open(pane.tmux.read_format(pane.pane, "#{pane_tty}"), os.O_RDWR | os.O_NOCTTY)
        try:
            return bool(termios.tcgetattr(terminal)[_LOCAL_MODES] & termios.ECHO)
        finally:
            os.close(terminal)

    def _wait_until_still(self, seconds: float = 1.2) -> None:
        """Wait until nothing but a clock or a spinner has changed for this long, or for a limited time."""
        deadline, since, last = time.monotonic() + 12.0, time.monotonic(), ""
        while time.monotonic() < deadline and time.monotonic() - since < seconds:
            if (text := remove_moving_glyphs(self.agent_pane.capture_text())) != last:
                last, since = text, time.monotonic()
            time.sleep(0.1)

    def _wait(self, check: Callable[[], T | None], what: str, seconds: float = _STEP_TIMEOUT_S) -> T:
        found = self._poll(check, seconds)
        assert found, f"{what}\n{self.agent_pane.capture_text()}"
        return found

    def _poll(self, check: Callable[[], T], seconds: float) -> T:
        """Return what the check found, or its last result after this time."""
        deadline = time.monotonic() + seconds
        while not (found := check()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def _find_request(self, mark: str) -> ModelExchange | None:
        return next((one for one in self.model.exchanges if mark in one.text), None)

    def _find_reply_after(self, exchange: ModelExchange) -> ModelExchange | None:
        later = [one for one in self.model.exchanges if one.asked_at > exchange.answered_at and one.answered_at]
        return later[0] if later else None

    def _is_pending(self, exchange: ModelExchange) -> bool:
        return not any(one.asked_at > exchange.answered_at for one in self.model.exchanges)

    def _is_summarizing(self) -> bool:
        return any(not one.answered_at and not one.aborted_at for one in self.model.side_exchanges)

    def _has_file(self, name: str) -> Callable[[], bool]:
        return (self.agent_pane.place.cwd / name).exists

    def _find_process(self) -> ProcessInfo | None:
        first = int(self.agent_pane.tmux.read_format(self.agent_pane.pane, "#{pane_pid}"))
        adapter = self.package.adapter
        return adapter.find_process(PaneProcessScanner(adapter.env_names).scan_sync({"": first})[""])

    # Recording

    def record_moment(self, name: str, truths: Sequence[str], since: int = 0) -> None:
        """Label the time from ``since`` on, or from now on, and let it last for some seconds."""
        since = since or time.time_ns()
        time.sleep(max(0.0, WATCHED_S - (time.time_ns() - since) / SECOND_NS))
        assert "gone" in truths or self._find_process(), "it has exited"
        self.moments.append(RecordedMoment(name=name, truths=tuple(truths), at=since))

    def _record_rest(self, name: str, pressed_at: int) -> None:
        """Label the rest after a dialog; it is proven afterwards by text that the agent accepts."""
        since = self._find_rest_time(pressed_at)
        self.record_moment(name, ["idle", "completed"], since=since)
        if self._find_rest_time(pressed_at) > since:  # it has asked the model meanwhile
            del self.moments[-1]
            self.record_moment(name, ["idle", "completed"], since=self._find_rest_time(pressed_at))
        if not self._accepts_text():
            del self.moments[-1]
            raise AssertionError(f"the dialog is still open, or another one: {name}")

    def _take_samples(self) -> None:
        while not self._is_over.wait(SAMPLE_INTERVAL_S):
            sample = self._take_sample()
            if sample.rows is not None or sample.records or not self.samples:
                self.samples.append(sample)

    def _take_sample(self) -> RecordedSample:
        screen = self.agent_pane.capture_screen()
        rows = trim_rows(screen.rows)
        # A program may draw and then move the cursor: a sample between the two must not be the last one.
        shown = (rows, screen.cursor_x, screen.cursor_y)
        is_changed, self._last_shown = shown != self._last_shown, shown
        records = self._collector.collect_all() if self._collector else []
        return RecordedSample(
            at=time.time_ns(),
            rows=rows if is_changed else None,
            cursor=(screen.cursor_x, screen.cursor_y),
            is_alternate=screen.alternate,
            records=tuple(one for one in records if self._is_kept(one)),
        )

    def _is_kept(self, record: SourceRecord) -> bool:
        is_read = self.package.adapter.read_record(record)
        return len(record.text) < (_MAX_RECORD_CHARS if is_read else _MAX_UNREAD_CHARS)
