"""Programs that run code: shells, languages, editors, database clients and build tools.

Code of a shell is analyzed. Code of other languages is not, except texts that only print something.
"""

import re

from msgspec.structs import replace

from termvisor.policy.shell.call import (
    NO_EFFECT,
    UNKNOWN_EFFECT,
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

DOWNLOADERS = ("curl", "wget", "fetch", "aria2c", "lwp-request", "http", "https", "xh", "lynx", "ftp")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "elvish", "nu")
# Options whose value is code, if the table declares that they have one.
_CODE_FLAGS = ("-c", "-e", "-E", "-p", "--eval", "--print")
_SED_BODY = r"(?:\\.|(?!(?P=mark))[^\\])*"
_SED_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/\\])*/I?)"
# One command of sed that neither runs a program nor writes a file.
_SED_COMMAND = re.compile(
    rf"(?:{_SED_ADDRESS}(?:\s*,\s*[+~]?{_SED_ADDRESS})?\s*!?\s*)?(?:[pdDgGhHlnNPqQxz={{}}]\d*|[:btT]\s*\w*"
    rf"|[sy](?P<mark>[^\w\s\\]){_SED_BODY}(?P=mark){_SED_BODY}(?P=mark)[gpiIM\d]*|[aic](?:\\|\s)[^\n]*|#[^\n]*)[\s;]*",
    re.DOTALL,
)
# Tokens of awk. A slash after a value divides; anywhere else it starts a regular expression.
_AWK_TOKEN = re.compile(
    r'(?P<space>(?:[ \t]|\\\n|#[^\n]*)+)|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<key>(?:print|printf|return|in|else|do|case)\b)|(?P<value>[\w.$]+|[)\]]|\+\+|--)|(?P<other>[^\"])",
    re.DOTALL,
)
_AWK_REGEX = re.compile(r"/(?:\\.|\[[^]\"/\n]+\]|[^/\\\n\"\[])*/")
_AWK_EXECUTE = re.compile(r"\b(?:system|getline|ARGV|ARGC|SYMTAB)\b|@|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>")
_STDIN = re.compile(r"^(?:-|/+dev/(?:stdin|fd/\d+)|/+proc/[^/]+/(?:task/[^/]+/)?fd/\d+)$")
_DROP_STATEMENT = re.compile(
    r"\bdrop\s+(?:database|table|schema|index|view|user|role|collection|keyspace|column|owned|materialized)\b"
    r"|\btruncate\b|\bdelete\s+from\s+[\w.\"`]+\s*(?:;|$)|\bdrop(?:database|collection|index|user)?\s*\("
    r"|\b(?:delete|remove)many?\s*\(\s*\{\s*\}|\bflush(?:all|db)\b|^\s*drop\s|\.drop\(",
    re.IGNORECASE,
)
# Commands of database clients that run programs, load code or write files.
_CLIENT_ESCAPE = re.compile(
    r"(?:^|[\s;'\"])(?:\.(?:shell|system|load|import|output|once|excel|cd|backup|save|log|open)\b|\\!|\\[gowi]\b|\\copy|!)"
    r"|\\!|\\o|\|"
    r"|\bprogram\s*'|\binto\s+(?:out|dump)file\b|load_extension|writefile|\bedit\s*\(|vacuum\s+into|\battach\b|\b(?:pg|lo)_\w+\s*\(|dblink|setval|\bsystem\b|\b(?:do|call|create)\b|\beval\b|\bconfig\b",
    re.IGNORECASE,
)
_READING_STATEMENT = re.compile(
    r"^\s*(?:select|show|explain(?!.*analy[sz]e)|describe|desc|pragma\s+\w+\s*;?$|\\[dlz]|\.(?:tables|schema|databases|indexes|dump)\b"
    r"|(?:get|keys|info|ping|ttl|type|exists|llen|lrange|hgetall|scan|dbsize)$)",
    re.IGNORECASE,
)


def analyze_input(call: ProgramCall, _options: ParsedOptions, unknown_class: str = "dynamic") -> CommandEffect:
    """Analyze the input that a program runs: literal text is a script, anything else is ``unknown_class``."""
    if any(is_download(source) for source in (*call.fed_by, *call.substituted)):
        return classify("remote_code")
    if call.input_text:
        return CommandEffect(scripts=(call.input_text,))
    if any(redirect.direction == "in" for redirect in call.redirects):
        is_known = all(redirect.word.is_known for redirect in call.redirects)
        return UNKNOWN_EFFECT if is_known else classify(unknown_class)
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


