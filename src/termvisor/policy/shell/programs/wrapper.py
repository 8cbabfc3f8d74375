"""Analyze wrappers: programs such as sudo and env whose arguments contain another program to run."""

from itertools import dropwhile

from msgspec import Struct
from msgspec.structs import replace

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, merge_effects, parse_options
from termvisor.policy.shell.programs.interpreter import analyze_input
from termvisor.policy.shell.programs.program_table import build_analyzers, split_names
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord


class WrapperProgram(Struct, frozen=True):
    """``skipped_operands`` is the number of operands before the wrapped program."""

    options_with_value: str = ""
    skipped_operands: int = 0
    classes: tuple[str, ...] = ()


_PRIVILEGE = ("privilege",)
_SUDO_OPTIONS = (
    "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --chdir --chroot --close-from --role --type"
)
WRAPPERS: dict[str, WrapperProgram] = {
    "sudo": WrapperProgram(f"{_SUDO_OPTIONS} --command-timeout --other-user", classes=_PRIVILEGE),
    "doas": WrapperProgram("-u -C", classes=_PRIVILEGE),
    "pkexec": WrapperProgram("--user", classes=_PRIVILEGE),
    "run0": WrapperProgram("-u --user -g --group -D --chdir --unit --property", classes=_PRIVILEGE),
    "runuser": WrapperProgram("-u --user -g -G", classes=_PRIVILEGE),
    "setpriv": WrapperProgram("--reuid --regid --groups", classes=_PRIVILEGE),
    "gosu": WrapperProgram(skipped_operands=1, classes=_PRIVILEGE),
    "chroot": WrapperProgram("--userspec --groups", skipped_operands=1, classes=_PRIVILEGE),
    "nsenter": WrapperProgram("-t --target -S -G --setuid --setgid", classes=_PRIVILEGE),
    "unshare": WrapperProgram("-R --root -w --wd -S -G", classes=_PRIVILEGE),
    "systemd-run": WrapperProgram("-u --unit -p --property -E --setenv -M --machine", classes=("service_change",)),
    "env": WrapperProgram("-u --unset -C --chdir"),
    "nice": WrapperProgram("-n --adjustment"),
    "ionice": WrapperProgram("-c -n -p -t --class --classdata"),
    "chrt": WrapperProgram("-T -P -D", skipped_operands=1),
    "taskset": WrapperProgram(skipped_operands=1),
    "numactl": WrapperProgram("-N -m -C -i -p"),
    "time": WrapperProgram("-f -o --format --output"),
    "timeout": WrapperProgram("-k -s --kill-after --signal", skipped_operands=1),
    "stdbuf": WrapperProgram("-i -o -e --input --output --error"),
    "strace": WrapperProgram("-e -o -p -s -u -E -a -I -O -S -P -b -X"),
    "ltrace": WrapperProgram("-e -o -p -s -u -a -n -l -x"),
    "exec": WrapperProgram("-a"),
    "flock": WrapperProgram("-w -E --timeout --conflict-exit-code", skipped_operands=1),
    "proxychains": WrapperProgram("-f"),
    "proxychains4": WrapperProgram("-f"),
    "faketime": WrapperProgram("-f", skipped_operands=1),
    "rlwrap": WrapperProgram("-f -H -s -b"),
    "xvfb-run": WrapperProgram("-n -s -e -f -w"),
    "cpulimit": WrapperProgram("-l -e -p"),
    "sshpass": WrapperProgram("-p -f -d -P"),
    "bwrap": WrapperProgram("--bind --ro-bind --dev --proc --chdir --setenv"),
    "ssh-agent": WrapperProgram("-a -t -E -P"),
    "npx": WrapperProgram("-p --package -c --call", classes=("package_change",)),
    "bunx": WrapperProgram(classes=("package_change",)),
    "uvx": WrapperProgram("--from --with -p --python", classes=("package_change",)),
}
# The last five are keywords that may precede a program in zsh and fish.
_PLAIN_WRAPPERS = (
    "nohup setsid builtin nocorrect noglob unbuffer fakeroot eatmydata caffeinate torsocks busybox toybox chronic"
    " valgrind entr firejail dbus-run-session and or not begin -"
)
WRAPPERS |= {name: WrapperProgram() for name in _PLAIN_WRAPPERS.split()}

# Options that take a value, by program and by the subcommand that runs another program.
_OPTIONS_BY_SUBCOMMAND = split_names(
    {
        "uv": {"run": "-p --python --with --extra --group --project --directory --env-file"},
        "poetry pipenv pdm hatch rye": {"run": ""},
        "bundle asdf direnv": {"exec": ""},
        "mise": {"exec": "-C", "x": "-C"},
        "conda": {"run": "-n -p --name --prefix --cwd"},
        "op": {"run": "--env-file --account"},
        "doppler": {"run": "-p -c"},
        "perf": {"stat": "-e -p -r -o", "record": "-e -p -o -F"},
        "aws-vault": {"exec": "-d --duration"},
    }
)
_SUBCOMMANDS_WITH_OPERAND = ("direnv", "aws-vault")
# The module that starts a program with an account. Its arguments are a folder, the account, `--`, the program.
_ACCOUNT_LAUNCHER = "termvisor.accounts.launcher"


def _analyze_wrapper(call: ProgramCall) -> CommandEffect:
    return _analyze_inner(call, call.arguments, WRAPPERS[call.name])


