"""The demo's scripted programs. A scene takes its round number and yields beats: a text and a pause in seconds.

Invariant: at most a few lines per second; all content is invented.
"""

from collections.abc import Callable, Iterator

SceneBeat = tuple[str, float]
DemoScene = Callable[[int], Iterator[SceneBeat]]
_BUILD_UNITS = ("lexer", "parser", "resolver", "typechecker", "optimizer", "codegen", "linker")
_BAR_WIDTH = 28


def play_build(number: int) -> Iterator[SceneBeat]:
    """Play a build with a progress bar that overwrites itself, some warnings, and a failure in every fourth round."""
    yield f"\x1b]2;build #{number + 1}\x07\r\n\x1b[1mbuild #{number + 1}\x1b[0m of project kingfisher\r\n", 1.0
    for done, unit in enumerate(_BUILD_UNITS, 1):
        for step in range(1, 5):
            yield _render_bar(unit, (done - 1) * 4 + step), 0.4
        if (number + done) % 5 == 0:
            yield f"\r\x1b[K\x1b[33mwarning\x1b[0m: src/{unit}.zig:{40 + done}: unused variable `tmp`\r\n", 0.6
    results = ("\x1b[32mfinished\x1b[0m in 11.9 s", "\x1b[31mfailed\x1b[0m: undefined symbol `osprey_init`")
    yield f"\r\x1b[Kbuild #{number + 1} {results[number % 4 == 3]}\r\n", 6.0


def _render_bar(unit: str, step: int) -> str:
    filled = _BAR_WIDTH * step // (len(_BUILD_UNITS) * 4)
    return f"\r\x1b[K[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {100 * filled // _BAR_WIDTH:3d} % {unit}"


_REQUEST_PATHS = ("/api/harbour", "/api/ferries/17", "/login", "/api/tides?port=Lisbon", "/static/albatross.svg")
FAKE_TOKEN = "ghp_" + "d3M0" * 9
"""An invented secret, concatenated so that secret scanners do not report this file."""


def play_log(number: int) -> Iterator[SceneBeat]:
    """Print the log of an invented server, with a secret once per round to show that it is redacted."""
    for turn, path in enumerate(_REQUEST_PATHS * 3):
        count = number * len(_REQUEST_PATHS) * 3 + turn
        status = 503 if count % 13 == 12 else 200
        yield f"{_format_time(count)} INFO  request={count:05d} GET {path} {status} {3 + count * 7 % 90}ms\r\n", 0.7
        if status == 503:
            yield f"{_format_time(count)} ERROR upstream lighthouse timed out, retrying in 2 s\r\n", 2.0
    yield f"{_format_time(number * 15 + 15)} DEBUG harbourmaster uses token={FAKE_TOKEN} for the mirror\r\n", 1.5


def _format_time(count: int) -> str:
    return f"{8 + count // 3600 % 12:02d}:{count // 60 % 60:02d}:{count % 60:02d}"


_PROMPT = "\x1b]133;A\x07\x1b[32mdemo\x1b[0m:\x1b[34m~/kingfisher\x1b[0m$ \x1b]133;B\x07"
_SHELL_COMMANDS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("git status --short", (" M src/parser.zig", "?? notes/pelican.txt"), 0),
    ("run-tests parser", ("parser/unicode ... ok", "parser/empty_input ... ok", "parser/deep_nesting ... FAILED"), 1),
    ("git log --oneline -3", ("a41f0c2 parser: accept a trailing comma", "77be9d1 docs: the seagull guide"), 0),
    ("run-tests parser --only deep_nesting", ("parser/deep_nesting ... ok", "1 passed"), 0),
    ("cat notes/pelican.txt", ("A pelican can hold more in its beak", "than its belly can."), 0),
)


def play_shell(number: int) -> Iterator[SceneBeat]:
    """Play a shell session with OSC 133 marks: a prompt, a typed command, its output, its exit status."""
    yield f"\x1b]7;file://localhost/home/you/kingfisher\x07\x1b]2;shell {number + 1}\x07", 0.5
    for command, lines, status in _SHELL_COMMANDS:
        yield _PROMPT, 2.0
        yield from ((letter, 0.08) for letter in command)
        yield f"\r\n\x1b]133;E;{command}\x07\x1b]133;C\x07", 0.4
        yield from ((line + "\r\n", 0.5) for line in lines)
        yield f"\x1b]133;D;{status}\x07", 2.0


_PROCESS_NAMES = ("indexer", "compactor", "gateway", "scheduler", "thumbnailer", "mailer")
_REPAINTS = 20


def play_top(number: int) -> Iterator[SceneBeat]:
    """Paint a table of invented processes that repaints itself on the alternate screen."""
    yield "\x1b]2;top\x07\x1b[?1049h\x1b[?25l", 0.2
    for repaint in range(_REPAINTS):
        yield _render_processes(number * _REPAINTS + repaint), 1.5
    yield "\x1b[?25h\x1b[?1049l", 0.2
    yield f"top: {_REPAINTS} samples, the busiest was {_PROCESS_NAMES[number % len(_PROCESS_NAMES)]}\r\n", 3.0


def _render_processes(turn: int) -> str:
    loads = [((turn * (5 + index * 3) + index * 17) % 97, name) for index, name in enumerate(_PROCESS_NAMES)]
    rows = [f"{1200 + len(name):6d}  {name:<12} {load:3d} % {'|' * (load // 4)}" for load, name in sorted(loads)[::-1]]
    head = f"\x1b[7m   PID  NAME         LOAD   sample {turn:<6}\x1b[0m"
    return "\x1b[?2026h\x1b[H" + "".join(f"{row}\x1b[K\r\n" for row in (head, *rows)) + "\x1b[J\x1b[?2026l"


DEMO_SCENES: dict[str, DemoScene] = {"build": play_build, "log": play_log, "shell": play_shell, "top": play_top}
"""Scenes by name, each in its own window."""
