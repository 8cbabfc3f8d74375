"""Analyze programs that bypass the gate: terminal multiplexers, Termvisor itself, input injection, shell history."""

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.word import ShellWord
from termvisor.policy.tmux_keys import TEXT_BY_KEY

_BYPASS = CommandEffect(classes=("bypass",))
_TMUX_OPTIONS = "-L -S -f -c -T"
_TMUX_COMMAND_OPTIONS = "-t -c -n -F -s -e -x -y -l -w -h -b -d -T -N -X -I"
_TMUX_RUN_COMMAND_NAMES = (
    "new-window neww new-session new split-window splitw respawn-pane respawnp run-shell run respawn-window"
    " respawnw if-shell if display-popup popup pipe-pane pipep confirm-before confirm bind-key bind set-hook"
    " command-prompt source-file source"
)
_TMUX_RUN_COMMANDS = frozenset(_TMUX_RUN_COMMAND_NAMES.split())
_READ_ONLY_OP_NAMES = (
    "list-panes state search query events list-events get-text get-screen health doctor version help logs"
    " quick-start list-sessions list-windows list-gaps watch wait-for watch-events explain"
)
_READ_ONLY_OPS = frozenset(_READ_ONLY_OP_NAMES.split())


def _analyze_tmux(call: ProgramCall) -> CommandEffect:
    """Analyze a list of tmux commands separated by `;`."""
    words = getopt.parse_options(call.arguments, _TMUX_OPTIONS, stops_at_operand=True).rest
    commands: list[list[ShellWord]] = [[]]
    for word in words:
        if word.text == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    return merge_effects(NO_EFFECT, *(_analyze_tmux_command(call, command) for command in commands if command))


def _analyze_tmux_command(call: ProgramCall, words: list[ShellWord]) -> CommandEffect:
    verb = words[0].text
    options = getopt.parse_options(words[1:], _TMUX_COMMAND_OPTIONS, stops_at_operand=True)
    if not words[0].is_known:
        return CommandEffect(classes=("dynamic",))
    if verb in ("send-keys", "send", "send-prefix", "paste-buffer", "pasteb", "set-buffer", "load-buffer"):
        text = "".join(TEXT_BY_KEY.get(word.text, word.text) for word in options.rest)
        return merge_effects(
            _BYPASS, CommandEffect(scripts=(ShellWord(text, call.start, call.end),) if text.strip() else ())
        )
    if verb.startswith("kill-"):
        return CommandEffect(classes=("process_kill", "bypass"))
    if verb in _TMUX_RUN_COMMANDS:
        text = " ".join(word.text for word in options.rest)
        return merge_effects(_BYPASS, CommandEffect(scripts=(ShellWord(text, call.start, call.end),) if text else ()))
    return NO_EFFECT


def _analyze_visor(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in getopt.parse_options(call.arguments, "--format", stops_at_operand=True).rest]
    verb = (texts[1:] if texts[:1] == ["robot"] else texts)[:1]
    return NO_EFFECT if not verb or verb[0] in _READ_ONLY_OPS else _BYPASS


def _analyze_screen(call: ProgramCall) -> CommandEffect:
    return _BYPASS if getopt.parse_options(call.arguments, "-S -p -t -c -s").has("-X") else NO_EFFECT


def _analyze_wezterm(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    verbs = ("send-text", "spawn", "kill-pane", "split-pane", "start")
    return _BYPASS if any(verb in texts[:2] for verb in verbs) else NO_EFFECT


def _analyze_bypass(call: ProgramCall) -> CommandEffect:
    return _BYPASS


def _analyze_history(call: ProgramCall) -> CommandEffect:
    """Analyze `fc` and `history`, which run or change earlier commands."""
    options = getopt.parse_options(call.arguments)
    if call.name == "fc" and not options.has("-l"):
        return CommandEffect(classes=("dynamic",))
    return _BYPASS if options.has("-c", "-w", "-d") else NO_EFFECT


ANALYZERS: dict[str, EffectAnalyzer] = {
    "tmux": _analyze_tmux,
    "visor": _analyze_visor,
    "screen": _analyze_screen,
    "wezterm": _analyze_wezterm,
}
ANALYZERS |= dict.fromkeys(("xdotool", "ydotool", "wtype", "reptyr", "ttyecho"), _analyze_bypass)
ANALYZERS |= dict.fromkeys(("fc", "history", "r"), _analyze_history)
