"""Analyze shells and other interpreters, which run scripts from arguments, pipes and files."""

import re

from msgspec.structs import replace

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, classify, merge_effects, parse_options
from termvisor.policy.shell.programs.program_table import build_analyzers, split_names
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

DOWNLOADERS = ("curl", "wget", "fetch", "aria2c", "lwp-request", "http", "https", "xh", "lynx", "ftp")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "elvish", "nu")
# Options whose value is code, by interpreter.
CODE_FLAGS_BY_LANGUAGE = split_names(
    {
        "python pypy ipython expect ex": "-c",
        "perl": "-e -E",
        "ruby lua rscript osascript ghci groovy": "-e",
        "node": "-e -p --eval --print",
        "deno": "eval",
        "bun": "-e --eval",
        "php": "-r",
        "julia": "-e -E --eval",
        "tclsh ed": "",
        "pwsh powershell": "-c -command -Command -EncodedCommand",
        "vim nvim vi": "-c --cmd",
        "emacs": "--eval -f",
        "gdb": "-ex -x",
    }
)
_SED_EXECUTE = re.compile(r"(?:^|[;{}\n\d$/])\s*e(?:\s|$)|(?:^|[;{}\s\d/$])s([^\w\s]).*\1.*\1[gpimIM\d]*e", re.DOTALL)
_AWK_EXECUTE = re.compile(r"\bsystem\s*\(|\|\s*[\"&]|\|\s*getline|\"\s*\|")


def analyze_input(call: ProgramCall, unknown_class: str = "dynamic") -> CommandEffect:
    """Analyze the input that a program runs: literal text is a script, anything else is ``unknown_class``."""
    if any(is_download(source) for source in (*call.fed_by, *call.substituted)):
        return classify("remote_code")
    if call.input_text:
        return CommandEffect(scripts=(call.input_text,))
    if any(redirect.direction == "in" for redirect in call.redirects):
        return classify(unknown_class, when=not all(redirect.word.is_known for redirect in call.redirects))
    if not call.fed_by:
        return NO_EFFECT
    printed = [_find_printed_text(source) for source in call.fed_by if source.words]
    scripts = tuple(text for text in printed if text)
    return CommandEffect(scripts=scripts, classes=() if len(scripts) == len(printed) else (unknown_class,))


def is_download(call: ProgramCall) -> bool:
    return any(word.text.rpartition("/")[2] in DOWNLOADERS for word in call.words)


def _find_printed_text(call: ProgramCall) -> ShellWord | None:
    """Return the text that a call prints, if its own words contain it."""
    if call.name in ("echo", "printf"):
        texts = [word.text for word in call.arguments if word.text not in ("-e", "-n", "-E", "--")]
        text = " ".join(texts).replace("\\n", "\n").replace("%s", " ").replace("\\t", " ")
        # printf and echo escapes differ between shells, so a text with any other escape counts as unknown.
        return ShellWord(UNKNOWN_TEXT if "\\" in text else text, call.start, call.end)
    return call.input_text if call.name == "cat" and not call.arguments else None


def _analyze_shell(call: ProgramCall) -> CommandEffect:
    """Analyze a shell, skipping options that start with `+`."""
    arguments = [word for word in call.arguments if not word.text.startswith("+")]
    options = parse_options(arguments, "-o -O --rcfile --init-file -C --init-command", stops_at_operand=True)
    words = options.rest
    remote = classify("remote_code", when=any(map(is_download, call.substituted)))
    if options.has("-c", "--command"):
        return merge_effects(remote, CommandEffect(scripts=options.find_values("--command") or words[:1]))
    if words and words[0].text not in ("-", "/dev/stdin") and not options.has("-s"):
        return remote if remote.classes else classify("dynamic", when=not words[0].is_known or words[0].is_pattern)
    return merge_effects(remote, analyze_input(call))


def _analyze_language(call: ProgramCall) -> CommandEffect:
    name = call.name
    flags = CODE_FLAGS_BY_LANGUAGE[name].split()
    options = parse_options(call.arguments, "-m -W -X -I -O", stops_at_operand=True)
    if any(map(is_download, call.substituted)):
        return classify("remote_code")
    if module := options.find_value("-m"):
        return CommandEffect(calls=(replace(call, words=(module, *options.rest)),)) if "python" in name else NO_EFFECT
    words = options.rest
    before = call.arguments if "--cmd" in flags else call.arguments[: len(call.arguments) - len(words)] + words[:1]
    if any(_is_code_flag(word.text, flags) for word in before):
        return classify("inline_code")
    if words and words[0].text not in ("-", "/dev/stdin"):
        return classify("dynamic", when=not words[0].is_known)
    fed = analyze_input(call, "inline_code")
    return classify("inline_code") if fed.scripts else fed


