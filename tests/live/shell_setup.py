"""A shell with or without the integration of `visor setup shell`, in a captured pane."""

import re
from itertools import count
from pathlib import Path

from termvisor.model.paths import Paths
from termvisor.model.terminal.output import Mark
from termvisor.setup import user_file
from termvisor.setup.shell_integration import Shell, add_block, build_snippet, get_startup_path
from termvisor.terminal.marks import parse_osc_mark
from tests.live.conftest import WatchedTmux
from tests.live.numbered_printer import read_raw_log
from tests.live.polling import wait_until
from tests.live.shell_prompts import skip_fish_first_start

PROMPT = "left> "
START_COMMANDS = {"bash": "bash -i", "zsh": "zsh -d -i", "fish": "fish -i"}
STARTUP_FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": "fish/config.fish"}
STARTUP_TEXT = {
    "bash": "HISTFILE= PROMPT_COMMAND= PS1='left> '\nbind 'set enable-bracketed-paste off'\n",
    "zsh": "HISTFILE= PROMPT_EOL_MARK= PS1='left> '\n",
    "fish": "set -g fish_greeting\nset -g fish_history ''\nfunction fish_prompt; echo -n 'left> '; end\n",
}


class ShellHome:
    """A home folder with a shell start file."""

    def __init__(self, folder: Path, shell: Shell, text: str = ""):
        self.folder, self.shell = folder, shell
        path = folder / STARTUP_FILES[shell]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STARTUP_TEXT[shell] + text)
        skip_fish_first_start(folder)

    def run_setup(self, scene: WatchedTmux) -> "ShellHome":
        """Run `visor setup shell`."""
        visor, own = scene.visor, scene.visor.env
        visor.env = {**own, **self.environ}
        visor.allow_changes()
        visor.run_checked("setup", "shell", self.shell, "--yes")
        visor.env = own
        return self

    def write_setup(self, paths: Paths) -> "ShellHome":
        """Write what `visor setup shell` writes, without starting a process."""
        path = get_startup_path(self.shell, self.environ)
        user_file.replace_user_file(path, add_block(user_file.read_user_file(path), build_snippet(self.shell, paths)))
        return self

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "ZDOTDIR": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}

    def build_command(self, **further: str) -> str:
        """Return a pane command that starts the shell as soon as a file `go` exists."""
        words = [f"{name}='{value}'" for name, value in {**self.environ, **further}.items()]
        wait = f"cd {self.folder} && until [ -e go ]; do sleep 0.02; done"
        return f"{wait}; exec env {' '.join(words)} {START_COMMANDS[self.shell]}"


class ShellPane:
    """A captured pane with a shell of such a home."""

    _numbers = count(1)

    def __init__(self, scene: WatchedTmux, home: ShellHome, **further: str):
        self._scene, self._home = scene, home
        self._mux_id = scene.tmux.start_session(
            f"seat-{next(self._numbers)}", home.build_command(**further), width=90, height=50
        )
        self._prompt_count = 1
        self.pane_id = scene.wait_until_captured(self._mux_id)
        (home.folder / "go").touch()
        wait_until(lambda: self.screen.count(PROMPT.rstrip()) >= 1)

    @property
    def screen(self) -> str:
        rows = self._scene.tmux("capture-pane", "-p", "-t", self._mux_id).split("\n")
        return "\n".join(row.rstrip() for row in rows).rstrip("\n")

    @property
    def raw_output(self) -> bytes:
        self._scene.visor.call_robot(
            "get-text", str(self.pane_id), "--tail", "1"
        )  # afterwards all output is in the raw log
        return read_raw_log(self._scene.visor.paths.raw_dir, self.pane_id)

    @property
    def marks(self) -> list[Mark]:
        """The shell's marks, parsed as the daemon does."""
        payloads = re.findall(rb"\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)", self.raw_output)
        return [mark for payload in payloads if (mark := parse_osc_mark(payload, 0)) is not None]

    def list_marks(self, kind: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind == kind]

    @property
    def reported_lines(self) -> list[str]:
        """The reported command lines, by either kind of mark."""
        return [mark.text for mark in self.marks if mark.kind in ("command_line", "command_start") and mark.text]

    @property
    def reported_exit_codes(self) -> list[int | None]:
        return [mark.exit_code for mark in self.list_marks("command_end")]

    @property
    def activity(self) -> dict:
        return next(item["activity"] for item in self._scene.list_panes() if item["identity"]["id"] == self.pane_id)

    def press_keys(self, *keys: str) -> None:
        self._scene.tmux("send-keys", "-t", self._mux_id, *keys)

    def type_line(self, text: str) -> None:
        self._scene.tmux.type_line(self._mux_id, text)

    def run_lines(self, *lines: str) -> "ShellPane":
        """Type each line and wait for the next prompt."""
        for line in lines:
            self.type_line(line)
            self.wait_for_prompt()
        return self

    def paste_lines(self, *lines: str) -> None:
        """Paste all lines at once, then press Enter."""
        self._scene.tmux("set-buffer", "-b", self._mux_id, "--", "\n".join(lines))
        self._scene.tmux("paste-buffer", "-p", "-r", "-d", "-b", self._mux_id, "-t", self._mux_id)
        self.press_keys("Enter")

    def wait_for_prompt(self) -> None:
        """Wait for one more visible prompt: its mark is printed before the shell is ready to read."""
        self._prompt_count += 1
        wait_until(lambda: len(re.findall(r"^\S*left>", self.screen, re.MULTILINE)) >= self._prompt_count)

    def is_at_prompt(self, last_exit: int) -> bool:
        now = self.activity
        return (now["kind"], now["last_exit"], now["is_proven"]) == ("prompt", last_exit, True)