def _analyze_inner(call: ProgramCall, words: tuple[ShellWord, ...], wrapper: WrapperProgram) -> CommandEffect:
    options = parse_options(words, wrapper.options_with_value, stops_at_operand=True)
    words = options.rest[wrapper.skipped_operands :]
    sets = [word for word in words if _is_assignment(word)]
    rest = tuple(dropwhile(_is_assignment, words))
    names = tuple(word.text.partition("=")[0] for word in sets)
    inner = replace(call, words=rest, sets=names) if rest or names else None
    return CommandEffect(classes=wrapper.classes, calls=(inner,) if inner else ())


def _is_assignment(word: ShellWord) -> bool:
    return word.text.partition("=")[0].isidentifier() and "=" in word.text


def _analyze_command(call: ProgramCall) -> CommandEffect:
    """Analyze `command`; `command -v` only prints a path."""
    options = parse_options(call.arguments, stops_at_operand=True)
    return NO_EFFECT if options.has("-v", "-V") else _analyze_inner(call, call.arguments, WrapperProgram())


def _analyze_env(call: ProgramCall) -> CommandEffect:
    """Analyze `env`; `env -S` splits one text into words, similar to a shell."""
    options = parse_options(call.arguments, "-u -C -S --unset --chdir --split-string", stops_at_operand=True)
    text = options.find_value("-S", "--split-string")
    if text is None:
        return _analyze_wrapper(call)
    return CommandEffect(
        scripts=(ShellWord(" ".join([text.text, *(word.text for word in options.rest)]), call.start, call.end),)
    )


def _analyze_flock(call: ProgramCall) -> CommandEffect:
    text = parse_options(call.arguments, "-w -E -c --command").find_value("-c", "--command")
    return CommandEffect(scripts=(text,)) if text else _analyze_wrapper(call)


def _analyze_sudo(call: ProgramCall) -> CommandEffect:
    """Analyze `sudo`; `sudo -e` writes a file as root."""
    options = parse_options(call.arguments, WRAPPERS["sudo"].options_with_value, stops_at_operand=True)
    if options.has("-e", "--edit"):
        return CommandEffect(classes=_PRIVILEGE, writes=options.rest)
    shell = analyze_input(call) if options.has("-s", "-i", "--shell", "--login") and not options.rest else NO_EFFECT
    return merge_effects(shell, _analyze_inner(call, call.arguments, WRAPPERS["sudo"]))


def _analyze_subcommand(call: ProgramCall) -> CommandEffect:
    operands = parse_options(call.arguments, "-C -c --project --directory", stops_at_operand=True).rest
    valued = _OPTIONS_BY_SUBCOMMAND[call.name].get(operands[0].text if operands else "")
    if valued is None:
        return NO_EFFECT
    words = operands[2:] if call.name in _SUBCOMMANDS_WITH_OPERAND else operands[1:]
    return _analyze_inner(call, _skip_dashes(words), WrapperProgram(valued))


def _skip_dashes(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    return words[1:] if words and words[0].text == "--" else words


def is_account_launch(call: ProgramCall) -> bool:
    """Return True if the call runs the account launcher module with a Python interpreter."""
    module = parse_options(call.arguments, "-m -W -X", stops_at_operand=True).find_value("-m")
    return call.name == "python" and module is not None and module.text == _ACCOUNT_LAUNCHER


def _analyze_xargs(call: ProgramCall) -> CommandEffect:
    """Analyze `xargs`, which reads unknown operands from its input."""
    valued = "-a -d -E -I -J -L -n -P -R -s --arg-file --delimiter --max-args --max-procs --replace --max-lines"
    options = parse_options(call.arguments, valued, stops_at_operand=True)
    placeholder_option = options.find_value("-I", "-J", "--replace")
    if not options.rest:
        return NO_EFFECT
    placeholder = placeholder_option.text if placeholder_option else "{}"
    words = list(options.rest)
    if placeholder:
        words = [replace(word, text=word.text.replace(placeholder, UNKNOWN_TEXT)) for word in words]
    # xargs appends the words it reads as operands.
    words.append(ShellWord(UNKNOWN_TEXT, call.start, call.end))
    return CommandEffect(calls=(replace(call, words=tuple(words), input_text=None, fed_by=()),))


def _analyze_parallel(call: ProgramCall) -> CommandEffect:
    """Analyze `parallel`. Words before `:::` are a command line; the others are its arguments or command lines."""
    texts = [
        word.text for word in parse_options(call.arguments, "-j -a -I --jobs --joblog", stops_at_operand=True).rest
    ]
    end = next((index for index, text in enumerate(texts) if text.startswith(":::")), len(texts))
    line = " ".join(texts[:end]).replace("{}", UNKNOWN_TEXT)
    commands = [text for text in texts[end:] if not text.startswith(":::")] if not texts[:end] else []
    lines = [f"{line} {UNKNOWN_TEXT}"] if line else commands
    return CommandEffect(scripts=tuple(ShellWord(text, call.start, call.end) for text in lines))


ANALYZERS = build_analyzers(
    {
        " ".join(WRAPPERS): _analyze_wrapper,
        " ".join(_OPTIONS_BY_SUBCOMMAND): _analyze_subcommand,
        "command": _analyze_command,
        "env": _analyze_env,
        "flock": _analyze_flock,
        "sudo": _analyze_sudo,
        "xargs": _analyze_xargs,
        "parallel": _analyze_parallel,
        _ACCOUNT_LAUNCHER: lambda call: _analyze_inner(call, _skip_dashes(call.arguments[2:]), WrapperProgram()),
    }
)
