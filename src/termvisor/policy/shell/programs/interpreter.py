"""Analyze programs that run a text: shells and other interpreters, with scripts from arguments, pipes and files."""

import re

from msgspec.structs import replace

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

DOWNLOADERS = ("curl", "wget", "fetch", "aria2c", "lwp-request", "http", "https", "xh", "lynx", "ftp")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "elvish", "nu")
CODE_FLAGS_BY_LANGUAGE = {
    "python": "-c",
    "pypy": "-c",
    "ipython": "-c",
    "perl": "-e -E",
    "ruby": "-e",
    "node": "-e -p --eval --print",
    "deno": "eval",
    "bun": "-e --eval",
    "php": "-r",
    "lua": "-e",
    "rscript": "-e",
    "julia": "-e -E --eval",
    "osascript": "-e",
    "tclsh": "",
    "expect": "-c",
    "ghci": "-e",
    "groovy": "-e",
    "pwsh": "-c -command -Command -EncodedCommand",
    "powershell": "-c -command -Command -EncodedCommand",
    "vim": "-c --cmd",
    "nvim": "-c --cmd",
    "vi": "-c --cmd",
    "ex": "-c",
    "emacs": "--eval -f",
    "gdb": "-ex -x",
    "ed": "",
}
_SED_EXECUTE = re.compile(r"(?:^|[;{}\n\d$/])\s*e(?:\s|$)|(?:^|[;{}\s\d/$])s([^\w\s]).*\1.*\1[gpimIM\d]*e", re.DOTALL)
_AWK_EXECUTE = re.compile(r"\bsystem\s*\(|\|\s*[\"&]|\|\s*getline|\"\s*\|")
_COMMAND_OPTIONS = "-c --command"


def analyze_input(call: ProgramCall, unknown_class: str = "dynamic") -> CommandEffect:
    """Analyze the input of a program that runs it: literal texts are scripts, anything else is ``unknown_class``."""
    if any(is_download(source) for source in (*call.fed_by, *call.substituted)):
        return CommandEffect(classes=("remote_code",))
    if call.input_text:
        return CommandEffect(scripts=(call.input_text,))
    if any(redirect.direction == "in" for redirect in call.redirects):
        is_known = all(redirect.word.is_known for redirect in call.redirects)
        return NO_EFFECT if is_known else CommandEffect(classes=(unknown_class,))
    if not call.fed_by:
        return NO_EFFECT
    printed = [_find_printed_text(source) for source in call.fed_by if source.words]
    scripts = tuple(text for text in printed if text)
    return CommandEffect(scripts=scripts, classes=() if len(scripts) == len(printed) else (unknown_class,))


def is_download(call: ProgramCall) -> bool:
    return any(word.text.rpartition("/")[2] in DOWNLOADERS for word in call.words)


def _find_printed_text(call: ProgramCall) -> ShellWord | None:
    """Return the text that a call prints if its own words contain it."""
    if call.name in ("echo", "printf"):
        texts = [word.text for word in call.arguments if word.text not in ("-e", "-n", "-E", "--")]
        text = " ".join(texts).replace("\\n", "\n").replace("%s", " ").replace("\\t", " ")
        return ShellWord(UNKNOWN_TEXT if "\\" in text else text, call.start, call.end)
    return call.input_text if call.name == "cat" and not call.arguments else None


def _analyze_shell(call: ProgramCall) -> CommandEffect:
    """Analyze a shell; options that start with `+` are skipped."""
    arguments = [word for word in call.arguments if not word.text.startswith("+")]
    options = getopt.parse_options(arguments, "-o -O --rcfile --init-file -C --init-command", stops_at_operand=True)
    words = options.rest
    remote = CommandEffect(classes=("remote_code",)) if any(map(is_download, call.substituted)) else NO_EFFECT
    if options.has("-c", "--command"):
        return merge_effects(remote, CommandEffect(scripts=options.find_values("--command") or words[:1]))
    if words and words[0].text not in ("-", "/dev/stdin") and not options.has("-s"):
        unknown = CommandEffect(classes=("dynamic",)) if not words[0].is_known or words[0].is_pattern else NO_EFFECT
        return merge_effects(remote, unknown if not remote.classes else NO_EFFECT)
    return merge_effects(remote, analyze_input(call))


def _analyze_language(call: ProgramCall) -> CommandEffect:
    name = call.name
    flags = CODE_FLAGS_BY_LANGUAGE[name].split()
    options = getopt.parse_options(call.arguments, "-m -W -X -I -O", stops_at_operand=True)
    if any(map(is_download, call.substituted)):
        return CommandEffect(classes=("remote_code",))
    if module := options.find_value("-m"):
        return CommandEffect(calls=(replace(call, words=(module, *options.rest)),)) if "python" in name else NO_EFFECT
    words = options.rest
    before = call.arguments if "--cmd" in flags else call.arguments[: len(call.arguments) - len(words)] + words[:1]
    if any(_is_code_flag(word.text, flags) for word in before):
        return CommandEffect(classes=("inline_code",))
    if words and words[0].text not in ("-", "/dev/stdin"):
        return NO_EFFECT if words[0].is_known else CommandEffect(classes=("dynamic",))
    fed = analyze_input(call, "inline_code")
    return CommandEffect(classes=("inline_code",)) if fed.scripts else fed


