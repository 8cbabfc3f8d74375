"""Programs that bypass the gate: terminal multiplexers, Termvisor itself, input injection, shell history."""

from termvisor.policy.request import TEXT_BY_KEY
from termvisor.policy.shell.call import (
    NO_EFFECT,
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.word import ShellWord

_TMUX_COMMAND_OPTIONS = "-t= -c= -n= -F= -s= -e= -x= -y= -l= -w= -T= -N= -X= -I="
_TMUX_RUN_COMMAND_NAMES = (
    "new-window neww new-session new split-window splitw respawn-pane respawnp run-shell run respawn-window"
    " respawnw if-shell if display-popup popup pipe-pane pipep confirm-before confirm bind-key bind set-hook"
    " command-prompt source-file source set-option set setw set-window-option set-environment setenv display-menu menu"
)
_TMUX_RUN_COMMANDS = frozenset(_TMUX_RUN_COMMAND_NAMES.split())
_TMUX_READ_COMMAND_NAMES = (
    "ls list-sessions list-windows lsw list-panes lsp list-clients lsc list-keys list-commands list-buffers"
    " show-options show show-environment show-messages show-hooks display-message display capture-pane capturep"
    " has-session has info attach attach-session a select-pane selectp select-window selectw switch-client resize-pane"
    " resizep next-window previous-window last-window last-pane rename-window rename-session detach-client detach"
    " show-buffer start-server"
)
_TMUX_READ_COMMANDS = frozenset(_TMUX_READ_COMMAND_NAMES.split())


def analyze_tmux(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze a list of tmux commands separated by `;`."""
    commands: list[list[ShellWord]] = [[]]
    for word in options.rest:
        if word.text == ";":
            commands.append([])
        else:
            commands[-1].append(word)
            # tmux also splits at a `;` that ends a word.
            commands += [[]] if word.text.endswith(";") else []
    return merge_effects(NO_EFFECT, *(_analyze_tmux_command(call, command) for command in commands if command))


def _analyze_tmux_command(call: ProgramCall, words: list[ShellWord]) -> CommandEffect:
    verb = words[0].text.rstrip(";")
    options = parse_options(words[1:], _TMUX_COMMAND_OPTIONS, stops_at_operand=True)
    if not words[0].is_known:
        return classify("dynamic")
    if verb in ("send-keys", "send", "send-prefix", "paste-buffer", "pasteb", "set-buffer", "load-buffer"):
        text = "".join(TEXT_BY_KEY.get(word.text, word.text) for word in options.rest)
        scripts = (ShellWord(text, call.start, call.end),) if text.strip() else ()
        return CommandEffect(classes=("bypass",), scripts=scripts)
    if verb.startswith("kill"):
        return classify("process_kill", "bypass")
    if verb in _TMUX_READ_COMMANDS:
        # Formats run programs: `display -p '#(ls)'`.
        return classify("dynamic", when=any("#(" in word.text for word in words))
    text = " ".join(word.text for word in options.rest)
    scripts = (ShellWord(text, call.start, call.end),) if text and verb in _TMUX_RUN_COMMANDS else ()
    # tmux accepts abbreviated commands, so any other one may run something.
    return CommandEffect(classes=("bypass",), scripts=scripts)