def _is_code_flag(text: str, flags: list[str]) -> bool:
    """Return True for `-c`, `-c'…'`, `-pe` (combined letters), `--eval=…` and vim's `+command`."""
    if text in flags or text.partition("=")[0] in flags:
        return True
    letters = "".join(flag[1] for flag in flags if len(flag) == 2)
    cluster = re.match(r"^-[a-zA-Z0-9.]*", text) if not text.startswith("--") else None
    is_vim = text.startswith("+") and "--cmd" in flags and not text[1:].isdigit() and text != "+"
    return is_vim or bool(cluster and letters and re.search(f"[{letters}]", cluster[0]))


def _analyze_eval(call: ProgramCall) -> CommandEffect:
    remote = classify("remote_code", when=any(map(is_download, call.substituted)))
    text = " ".join(word.text for word in call.arguments)
    return merge_effects(remote, CommandEffect(scripts=(ShellWord(text, call.start, call.end),)))


def _analyze_source(call: ProgramCall) -> CommandEffect:
    file = call.arguments[:1]
    if file and file[0].is_known and file[0].text != "/dev/stdin":
        return NO_EFFECT
    is_downloaded = any(map(is_download, call.substituted))
    return merge_effects(analyze_input(call), classify("dynamic", when=not is_downloaded))


def _analyze_alias(call: ProgramCall) -> CommandEffect:
    texts = [word.text.partition("=")[2] for word in call.arguments if "=" in word.text]
    return CommandEffect(scripts=tuple(ShellWord(text, call.start, call.end) for text in texts if text))


def _analyze_trap(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, stops_at_operand=True)
    return CommandEffect(scripts=options.rest[:1]) if len(options.rest) > 1 else NO_EFFECT


def _analyze_command_option(call: ProgramCall) -> CommandEffect:
    """Analyze programs whose `-c` option is a command line."""
    classes = ("privilege",) if call.name in ("su", "runuser") else ()
    options = parse_options(call.arguments, "-c --command -s -g --shell --run --session-command")
    texts = options.find_values("-c", "--command", "--run", "--session-command")
    return merge_effects(
        CommandEffect(classes=classes, scripts=texts), analyze_input(call) if classes and not texts else NO_EFFECT
    )


def _analyze_command_operands(call: ProgramCall) -> CommandEffect:
    """Analyze `watch` and `hyperfine`, whose operands are a command line."""
    options = parse_options(
        call.arguments, "-n -d -w -r -p -s --interval --warmup --runs --prepare", stops_at_operand=True
    )
    text = " ".join(word.text for word in options.rest)
    return CommandEffect(scripts=(ShellWord(text, call.start, call.end),) if text else ())


def _analyze_awk(call: ProgramCall) -> CommandEffect:
    return classify("inline_code", when=any(_AWK_EXECUTE.search(word.text) for word in call.arguments))


def _analyze_sed(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, "-e -f -l -s --expression --file")
    scripts = options.find_values("-e", "--expression")
    files = options.operands if scripts or options.find_value("-f", "--file") else options.operands[1:]
    texts = scripts or options.operands[:1]
    classes = ("inline_code",) if any(_SED_EXECUTE.search(word.text) for word in texts) else ()
    return CommandEffect(classes=classes, writes=files if options.has("-i", "-I", "--in-place") else (), reads=files)


def _analyze_arithmetic(call: ProgramCall) -> CommandEffect:
    """Analyze arithmetic. `let 'a[$(b)]=1'` runs b although it is quoted."""
    return classify("dynamic", when=any("$(" in word.text or "`" in word.text for word in call.arguments))


def _analyze_archive(call: ProgramCall) -> CommandEffect:
    """Analyze tar and rsync, whose options can name a program to run."""
    options = ("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsync-path", "-e", "--rsh")
    present = [word.text for word in call.arguments if word.text.partition("=")[0] in options]
    is_plain_ssh = call.name == "rsync" and all(text in ("-e", "--rsh=ssh") for text in present)
    return classify("dynamic", when=present and not is_plain_ssh)


ANALYZERS = build_analyzers(
    {
        " ".join(SHELLS): _analyze_shell,
        " ".join(CODE_FLAGS_BY_LANGUAGE): _analyze_language,
        "su script runuser nix-shell nix": _analyze_command_option,
        "watch hyperfine": _analyze_command_operands,
        "source .": _analyze_source,
        "let test unset read declare typeset local": _analyze_arithmetic,
        "eval": _analyze_eval,
        "alias": _analyze_alias,
        "trap": _analyze_trap,
        "awk mawk": _analyze_awk,
        "sed": _analyze_sed,
        "tar rsync": _analyze_archive,
    }
)
