"""Programs that act on terminals, on Termvisor itself, or on what the shell remembers: ways past the gate."""

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.word import Word

_BYPASS = Effect(classes=("bypass",))
_TMUX = "-L -S -f -c -T"
_PLACED = "-t -c -n -F -s -e -x -y -l -w -h -b -d -T -N -X -I"
_RUNS: tuple[str, ...] = (
    "new-window",
    "neww",
    "new-session",
    "new",
    "split-window",
    "splitw",
    "respawn-pane",
    "respawnp",
    "run-shell",
)
_RUNS += ("run", "respawn-window", "respawnw", "if-shell", "if", "display-popup", "popup", "pipe-pane", "pipep")
_RUNS += ("confirm-before", "confirm", "bind-key", "bind", "set-hook", "command-prompt", "source-file", "source")
_KEYS = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " "}
_LOOKS_ONLY: tuple[str, ...] = (
    "list-panes",
    "state",
    "search",
    "query",
    "events",
    "list-events",
    "get-text",
    "get-screen",
    "health",
)
_LOOKS_ONLY += (
    "doctor",
    "version",
    "help",
    "logs",
    "quick-start",
    "list-sessions",
    "list-windows",
    "list-gaps",
    "watch",
)
_LOOKS_ONLY += ("wait-for", "watch-events", "explain")


def _tmux(call: Call) -> Effect:
    """A command list: commands stand between single `;`."""
    words = options.read(call.arguments, _TMUX, is_prefix=True).rest
    commands: list[list[Word]] = [[]]
    for word in words:
        if word.text == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    return plus(NOTHING, *(_tmux_command(call, one) for one in commands if one))


def _tmux_command(call: Call, words: list[Word]) -> Effect:
    verb = words[0].text
    found = options.read(words[1:], _PLACED, is_prefix=True)
    if not words[0].is_known:
        return Effect(classes=("dynamic",))
    if verb in ("send-keys", "send", "send-prefix", "paste-buffer", "pasteb", "set-buffer", "load-buffer"):
        text = "".join(_KEYS.get(word.text, word.text) for word in found.rest)
        return plus(_BYPASS, Effect(scripts=(Word(text, call.start, call.end),) if text.strip() else ()))
    if verb.startswith("kill-"):
        return Effect(classes=("process_kill", "bypass"))
    if verb in _RUNS:
        text = " ".join(word.text for word in found.rest)
        return plus(_BYPASS, Effect(scripts=(Word(text, call.start, call.end),) if text else ()))
    return NOTHING


def _visor(call: Call) -> Effect:
    texts = [word.text for word in options.read(call.arguments, "--format", is_prefix=True).rest]
    verb = (texts[1:] if texts[:1] == ["robot"] else texts)[:1]
    return NOTHING if not verb or verb[0] in _LOOKS_ONLY else _BYPASS


def _screen(call: Call) -> Effect:
    return _BYPASS if options.read(call.arguments, "-S -p -t -c -s").has("-X") else NOTHING


def _wezterm(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    verbs = ("send-text", "spawn", "kill-pane", "split-pane", "start")
    return _BYPASS if any(verb in texts[:2] for verb in verbs) else NOTHING


def _always(call: Call) -> Effect:
    return _BYPASS


def _history(call: Call) -> Effect:
    """`fc -s` and `history -s` run or change what was typed before."""
    found = options.read(call.arguments)
    if call.name == "fc" and not found.has("-l"):
        return Effect(classes=("dynamic",))
    return Effect(classes=("bypass",)) if found.has("-c", "-w", "-d") else NOTHING


LOOKS: dict[str, Look] = {"tmux": _tmux, "visor": _visor, "screen": _screen, "wezterm": _wezterm}
LOOKS |= dict.fromkeys(("xdotool", "ydotool", "wtype", "reptyr", "ttyecho"), _always)
LOOKS |= dict.fromkeys(("fc", "history", "r"), _history)
