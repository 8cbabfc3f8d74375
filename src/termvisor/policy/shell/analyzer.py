"""Analyze a command line: find and classify every program that it would run, even if quoted or wrapped.

Invariant: any part that cannot be analyzed (too deep, too long, invalid, known only at run time) gets its own command
class and is never ignored.
"""

import posixpath
import re
import shlex
from itertools import accumulate, pairwise

from msgspec import Struct
from msgspec.structs import replace

from termvisor.policy import path_rules
from termvisor.policy.path_rules import PathScope, find_never_written_folder, resolve_path
from termvisor.policy.shell import grammar
from termvisor.policy.shell.call import (
    NO_EFFECT,
    UNKNOWN_EFFECT,
    CommandEffect,
    ProgramCall,
    build_literal_call,
    get_program_name,
    is_account_launch,
    merge_effects,
)
from termvisor.policy.shell.call_extractor import extract_calls
from termvisor.policy.shell.grammar import SyntaxNode
from termvisor.policy.shell.program_rule import HELP_FLAGS, RULES_BY_PROGRAM, analyze_by_rule
from termvisor.policy.shell.programs import interpreter
from termvisor.policy.shell.secret_paths import has_secret_path, is_naming_program, is_secret_path
from termvisor.policy.shell.word import RESERVED_CHARS, ShellWord

# Nested scripts can multiply. Beyond these limits a command counts as unparsed, which requires approval.
MAX_DEPTH, MAX_CALLS, MAX_FOLDERS = 12, 400, 8
# Variables that make programs load or run code.
_CODE_VARIABLE = re.compile(
    r"^(?:(?:LD|DYLD|BASH|GIT|PYTHON|PERL5|RUBY|NODE|LESS|MAN|PSQL|GCONV)_?\w*|\w*(?:COMMAND|PAGER|EDITOR|BROWSER|ASKPASS|WRAPPER)"
    r"|ENV|PS[0-4]|IFS|PATH|VISUAL|SHELL|SHELLOPTS|ZDOTDIR|HOME|FPATH|VIMINIT|EXINIT|INPUTRC|MAKEFLAGS|MAKEFILES|XDG_\w+"
    r"|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|\w*JAVA\w*OPTI\w*|CDPATH|GLOBIGNORE|TERMINFO|PROMPT\w*)$"
)
# Shells in which `#` starts a comment even at the prompt; zsh needs INTERACTIVE_COMMENTS for that.
_SHELLS_WITH_COMMENTS = ("sh", "bash", "dash", "ksh", "fish")
_MAY_BE_PATH = re.compile(r"[/.~*?\[]")
_BACKGROUND = re.compile(r"(?<![&>|])&(?![&>])")
_INTERACTIVE_PROGRAMS = frozenset(
    name for name, rule in RULES_BY_PROGRAM.items() if rule.analyze in ("interpreter.language", "interpreter.client")
)
_SCRIPT_RUNNERS = frozenset((*interpreter.SHELLS, *_INTERACTIVE_PROGRAMS, "source", ".", "make"))
# Programs whose arguments belong to another program.
_WRAPPERS = frozenset(n for n, rule in RULES_BY_PROGRAM.items() if rule.runs or n in ("xargs", "parallel"))
# Programs that may follow the name of an unknown wrapper.
_WRAPPED_PROGRAMS = frozenset(
    (*interpreter.SHELLS, *_WRAPPERS, *["rm", "rmdir", "unlink", "shred", "dd", "find", "truncate", "mkfs"])
)
_PROGRAM_FOLDERS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin")
# Options of unknown programs that name a written file or folder.
_OUTPUT_OPTION = re.compile(
    r"-o$|--?(?:[\w-]*-)?\w*(?:out|output|dest|destination|log|save|export|dump|write|trace|record|report)(?:-\w+)*$"
)
# Classes of calls whose arguments may contain code.
_HIDING_CLASSES = frozenset(("unknown_effect", "bypass", "environment"))
# Code that removes something, in a text for an unknown program or in another language.
_REMOVING_CODE = re.compile(
    r"(?<![\w.-])(?:\S*/)?(?:rm|rmdir|unlink|shred|truncate|dd|mkfs[.\w]*|wipefs)\s+[^\s|&;]"
    r"|\brmtree\b|\brm(?:dir)?Sync\b|unlinkSync|\bremove_dir(?:_all|ectory)\b|\bos\.(?:remove|unlink|system)|(?<!\S)-delete\b"
)
_HIDDEN_CHARS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_HISTORY_EVENT = re.compile(r"(?<![\[${\\])!(?=[^\s=(\"'])")
# Escaped characters and single-quoted texts, outside double quotes.
_SINGLE_QUOTED = re.compile(r"""\\.|'[^']*(?:'|$)|("(?:\\.|[^"\\])*"?)""", re.DOTALL)


