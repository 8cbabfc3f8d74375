"""Run scenarios in panes of one tmux server, many at a time, and capture what tmux shows at their end.

Nothing here depends on timing but what the programs print: whatever it is, tmux's text and ours must be the same.
"""

import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from termvisor.testing.private_tmux import PrivateTmux
from tests.live.text_differential.scenario import ScenarioRun
from tests.recordings.terminal_recording import END_MARK, END_TITLE, Recording, Resize, normalize

_TICK_S, _QUIET_S = 0.01, 0.15
_RESIZED_S = 0.6
"""Seconds of quiet after a resize: a daemon notices it within half a second."""
_TIMEOUT_S = 90.0
_SEPARATOR = "=-=-= next pane =-=-="
_KEY = re.compile(r"<([A-Za-z][^<> ]*)>|(.)", re.DOTALL)
_RESIZE = re.compile(r"<resize (\d+)x(\d+)>")
_WRAPPER = """\
. {environment}
export COLUMNS_OF_PANE={width}
mkdir -p {folder} && cd {folder} || exit
trap : INT QUIT
{wait}
sh -c {command}
stty sane -echo
printf {end}
exec sleep 1000
"""


class PaneRun:
    """A scenario that runs in a pane: what was typed so far, and the resizes with their offsets."""

    def __init__(self, run: ScenarioRun, measure: Callable[[], int]):
        self.run = run
        self.resizes: list[Resize] = []
        self.earlier_texts: list[tuple[str, ...]] = []
        self._measure = measure
        """Returns how many bytes of the pane's output are recorded."""
        self._steps = list(run.scenario.steps)
        self._keys: list[list[str]] = []
        self._quiet_s = _QUIET_S
        self._size, self._changed_at, self.started_at = -1, time.monotonic(), time.monotonic()

    def build_recording(self, output: bytes, text: tuple[str, ...]) -> Recording:
        size, resizes = (self.run.width, self.run.height), tuple(self.resizes)
        return Recording(self.run.name, *size, output, text, resizes, tuple(self.earlier_texts))

    @property
    def is_before_resize(self) -> bool:
        return (
            not self._keys and bool(self._steps) and _RESIZE.fullmatch(self._steps[0]) is not None and self._is_quiet()
        )

    def next_command(self) -> list[str] | None:
        """Return the tmux command that types the next key, if it is due."""
        if not self._keys and not (self._steps and self._is_quiet()):
            return None
        if not self._keys:
            step = self._steps.pop(0)
            self._note_quiet_offset()
            if resize := _RESIZE.fullmatch(step):
                return self._resize(*map(int, resize.groups()))
            self._keys = [parse_key(*match.groups()) for match in _KEY.finditer(step)]
            self._size, self._quiet_s = -1, _QUIET_S
        return ["send-keys", "-t", f"={self.run.name}:", *self._keys.pop(0)]

    def _note_quiet_offset(self) -> None:
        if self.resizes and not self.resizes[-1].quiet_offset:
            self.resizes[-1] = replace(self.resizes[-1], quiet_offset=self._size)

    def _resize(self, width: int, height: int) -> list[str]:
        self.resizes.append(Resize(self._measure(), width, height))
        # The program may redraw: wait for quiet again before the next step.
        self._size, self._quiet_s = -1, _RESIZED_S
        return ["resize-window", "-t", f"={self.run.name}:", "-x", str(width), "-y", str(height)]

    def _is_quiet(self) -> bool:
        size, now = self._measure(), time.monotonic()
        if size != self._size:
            self._size, self._changed_at = size, now
        return size > 0 and now - self._changed_at >= self._quiet_s


def batched(items: list[list[str]], size: int) -> Iterator[list[list[str]]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def parse_key(name: str | None, character: str) -> list[str]:
    # A word that is a semicolon would end the command.
    return [name] if name else ["-l", "--", "\\;" if character == ";" else character]


class PaneDriver:
    """Starts panes and drives them to their end."""

    def __init__(self, tmux: PrivateTmux, folder: Path, environment: Path):
        self._tmux, self._folder, self._environment = tmux, folder, environment
        for name in ("bin", "runs", "raw"):
            (folder / name).mkdir(exist_ok=True)

    def start(self, runs: Iterable[ScenarioRun], *, pipe: bool, wait: str = ":") -> None:
        """Start panes in one command list, with a pipe to a file from the first byte on if ``pipe``."""
        commands: list[list[str]] = []
        for run in runs:
            script = self._folder / "bin" / run.name
            script.write_text(self._build_script(run, wait))
            size = ("-x", str(run.width), "-y", str(run.height))
            commands.append(["new-session", "-d", "-s", run.name, *size, f"exec sh {script}"])
            if pipe:
                target = shlex.quote(str(self.get_raw_file(run)))
                commands.append(["pipe-pane", "-O", "-t", f"={run.name}:", f"exec cat >{target}"])
        self._run_list(commands)

    def get_raw_file(self, run: ScenarioRun) -> Path:
        return self._folder / "raw" / run.name

    def press_keys(self, panes: Iterable[PaneRun]) -> None:
        """Type the next key into every pane that is ready for it."""
        panes = list(panes)
        resizing = [pane for pane in panes if pane.is_before_resize]
        texts = self.capture([pane.run.name for pane in resizing])
        for pane in resizing:
            pane.earlier_texts.append(texts[pane.run.name])
        commands = [command for pane in panes if (command := pane.next_command()) is not None]
        self._run_list(commands)
        time.sleep(_TICK_S)

    def list_ended(self) -> set[str]:
        """Return the names of the sessions whose program has ended."""
        listed = self._tmux("list-panes", "-a", "-F", "#{session_name} #{pane_title}").splitlines()
        return {line.split()[0] for line in listed if line.endswith(f" {END_TITLE}")}

    def capture(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the joined lines of the history and the screen of panes, normalized."""
        commands: list[list[str]] = []
        for name in names:
            commands.append(["capture-pane", "-p", "-J", "-S", "-", "-t", f"={name}:"])
            commands.append(["display-message", "-p", _SEPARATOR])
        texts = self._run_list(commands).split(f"{_SEPARATOR}\n")
        return {name: normalize(text.split("\n")) for name, text in zip(names, texts, strict=False)}

    def end(self, names: Iterable[str]) -> None:
        self._run_list([["kill-session", "-t", f"={name}"] for name in names])

    def _build_script(self, run: ScenarioRun, wait: str) -> str:
        octal = "".join(f"\\{byte:03o}" for byte in END_MARK)
        return _WRAPPER.format(
            environment=self._environment,
            folder=self._folder / "runs" / run.name,
            width=run.width,
            command=shlex.quote(run.scenario.command),
            end=shlex.quote(octal),
            wait=wait,
        )

    def _run_list(self, commands: list[list[str]]) -> str:
        """Run commands in few calls and return their output."""
        printed = ""
        # A call is a message to the server, of at most 16 KB.
        for batch in batched(commands, 40):
            words = [word for command in batch for word in (*command, ";")]
            printed += self._tmux(*words[:-1]) + "\n"
        return printed


def describe_stuck(panes: Iterable[PaneRun], driver: PaneDriver) -> str:
    """Return what panes show whose program does not end, for the message of a failed test."""
    screens = driver.capture([pane.run.name for pane in panes])
    return "\n".join(
        f"--- {name} did not end within {_TIMEOUT_S:g} s; its last rows:\n" + "\n".join(text[-8:])
        for name, text in screens.items()
    )


def is_overdue(pane: PaneRun) -> bool:
    return time.monotonic() - pane.started_at > _TIMEOUT_S
