"""A shell that `visor setup shell` set up, in a pane that is heard, beside the same shell as it was before."""

import re
from itertools import count
from pathlib import Path

from termvisor.model.terminal.mark import Mark
from termvisor.setup import shell_startup_file as start_file
from termvisor.setup.shell_integration import Shell, path_of, snippet
from termvisor.setup.shell_startup_file import with_block
from termvisor.terminal.osc_marks import mark_of_osc
from tests.live.conftest import Scene
from tests.live.printing import raw_log
from tests.live.shells import not_the_first_start
from tests.live.waiting import until

PROMPT = "left> "
STARTED = {"bash": "bash -i", "zsh": "zsh -d -i", "fish": "fish -i"}
FILES = {"bash": ".bashrc", "zsh": ".zshrc", "fish": "fish/config.fish"}
PLAIN = {
    "bash": "HISTFILE= PROMPT_COMMAND= PS1='left> '\nbind 'set enable-bracketed-paste off'\n",
    "zsh": "HISTFILE= PROMPT_EOL_MARK= PS1='left> '\n",
    "fish": "set -g fish_greeting\nset -g fish_history ''\nfunction fish_prompt; echo -n 'left> '; end\n",
}


class Home:
    """A folder to be at home in, whose shell has this in its start file."""

    def __init__(self, folder: Path, shell: Shell, text: str = ""):
        self.folder, self.shell = folder, shell
        path = folder / FILES[shell]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PLAIN[shell] + text)
        not_the_first_start(folder)

    def set_up(self, scene: Scene) -> "Home":
        """By the command itself."""
        visor, own = scene.visor, scene.visor.env
        visor.env = {**own, **self.environ}
        visor.visor("setup", "shell", self.shell, "--yes")
        visor.env = own
        return self

    def given(self, nonce_file: str) -> "Home":
        """What the command writes, without the cost of a program."""
        path = path_of(self.shell, self.environ)
        start_file.replace(path, with_block(start_file.read(path), snippet(self.shell, nonce_file)))
        return self

    @property
    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.folder), "ZDOTDIR": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}

    def command(self, **further: str) -> str:
        """For a pane: the shell, as soon as there is a file `go`."""
        words = [f"{name}='{value}'" for name, value in {**self.environ, **further}.items()]
        wait = f"cd {self.folder} && until [ -e go ]; do sleep 0.02; done"
        return f"{wait}; exec env {' '.join(words)} {STARTED[self.shell]}"


class Seat:
    """A person before a shell of such a home."""

    _numbers = count(1)

    def __init__(self, scene: Scene, home: Home, **further: str):
        self._scene, self._home = scene, home
        self._mux_id = scene.tmux.start(f"seat-{next(self._numbers)}", home.command(**further), width=90, height=50)
        self._prompts = 1
        self.ours = scene.heard(self._mux_id)
        (home.folder / "go").touch()
        until(lambda: self.screen.count(PROMPT.rstrip()) >= 1)

    @property
    def screen(self) -> str:
        rows = self._scene.tmux("capture-pane", "-p", "-t", self._mux_id).split("\n")
        return "\n".join(row.rstrip() for row in rows).rstrip("\n")

    @property
    def raw(self) -> bytes:
        self._scene.visor.robot("get-text", str(self.ours), "--tail", "1")  # what was printed is in the log then
        return raw_log(self._scene.visor.places.raw_dir, self.ours)

    @property
    def marks(self) -> list[Mark]:
        """What the shell told, as the daemon reads it."""
        payloads = re.findall(rb"\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)", self.raw)
        return [mark for payload in payloads if (mark := mark_of_osc(payload, 0)) is not None]

    def told(self, kind: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind == kind]

    @property
    def lines_told(self) -> list[str]:
        """The command lines, whichever way this shell sends them."""
        return [mark.text for mark in self.marks if mark.kind in ("command_line", "command_start") and mark.text]

    @property
    def ends_told(self) -> list[int | None]:
        return [mark.exit_code for mark in self.told("command_end")]

    @property
    def activity(self) -> dict:
        return next(item["activity"] for item in self._scene.panes() if item["identity"]["id"] == self.ours)

    def press(self, *keys: str) -> None:
        self._scene.tmux("send-keys", "-t", self._mux_id, *keys)

    def type(self, text: str) -> None:
        self._scene.tmux.type(self._mux_id, text)

    def run(self, *lines: str) -> "Seat":
        """Type each line and wait for the next prompt."""
        for line in lines:
            self.type(line)
            self.comes_back()
        return self

    def comes_back(self) -> None:
        """Wait for one more prompt to be seen: its mark comes before the shell is ready to read."""
        self._prompts += 1
        until(lambda: len(re.findall(r"^\S*left>", self.screen, re.MULTILINE)) >= self._prompts)

    def is_at_prompt(self, last_exit: int) -> bool:
        now = self.activity
        return (now["kind"], now["last_exit"], now["is_proven"]) == ("prompt", last_exit, True)