class CommandFinding(Struct, frozen=True):
    """A command class and its position: ``text`` is the analyzed text from ``start`` to ``end``."""

    name: str
    start: int
    end: int
    text: str


class CommandAnalysis(Struct, frozen=True, kw_only=True):
    """``lines`` are the commands without quotes and wrappers. Paths are resolved. `?` is an unknown program."""

    findings: tuple[CommandFinding, ...] = ()
    programs: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def classes(self) -> frozenset[str]:
        return frozenset(finding.name for finding in self.findings)


def analyze_command(text: str, scope: PathScope, shell: str = "") -> CommandAnalysis:
    """Analyze a text typed at a shell prompt. An empty ``shell`` means an unknown shell."""
    analyzer = _CommandAnalyzer(text, scope)
    whole = (0, len(text))
    if has_hidden_text(text):
        analyzer.add_finding("hidden_text", whole)
    clean = replace_control_chars(text)
    if has_history_expansion(clean[: grammar.MAX_TEXT_CHARS]):
        analyzer.add_finding("dynamic", whole)
    analyzer.analyze_script(ShellWord(clean), 0, None)
    uncommented = clean if shell in _SHELLS_WITH_COMMENTS else grammar.disable_comments(clean)
    # Analyze both readings, because it is unknown whether the shell treats `#` as a comment.
    if uncommented != clean:
        analyzer.analyze_script(ShellWord(uncommented), 0, None)
    if "\\\n" in clean:  # the grammar parses a word that continues on the next line as two words
        analyzer.analyze_script(ShellWord(clean.replace("\\\n", "")), 0, whole)
    return analyzer.build_analysis()


def analyze_argv(argv: tuple[str, ...], scope: PathScope, variables: tuple[str, ...] = ()) -> CommandAnalysis:
    """Analyze a program started without a shell, with these environment variables set."""
    text = shlex.join(argv)
    whole = (0, len(text))
    analyzer = _CommandAnalyzer(text, scope)
    if any(map(has_hidden_text, argv)):
        analyzer.add_finding("hidden_text", whole)
    # As with a text, what is too long is not analyzed; here its first words still are.
    count = sum(length <= grammar.MAX_TEXT_CHARS for length in accumulate(len(word) + 1 for word in argv))
    if count < len(argv):
        analyzer.add_unanalyzed_line(" ".join(argv), whole)
    call = build_literal_call(tuple(map(replace_control_chars, argv[:count])), variables)
    analyzer.analyze_call(call, 0, whole)
    return analyzer.build_analysis()


TextSpan = tuple[int, int]


