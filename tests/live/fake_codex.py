"""A fake Codex: it paints Codex' screens, logs all input, and answers.

It is started under the name `codex` by an interpreter that loads this file as `sitecustomize`, so that its argv is what
was typed, as with the real program. Cues arrive by a FIFO, one per line. Input is logged in `arrived`, one JSON line
with pid and bytes per read.
"""

import json
import os
import select
import signal
import sys
import termios
import textwrap
import time
import tty
from pathlib import Path

HEADER_ROWS = ["", "  >_ OpenAI Codex (v0.166.0)", "     /home/dev/work", ""]
PLACEHOLDER = "Ask Codex to do anything"
MAX_HELLOS, TICK_S = 240, 0.25
"""How often a resumed session is reported, and the interval in seconds."""
FOOTER_ROW = "  scripted-model default · /home/dev/work"
DIALOG = """
  Would you like to run the following command?

  Environment: local

  Reason: May it run?

  $ {}

› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `{}` (p)
  3. No, and tell Codex what to do differently (esc)

  Press enter to confirm or esc to cancel"""
LOGIN = """
Welcome to Codex, OpenAI's command-line coding agent

Follow these steps to sign in with ChatGPT using device code authorization:

1. Open this link in your browser and sign in to your account
   https://auth.openai.com/codex/device

2. Enter this one-time code (expires in 15 minutes)
   {}

  Press Esc to cancel"""
EXIT_MESSAGE = """Disconnected from this task. Any running work continues.
To reconnect, run:
  codex resume {0}
Stop the current turn: run codex agents, select this task, and press x.
Token usage so far: total=1,525 input=1,500 output=25
"""


