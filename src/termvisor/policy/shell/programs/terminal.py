"""Analyze programs that bypass the gate: terminal multiplexers, Termvisor itself, input injection, shell history."""

from termvisor.policy.request import TEXT_BY_KEY
from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, classify, merge_effects, parse_options
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers
from termvisor.policy.shell.word import ShellWord

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
    words = parse_options(call.arguments, _TMUX_OPTIONS, stops_at_operand=True).rest
    commands: list[list[ShellWord]] = [[]]
    for word in words:
        if word.text == ";":
            commands.append([])
        else:
            commands[-1].append(word)
    return merge_effects(NO_EFFECT, *(_analyze_tmux_command(call, command) for command in commands if command))


def _analyze_tmux_command(call: ProgramCall, words: list[ShellWord]) -> CommandEffect:
    verb = words[0].text
    options = parse_options(words[1:], _TMUX_COMMAND_OPTIONS, stops_at_operand=True)
    if not words[0].is_known:
        return classify("dynamic")
    if verb in ("send-keys", "send", "send-prefix", "paste-buffer", "pasteb", "set-buffer", "load-buffer"):
        text = "".join(TEXT_BY_KEY.get(word.text, word.text) for word in options.rest)
        scripts = (ShellWord(text, call.start, call.end),) if text.strip() else ()
        return CommandEffect(classes=("bypass",), scripts=scripts)
    if verb.startswith("kill-"):
        return classify("process_kill", "bypass")
    if verb in _TMUX_RUN_COMMANDS:
        text = " ".join(word.text for word in options.rest)
        scripts = (ShellWord(text, call.start, call.end),) if text else ()
        return CommandEffect(classes=("bypass",), scripts=scripts)
    return NO_EFFECT


def _analyze_visor(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in parse_options(call.arguments, "--format", stops_at_operand=True).rest]
    verb = (texts[1:] if texts[:1] == ["robot"] else texts)[:1]
    return classify("bypass", when=verb and verb[0] not in _READ_ONLY_OPS)


def _analyze_wezterm(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    verbs = ("send-text", "spawn", "kill-pane", "split-pane", "start")
    return classify("bypass", when=any(verb in texts[:2] for verb in verbs))


def _analyze_history(call: ProgramCall) -> CommandEffect:
    """Analyze `fc` and `history`, which run or change earlier commands."""
    options = parse_options(call.arguments)
    if call.name == "fc" and not options.has("-l"):
        return classify("dynamic")
    return classify("bypass", when=options.has("-c", "-w", "-d"))


ANALYZERS = build_analyzers(
    {
        "tmux": _analyze_tmux,
        "visor": _analyze_visor,
        "screen": ProgramEffectRule(classes=("bypass",), options_with_value="-S -p -t -c -s", flags="-X"),
        "wezterm": _analyze_wezterm,
        "xdotool ydotool wtype reptyr ttyecho": ProgramEffectRule(classes=("bypass",)),
        "fc history r": _analyze_history,
    }
)