class _CommandAnalyzer:
    """Collects findings. A span is the position of a nested script in the outermost text."""

    def __init__(self, text: str, scope: PathScope):
        self._text, self._scope = text, scope
        self._folders = [scope.cwd]
        self._findings: dict[tuple[str, TextSpan], None] = {}
        self._values_by_kind: dict[str, dict[str, None]] = {name: {} for name in CommandAnalysis.__struct_fields__[1:]}
        self._class_by_created_file: dict[str, str] = {}
        self._target_by_link: dict[str, str] = {}
        self._calls_left = MAX_CALLS

    def build_analysis(self) -> CommandAnalysis:
        findings = tuple(CommandFinding(name, *span, self._text[slice(*span)]) for name, span in self._findings)
        lists = {name: tuple(values) for name, values in self._values_by_kind.items()}
        return CommandAnalysis(findings=findings, **lists)

    def add_finding(self, name: str, span: TextSpan) -> None:
        self._findings[name, span] = None

    def add_unanalyzed_line(self, line: str, span: TextSpan) -> None:
        """Record a command line that is too long to analyze; denied patterns still apply to it."""
        self.add_finding("unparsed", span)
        self._add_value("lines", line)

    def analyze_script(self, word: ShellWord, depth: int, span: TextSpan | None) -> None:
        whole = span or (0, len(self._text))
        root = grammar.parse_script(word.text) if depth <= MAX_DEPTH else None
        if root is None or root.has_error:
            self.add_finding("unparsed", whole)
        if root is None:
            return
        calls, is_complete = extract_calls(root)
        if not is_complete:
            self.add_finding("unparsed", whole)
        if _is_fork_bomb(root):
            self.add_finding("fork_bomb", whole)
        for call in calls:
            self.analyze_call(call, depth + 1, span or (call.start, call.end))

    def analyze_call(self, call: ProgramCall, depth: int, span: TextSpan) -> None:
        self._calls_left -= 1
        if depth > MAX_DEPTH or self._calls_left < 0:
            self.add_finding("unparsed", span)
            return
        if any(map(_CODE_VARIABLE.match, call.sets)):
            self.add_finding("environment", span)
            self._check_hidden_code(self._text[slice(*span)], span)
            for word in call.assigned:
                self._check_output(word, span)
        for redirect in call.redirects:
            self._record_path("reads" if redirect.direction == "in" else "writes", redirect.word, span)
        if not call.words or call.name in (":", "true"):
            self._check_truncation(call, span)
        if not call.words:
            self._check_secrets(call, span)
            return
        self._add_value("programs", call.name or "?")
        self._add_value("lines", call.text)
        if not call.name:
            self.add_finding("dynamic", span)
            return
        effect = self._analyze_program(call)
        self._check_any_program(call, "unknown_effect" in effect.classes, span)
        self._apply_effect(effect, depth, span)
        if not _HIDING_CLASSES.isdisjoint(effect.classes):
            self._check_hidden_code(f"{call.text} {call.input_text.text if call.input_text else ''}", span)

    def _analyze_program(self, call: ProgramCall) -> CommandEffect:
        """Return the effect by the program's rule. An unknown program may run the program that follows its name."""
        name = "mkfs" if call.name.startswith("mkfs.") else call.name
        if name.startswith(grammar.DISABLED_COMMENT):  # no program has such a name
            return NO_EFFECT
        # A file in any other folder, or with capital letters, is only named like the known program.
        path = call.words[0].text
        is_installed = path == path.casefold() and (
            "/" not in path or posixpath.dirname(resolve_path(path, self._scope)) in _PROGRAM_FOLDERS
        )
        if is_installed and len(call.arguments) == 1 and call.arguments[0].text in HELP_FLAGS:
            return NO_EFFECT
        if name in RULES_BY_PROGRAM:
            effect = analyze_by_rule(RULES_BY_PROGRAM[name], call)
            is_harmless = is_installed or is_account_launch(call)
            return effect if is_harmless else merge_effects(effect, UNKNOWN_EFFECT)
        index = next((i for i, word in enumerate(call.words) if i and get_program_name(word) in _WRAPPED_PROGRAMS), 0)
        return replace(UNKNOWN_EFFECT, calls=(replace(call, words=call.words[index:]),) if index else ())

    def _check_hidden_code(self, text: str, span: TextSpan) -> None:
        if _REMOVING_CODE.search(text):
            self.add_finding("inline_code", span)

    def _check_truncation(self, call: ProgramCall, span: TextSpan) -> None:
        """Classify `> file` and `: > file`, which empty the file."""
        files = [redirect.word for redirect in call.redirects if redirect.direction != "in"]
        if any(path_rules.classify_path(resolve_path(word.text, self._scope)) != "nothing" for word in files):
            self.add_finding("delete", span)

    def _check_any_program(self, call: ProgramCall, may_write: bool, span: TextSpan) -> None:
        """Apply the checks common to all programs. A wrapper's words are checked with the program that it runs."""
        if call.name == "xargs" or call.name not in _WRAPPERS:
            self._check_secrets(call, span)
        if call.name in _WRAPPERS or is_account_launch(call):
            return
        for option, word in pairwise(call.words) if may_write else ():
            if _OUTPUT_OPTION.match(option.text):
                self._check_output(word, span)
            elif _OUTPUT_OPTION.match(word.text.partition("=")[0]):
                self._check_output(replace(word, text=word.text.partition("=")[2]), span)
        may_write = may_write or call.name in _SCRIPT_RUNNERS
        protected = [word for word in call.arguments if self._is_never_written(word)]
        if any(may_write or word.is_pattern for word in protected) and not is_naming_program(call.name):
            self.add_finding("protected_path", span)
        if may_write and any(map(self._is_configuration, call.arguments)):
            self.add_finding("system_write", span)
        self._check_created_files(call, span)
        following = self._text[span[1] :]
        if _reads_following_lines(call) and following.strip(" ;&|)\n") and "\n" in following:
            self.add_finding("inline_code", span)

    def _check_secrets(self, call: ProgramCall, span: TextSpan) -> None:
        if has_secret_path(call):
            self.add_finding("credential_read", span)

    def _check_output(self, word: ShellWord, span: TextSpan) -> None:
        """Classify a path that an option or variable names, and that the program may write to."""
        if word.is_known and _MAY_BE_PATH.search(word.text):
            self._classify_access("writes", resolve_path(word.text, self._scope), span)

    def _check_created_files(self, call: ProgramCall, span: TextSpan) -> None:
        """Classify a call that runs a file which the same command line downloaded or wrote."""
        words = call.words[1:4] if call.name in _SCRIPT_RUNNERS else ()
        names = {call.name, *(word.text.rpartition("/")[2].casefold() for word in words)}
        for name in names & self._class_by_created_file.keys():
            self.add_finding(self._class_by_created_file[name], span)

    def _is_configuration(self, word: ShellWord) -> bool:
        return path_rules.is_configuration(resolve_path(word.text.rpartition("=")[2], self._scope))

    def _is_never_written(self, word: ShellWord) -> bool:
        if not _MAY_BE_PATH.search(word.text):
            return False
        parts = [word.text, word.text.partition("=")[2]]
        paths = (resolve_path(part, self._scope, folder) for part in parts if part for folder in self._folders)
        return any(find_never_written_folder(path, self._scope) for path in paths)

    def _apply_effect(self, effect: CommandEffect, depth: int, span: TextSpan) -> None:
        for name in effect.classes:
            self.add_finding(name, span)
        for kind, words in (("reads", effect.reads), ("writes", effect.writes), ("removes", effect.removes)):
            for word in words:
                self._record_path(kind, word, span)
        for host in effect.hosts:
            self._add_value("hosts", host)
            self.add_finding("network", span)
        # `curl -o x …; sh x` runs downloaded code without a pipe.
        self._class_by_created_file |= {name.casefold(): "remote_code" for name in effect.fetches if name}
        for word in effect.moves_to:
            self._change_folder(word)
        for link, target in effect.links:
            self._target_by_link[resolve_path(link.text, self._scope)] = resolve_path(target.text, self._scope)
        for call in effect.calls:
            self.analyze_call(call, depth + 1, span)
        for script in effect.scripts:
            self.analyze_script(script, depth + 1, span)

    def _record_path(self, kind: str, word: ShellWord, span: TextSpan) -> None:
        if not word.is_known:
            if kind == "writes":
                self.add_finding("dynamic_path", span)
            return
        for folder in self._folders:
            path = resolve_path(word.text, self._scope, folder)
            self._classify_access(kind, path, span)
            for link, target in self._target_by_link.items():
                if kind != "reads" and f"{path}/".startswith(f"{link}/"):
                    self._classify_access(kind, target + path[len(link) :], span)
            if path_rules.classify_path(path) != "nothing":
                self._add_value(kind, path)
                if kind == "writes":
                    self._class_by_created_file.setdefault(path.rpartition("/")[2].casefold(), "dynamic")

    def _classify_access(self, kind: str, path: str, span: TextSpan) -> None:
        meaning = path_rules.classify_path(path)
        is_root = kind == "removes" and path_rules.is_system_root(path, self._scope)
        if is_root:
            self.add_finding("system_delete", span)
        if meaning == "socket":
            self._add_value("hosts", path_rules.get_socket_host(path))
            self.add_finding("network_exfiltration" if kind == "writes" else "network", span)
        elif kind == "reads" and (is_secret_path(path) or path_rules.contains_home(path, self._scope)):
            self.add_finding("credential_read", span)
        elif meaning == "disk" and kind != "reads":
            self.add_finding("disk", span)
        elif meaning == "system" and kind != "reads":
            self.add_finding("system_write", span)
        elif not is_root and kind != "reads" and path_rules.is_outside(path, self._scope):
            self.add_finding("outside_write", span)

    def _change_folder(self, word: ShellWord) -> None:
        """Add the target folder of a `cd`. Keep the old folders, because the `cd` may be in a branch or fail."""
        if not word.is_known or len(self._folders) >= MAX_FOLDERS:
            return
        folders = [resolve_path(word.text, self._scope, folder) for folder in self._folders]
        self._folders += [folder for folder in folders if folder not in self._folders]

    def _add_value(self, kind: str, value: str) -> None:
        self._values_by_kind[kind][value] = None