class FakeCodex:
    def __init__(self, folder: Path, session: str):
        self._folder, self._session = folder, session
        self._rows: list[str] = []
        self._input_text, self._dialog, self._is_working = "", "", False
        self._turn_status: dict[str, object] = {}
        """The last reported turn status, while it is valid."""
        self._cue_fd = os.open(folder / "cues", os.O_RDWR)
        self._input_log_fd = os.open(folder / "arrived", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._original_mode = termios.tcgetattr(0)
        tty.setraw(0)
        self._write("\x1b[?1049h\x1b[?2004h")
        self._rollout_file = Path.home() / ".codex/sessions/2026/11/16" / f"rollout-2026-11-16T05-09-29-{session}.jsonl"
        self._hellos_left = MAX_HELLOS if self._rollout_file.exists() else 0
        self._append_rollout("session_meta", id=session, cwd=os.getcwd(), originator="codex-tui", cli_version="0.166.0")

    def run(self) -> None:
        while True:
            self._paint()
            ready = select.select(
                [0, self._cue_fd], [], [], TICK_S if self._hellos_left or self._turn_status else None
            )[0]
            if not ready:
                self._repeat_status()
            if 0 in ready:
                self._handle_input(os.read(0, 65536))
            if self._cue_fd in ready:
                for line in os.read(self._cue_fd, 65536).decode().splitlines():
                    self._run_cue(*line.split(" ", 1))

    def _repeat_status(self) -> None:
        """Repeat the status: a daemon that starts later reads only lines that are appended then."""
        if self._turn_status:
            self._append_rollout("event_msg", **self._turn_status)
        if self._hellos_left:
            self._hellos_left -= 1
            self._cue_hello("")

    def _handle_input(self, data: bytes) -> None:
        os.write(self._input_log_fd, json.dumps([os.getpid(), data.decode("utf-8", "replace")]).encode() + b"\n")
        text = data.decode("utf-8", "replace").replace("\x1b[200~", "").replace("\x1b[201~", "")
        if self._dialog:
            self._answer_dialog(text)
            return
        for sign in text:
            if sign == "\x03":
                self._exit()
            elif sign == "\x1b":
                self._interrupt()
            elif sign == "\r":
                self._submit()
            else:
                self._input_text += sign

    def _answer_dialog(self, text: str) -> None:
        self._dialog = ""
        self._rows.append(f"✔ You approved {text!r}" if text == "y" else "✗ You canceled the request to run it")
        if text == "y":
            self._cue_work("")

    def _interrupt(self) -> None:
        if self._is_working:
            self._end_turn("■ Conversation interrupted - tell the model what to do differently.")

    def _submit(self) -> None:
        if not self._input_text:
            return
        self._rows += ["", *textwrap.wrap(f"› {self._input_text}", 100, subsequent_indent="  "), ""]
        self._input_text = ""
        self._cue_work("")

    def _end_turn(self, *rows: str) -> None:
        self._is_working = False
        self._rows += [*rows, ""]

    def _run_cue(self, word: str, rest: str = "") -> None:
        getattr(self, f"_cue_{word}")(rest)

    def _cue_compact(self, _rest: str) -> None:
        self._append_rollout("compacted", message="")
        self._end_turn("• Context compacted · 3s", "", "  Worked for 3s • 05:09")

    def _cue_limit(self, rest: str) -> None:
        visit = "Visit https://chatgpt.com/settings/usage to purchase more credits or try again"
        error = {"codex_error_info": "usage_limit_exceeded", "message": f"You’ve hit your usage limit. {visit} {rest}."}
        self._turn_status = {"type": "task_complete", "error": error}
        self._repeat_status()
        self._end_turn(f"■ You’ve hit your usage limit. {visit}", f"{rest}.")

    def _cue_login(self, rest: str) -> None:
        self._dialog = LOGIN.format(rest)

    def _cue_welcome(self, _rest: str) -> None:
        self._dialog = ""
        self._end_turn("• Signed in with your ChatGPT account", "", "  Worked for 1s • 05:09")

    def _cue_permission(self, rest: str) -> None:
        self._dialog = DIALOG.format(rest, rest)

    def _cue_hello(self, _rest: str) -> None:
        """Report which session this is."""
        self._append_rollout("turn_context", model="scripted-model")

    def _cue_say(self, rest: str) -> None:
        self._rows.append(f"• {rest}")

    def _cue_work(self, _rest: str) -> None:
        """Work until the cue `finish`."""
        self._is_working, self._turn_status = True, {"type": "task_started"}
        self._repeat_status()

    def _cue_finish(self, _rest: str) -> None:
        if self._is_working:
            self._turn_status = {}
            self._append_rollout("event_msg", type="task_complete", last_agent_message="Done.")
            self._end_turn("• Done.", "  Worked for 1s • 05:09")

    def _append_rollout(self, kind: str, **payload: object) -> None:
        """Append a line to the session file."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() // 10**6 % 1000:03d}Z"
        self._rollout_file.parent.mkdir(parents=True, exist_ok=True)
        with self._rollout_file.open("a") as file:
            file.write(json.dumps({"timestamp": at, "type": kind, "payload": {"timestamp": at, **payload}}) + "\n")

    def _cue_leave(self, _rest: str) -> None:
        self._exit()

    def _cue_crash(self, _rest: str) -> None:
        self._restore_terminal()
        os.kill(os.getpid(), signal.SIGSEGV)

    def _exit(self) -> None:
        self._restore_terminal()
        self._write(EXIT_MESSAGE.format(self._session))
        os._exit(0)

    def _restore_terminal(self) -> None:
        self._write("\x1b[?2004l\x1b[?1049l")
        termios.tcsetattr(0, termios.TCSADRAIN, self._original_mode)

    def _paint(self) -> None:
        width, height = os.get_terminal_size(1)
        work = ["• Working (0s • esc to interrupt)", ""] if self._is_working else []
        typed = textwrap.wrap(self._input_text, width - 4, drop_whitespace=False) or [""]
        written = typed if self._input_text else [PLACEHOLDER]
        composer = [f"{'›' if at == 0 else ' '} {row}" for at, row in enumerate(written)]
        foot = self._dialog.splitlines() if self._dialog else [*work, *composer, "", FOOTER_ROW]
        rows = [*HEADER_ROWS, *self._rows, *foot][-height:]
        row, column = (len(rows), 1) if self._dialog else (len(rows) - 2, 3 + len(typed[-1]))
        shown = "\r\n".join(row[:width] for row in rows)
        self._write(f"\x1b[?2026h\x1b[H\x1b[2J{shown}\x1b[{row};{column}H\x1b[?2026l")

    def _write(self, text: str) -> None:
        os.write(1, text.replace("\n", "\r\n").replace("\r\r", "\r").encode())


def main() -> None:
    words = sys.orig_argv[1:]
    folder = Path(os.environ["FAKE_CODEX_FOLDER"])
    with (folder / "started").open("a") as file:
        file.write(json.dumps([os.getpid(), words]) + "\n")
    FakeCodex(folder, words[1] if words[:1] == ["resume"] else os.environ["FAKE_CODEX_SESSION"]).run()


if __name__ == "sitecustomize":
    main()
