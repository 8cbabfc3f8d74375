"""Programs in panes that log their input: a shell, a line reader and a full-screen editor.

Every sent text is unique, so the log shows how often it arrived with an Enter, in which program, and in the pane of
which first process.
"""

from collections import Counter
from pathlib import Path

from termvisor.settings import Paths, make_instance_folders
from termvisor.setup.shell_integration import build_snippet
from termvisor.system.shell_nonce import load_nonce

SHELL_RC = """
HISTFILE= PROMPT_COMMAND= PS1='$ '
take() {{ printf '%s %s %s\\n' bash $$ "$1" >> {folder}/taken; }}
command_not_found_handle() {{ take "$1"; }}
reader() {{ python3 {folder}/reader.py {folder}/taken $$; }}
editor() {{ python3 {folder}/editor.py {folder}/taken $$; }}
"""
READER = """
import os, sys
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
while True:
    os.write(1, b"> ")
    line = os.read(0, 65536)
    os.write(log, b"python3 %s %s\\n" % (sys.argv[2].encode(), line.strip()))
"""
EDITOR = """
import os, sys, tty
log, whole = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), b""
before = tty.tcgetattr(0)
tty.setraw(0)
os.write(1, b"\\x1b[?1049h\\x1b[2J\\x1b[Htext: ")
while b"\\x03" not in whole:
    data = os.read(0, 65536)
    os.write(1, data.replace(b"\\r", b"\\r\\n"))
    *lines, whole = (whole + data).split(b"\\r")
    os.write(log, b"".join(b"editor %s %s\\n" % (sys.argv[2].encode(), line) for line in lines if line))
os.write(1, b"\\x1b[?1049l")
tty.tcsetattr(0, tty.TCSADRAIN, before)
"""
POLICY = """
unproven_prompt = true
[rates]
per_minute = 100_000
[[rule]]
id = "tests"
when = { actor = ["robot"], kind = ["send_text"] }
answer = "allow"
[commands]
unknown_effect = "allow"
"""
ReceivedInput = tuple[str, str, str]
"""The program, the pane's first process, and the word."""


class InputRecord:
    """The log file of all programs."""

    def __init__(self, paths: Paths):
        make_instance_folders(paths)
        load_nonce(paths.nonce_file)
        self._folder = Path(paths.runtime_dir).parent
        self._log_file = self._folder / "taken"
        self._log_file.touch()
        for path, text in (
            (Path(paths.config_dir, "policy.toml"), POLICY),
            (
                self._folder / "rc",
                SHELL_RC.format(folder=self._folder) + build_snippet("bash", paths).decode(),
            ),
            (self._folder / "reader.py", READER),
            (self._folder / "editor.py", EDITOR),
        ):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    @property
    def shell_command(self) -> str:
        """Return the command of a bash with shell integration that logs `take <word>` and every unknown command.

        At its prompt, `reader` and `editor` start the other two programs as children.
        """
        return f"exec bash --noprofile --rcfile {self._folder}/rc -i"

    @property
    def reader_command(self) -> str:
        """Return the command of a program that reads lines at its own prompt, without integration."""
        return f"exec python3 {self._folder}/reader.py {self._log_file} $$"

    def list_received(self) -> list[ReceivedInput]:
        found = [line.split() for line in self._log_file.read_text().splitlines()]
        return [(one[0], one[1], one[2]) for one in found if len(one) == 3]

    def count_received(self) -> Counter[str]:
        """Return how often each word was received."""
        return Counter(word for _, _, word in self.list_received())