def _reads_following_lines(call: ProgramCall) -> bool:
    """Return True if the call starts an interactive program that would read the following lines as input."""
    return call.name in _INTERACTIVE_PROGRAMS and not call.reads_stdin and len(call.words) == 1


def _is_fork_bomb(root: SyntaxNode) -> bool:
    """Return True if a function starts itself in a pipe or in the background."""
    functions = (node for node in root.iterate_descendants() if node.kind == "function_definition")
    return any(map(_is_self_replicating, functions))


def _is_self_replicating(node: SyntaxNode) -> bool:
    name = node.named_children[0].text if node.named_children else ""
    self_calls = [call for call in extract_calls(node)[0] if call.words and call.words[0].text == name]
    is_piped = any(source.words[:1] and source.words[0].text == name for call in self_calls for source in call.fed_by)
    return is_piped or (bool(self_calls) and _BACKGROUND.search(node.text) is not None)


def has_hidden_text(text: str) -> bool:
    """Return True if the text has control characters, reordering or joining marks, or cannot be encoded."""
    return bool(_HIDDEN_CHARS.search(text) or RESERVED_CHARS.search(text))


def replace_control_chars(text: str) -> str:
    """Replace control characters with newlines, keeping the length: like Ctrl-C or Enter, they end a line."""
    text = re.sub("[\x00-\x08\x0b-\x1f\x7f]", "\n", text)
    return RESERVED_CHARS.sub("\ufffd", re.sub("[\ud800-\udfff]", "\ufffd", text))


def has_history_expansion(text: str) -> bool:
    """Return True if the text has `!!`, `!rm` or `^old^new`, which a shell expands outside single quotes."""
    is_event = _HISTORY_EVENT.search(_SINGLE_QUOTED.sub(r"\1", text))
    return bool(is_event) or any(line.lstrip().startswith("^") for line in text.split("\n"))