def _is_code_flag(text: str, flags: list[str]) -> bool:
    """Return True for `-c`, `-c'…'`, `-pe` (combined letters), `--eval=…` and vim's `+command`."""
    if text in flags or text.partition("=")[0] in flags:
        return True
    letters = "".join(flag[1] for flag in flags if len(flag) == 2)
    cluster = re.match(r"^-[a-zA-Z0-9.]*", text) if not text.startswith("--") else None
    is_vim = text.startswith("+") and "--cmd" in flags and not text[1:].isdigit() and text != "+"
    return is_vim or bool(cluster and letters and re.search(f"[{letters}]", cluster[0]))


def _analyze_eval(call: ProgramCall) -> CommandEffect:
    remote = CommandEffect(classes=("remote_code",)) if any(map(is_download, call.substituted)) else NO_EFFECT
    text = " ".join(word.text for word in call.arguments)
    return merge_effects(remote, CommandEffect(scripts=(ShellWord(text, call.start, call.end),)))


def _analyze_source(call: ProgramCall) -> CommandEffect:
    file = call.arguments[:1]
    if file and file[0].is_known and file[0].text != "/dev/stdin":
        return NO_EFFECT
    effect = analyze_input(call)
    if any(map(is_download, call.substituted)):
        return effect
    return merge_effects(effect, CommandEffect(classes=("dynamic",)))


def _analyze_alias(call: ProgramCall) -> CommandEffect:
    texts = [word.text.partition("=")[2] for word in call.arguments if "=" in word.text]
    return CommandEffect(scripts=tuple(ShellWord(text, call.start, call.end) for text in texts if text))


def _analyze_trap(call: ProgramCall) -> CommandEffect:
    options = getopt.parse_options(call.arguments, stops_at_operand=True)
    return CommandEffect(scripts=options.rest[:1]) if len(options.rest) > 1 else NO_EFFECT


def _analyze_command_option(call: ProgramCall) -> CommandEffect:
    """Analyze programs whose option `-c` is a command line."""
    classes = ("privilege",) if call.name in ("su", "runuser") else ()
    options = getopt.parse_options(call.arguments, f"{_COMMAND_OPTIONS} -s -g --shell --run --session-command")
    texts = options.find_values("-c", "--command", "--run", "--session-command")
    return merge_effects(
        CommandEffect(classes=classes, scripts=texts), analyze_input(call) if classes and not texts else NO_EFFECT
    )


def _analyze_command_operands(call: ProgramCall) -> CommandEffect:
    """Analyze `watch` and `hyperfine`, whose operands are a command line."""
    options = getopt.parse_options(
        call.arguments, "-n -d -w -r -p -s --interval --warmup --runs --prepare", stops_at_operand=True
    )
    text = " ".join(word.text for word in options.rest)
    return CommandEffect(scripts=(ShellWord(text, call.start, call.end),) if text else ())


def _analyze_awk(call: ProgramCall) -> CommandEffect:
    runs_commands = any(_AWK_EXECUTE.search(word.text) for word in call.arguments)
    return CommandEffect(classes=("inline_code",)) if runs_commands else NO_EFFECT


def _analyze_sed(call: ProgramCall) -> CommandEffect:
    options = getopt.parse_options(call.arguments, "-e -f -l -s --expression --file")
    scripts = options.find_values("-e", "--expression")
    files = options.operands if scripts or options.find_value("-f", "--file") else options.operands[1:]
    texts = scripts or options.operands[:1]
    classes = ("inline_code",) if any(_SED_EXECUTE.search(word.text) for word in texts) else ()
    return CommandEffect(classes=classes, writes=files if options.has("-i", "-I", "--in-place") else (), reads=files)


def _analyze_arithmetic(call: ProgramCall) -> CommandEffect:
    """Analyze arithmetic: `let 'a[$(b)]=1'` runs b although it is quoted."""
    runs = any("$(" in word.text or "`" in word.text for word in call.arguments)
    return CommandEffect(classes=("dynamic",)) if runs else NO_EFFECT


def _analyze_archive(call: ProgramCall) -> CommandEffect:
    """Analyze tar and rsync, whose options can name a program to run."""
    options = ("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsync-path", "-e", "--rsh")
    present = [word.text for word in call.arguments if word.text.partition("=")[0] in options]
    is_plain_ssh = call.name == "rsync" and all(text in ("-e", "--rsh=ssh") for text in present)
    return CommandEffect(classes=("dynamic",)) if present and not is_plain_ssh else NO_EFFECT


ANALYZERS: dict[str, EffectAnalyzer] = {}
ANALYZERS |= dict.fromkeys(SHELLS, _analyze_shell) | dict.fromkeys(CODE_FLAGS_BY_LANGUAGE, _analyze_language)
ANALYZERS |= dict.fromkeys(("su", "script", "runuser", "nix-shell", "nix"), _analyze_command_option)
ANALYZERS |= dict.fromkeys(("watch", "hyperfine"), _analyze_command_operands) | dict.fromkeys(
    ("source", "."), _analyze_source
)
ANALYZERS |= dict.fromkeys(("let", "test", "unset", "read", "declare", "typeset", "local"), _analyze_arithmetic)
ANALYZERS |= {
    "eval": _analyze_eval,
    "alias": _analyze_alias,
    "trap": _analyze_trap,
    "awk": _analyze_awk,
    "mawk": _analyze_awk,
    "sed": _analyze_sed,
}
ANALYZERS |= {"tar": _analyze_archive, "rsync": _analyze_archive}