def analyze_shell(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze a shell, skipping options that start with `+`."""
    rest = [word for word in options.rest if not word.text.startswith("+")]
    words = rest if rest == list(options.rest) else parse_options(rest, "-o= -O=", stops_at_operand=True).rest
    startup = options.find_values("--rcfile", "--init-file")
    has_script = options.has("-c", "--command", "--commands") or rest[:1] != list(words)[:1]
    effects = [
        classify("remote_code", when=any(map(is_download, call.substituted))),
        CommandEffect(
            scripts=tuple(words[:1]) if has_script and not options.find_values("--command", "--commands") else ()
        ),
        classify("dynamic", when=any(_STDIN.match(word.text) or not word.is_known for word in startup)),
        classify("unknown_effect", when=startup),
    ]
    if (
        words
        and not has_script
        and not options.has("-s")
        and not _STDIN.match(words[0].text)
        and not effects[0].classes
    ):
        is_known = words[0].is_known and not words[0].is_pattern
        effects.append(classify("unknown_effect" if is_known else "dynamic"))
    # A script file may read the input as code, and its name may be another name of the input.
    return merge_effects(*effects, NO_EFFECT if has_script else analyze_input(call, options))


def analyze_language(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze a program that runs a file, a module or its input. Code in options is declared in the table."""
    if any(map(is_download, call.substituted)):
        return classify("remote_code")
    if (module := options.find_value("-m")) and call.name.startswith(("python", "pypy")):
        return CommandEffect(calls=(replace(call, words=(module, *options.rest)),))
    if not options.values.keys().isdisjoint(_CODE_FLAGS):
        return NO_EFFECT
    words = options.rest
    # Editors run what follows `+`, except the number of a line.
    if any(re.match(r"\+(?!\d*$)", word.text) for word in words):
        return classify("inline_code")
    if words and not _STDIN.match(words[0].text) and not call.reads_stdin:
        return classify("unknown_effect" if words[0].is_known else "dynamic")
    fed = analyze_input(call, options, "inline_code")
    return classify("inline_code") if fed.scripts else merge_effects(fed, UNKNOWN_EFFECT)


def analyze_eval(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    remote = classify("remote_code", when=any(map(is_download, call.substituted)))
    text = " ".join(word.text for word in call.arguments)
    return merge_effects(remote, CommandEffect(scripts=(ShellWord(text, call.start, call.end),)))


def analyze_source(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    file = call.arguments[:1]
    if file and file[0].is_known and not _STDIN.match(file[0].text):
        return UNKNOWN_EFFECT
    fed = analyze_input(call, options)
    return fed if fed.scripts or fed.classes else classify("dynamic")


def analyze_alias(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    texts = [word.text.partition("=")[2] for word in call.arguments if "=" in word.text]
    return CommandEffect(scripts=tuple(ShellWord(text, call.start, call.end) for text in texts if text))


def analyze_trap(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    return CommandEffect(scripts=options.rest[:1] if len(options.rest) > 1 else ())


def analyze_awk(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze awk, whose program may write files and run programs."""
    is_code = any(_is_awk_code(word.text) or not word.is_known for word in options.operands[:1])
    return merge_effects(classify("inline_code", when=is_code), CommandEffect(reads=options.operands[1:]))


def _is_awk_code(program: str) -> bool:
    """Return True if the program may run programs or open files other than its operands."""
    position, code, is_value = 0, "", False
    while position < len(program):
        is_slash = program[position] == "/"
        token = (_AWK_REGEX if is_slash and not is_value else _AWK_TOKEN).match(program, position)
        # After a parenthesis a slash may start either, so it must not matter which one.
        is_unclear = is_slash and is_value and re.match(r'/[^/\n]*"[^/\n]*/', program[position:])
        if token is None or is_unclear:
            return True
        kind = token.lastgroup
        code += token[0] if kind in ("key", "value", "other") else " "
        is_value = is_value if kind == "space" else kind in ("value", "string")
        position = token.end()
    # A statement goes on after a newline that follows one of these.
    return bool(_AWK_EXECUTE.search(re.sub(r"([,{]|&&|\|\|)\s*\n", r"\1 ", code)))


def analyze_sed(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    scripts, file = options.find_values("-e", "--expression"), options.find_value("-f", "--file")
    files = options.operands if scripts or file else options.operands[1:]
    texts = scripts or (() if file else options.operands[:1])
    classes = () if all(_is_plain_sed(word.text) for word in texts) else ("inline_code",)
    return CommandEffect(classes=classes, writes=files if options.has("-i", "--in-place") else (), reads=files)


def _is_plain_sed(script: str) -> bool:
    position = len(script) - len(script.lstrip(" ;\n\t"))
    while position < len(script):
        command = _SED_COMMAND.match(script, position)
        if command is None or command.end() == position:
            return False
        position = command.end()
    return True


def analyze_client(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze a database client: statements that read are harmless, unless they can leave the database."""
    fed = analyze_input(call, options)
    texts = [word.text for word in (*call.arguments, *fed.scripts)]
    if any(_DROP_STATEMENT.search(text) for text in (*texts, " ".join(texts))):
        return classify("database_drop")
    values = options.find_values("-c", "-e", "--command", "--execute", "--eval")
    is_first_file = call.name in ("sqlite3", "sqlite", "duckdb", "mysql", "mariadb")
    operands = options.operands[:1] if call.name == "redis-cli" else options.operands[is_first_file:]
    statements = [word.text for word in (*values, *fed.scripts, *operands)]
    is_read = bool(statements) and all(
        _READING_STATEMENT.match(text) and ";" not in text.rstrip("; ") for text in statements
    )
    return merge_effects(
        classify("dynamic", when=fed.classes),
        classify("inline_code", when=any(map(_CLIENT_ESCAPE.search, (*texts, *statements)))),
        classify("unknown_effect", when=not is_read),
    )
