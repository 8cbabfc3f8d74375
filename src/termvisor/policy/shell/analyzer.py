"""A command line becomes classes: every program that it would run is found, however it is quoted or wrapped.

Whatever cannot be followed (too deep, too long, not the shell's grammar, known only when it runs) becomes a class of
its own, never silence.
"""

import re
import shlex

from termvisor.policy.path_rules import Scope, never_written, resolve
from termvisor.policy.shell import grammar
from termvisor.policy.shell import raw_text_checks as outside
from termvisor.policy.shell import special_paths as place
from termvisor.policy.shell.analysis import Examined, Finding
from termvisor.policy.shell.call import Call, literal
from termvisor.policy.shell.call_extractor import calls
from termvisor.policy.shell.effect import Effect, Look
from termvisor.policy.shell.programs import database, looks, runner, secret, wrapper
from termvisor.policy.shell.syntax_node import Part
from termvisor.policy.shell.word import Word

DEEPEST, MOST_CALLS, MOST_FOLDERS = 12, 400, 8
_RUNS_CODE = (
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PS0 PS1 PS4 IFS PATH"
)
_RUNS_CODE += " GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR PAGER EDITOR VISUAL MANPAGER LESSOPEN"
_RUNS_CODE += " PYTHONSTARTUP PYTHONPATH PERL5OPT PERL5LIB RUBYOPT NODE_OPTIONS SHELLOPTS BASHOPTS ZDOTDIR HOME FPATH"
_VARIABLES = frozenset(_RUNS_CODE.split())
_COMMENTING = ("sh", "bash", "dash", "ksh", "fish")
"""Shells in which `#` begins a comment also at the prompt. In zsh it does not, unless it was told so."""
_MAY_BE_PATH = re.compile(r"[/.~*?\[]")
_BACKGROUND = re.compile(r"(?<![&>|])&(?![&>])")
_INTERACTIVE = frozenset((*runner.LANGUAGES, *database.CLIENTS))
_RUNNERS = frozenset((*runner.SHELLS, *runner.LANGUAGES, "source", ".", "make"))
_looks: dict[str, tuple[Look, ...]] = looks()


def examine(text: str, scope: Scope, shell: str = "") -> Examined:
    """What a text would do that is typed at the prompt of a shell; empty: it is not known which one."""
    found = _Examination(text, scope)
    whole = (0, len(text))
    if outside.hides_something(text):
        found.add("hidden_text", whole)
    seen = outside.visible(text)
    if outside.recalls_history(seen[: grammar.LONGEST]):
        found.add("dynamic", whole)
    found.script(Word(seen), 0, None)
    without = seen if shell in _COMMENTING else grammar.without_comments(seen)
    if without != seen:
        found.script(Word(without), 0, None)
    if "\\\n" in seen:  # the grammar takes a word that is continued on the next line for two
        found.script(Word(seen.replace("\\\n", "")), 0, whole)
    return found.result()


def examine_argv(argv: tuple[str, ...], scope: Scope, sets: tuple[str, ...] = ()) -> Examined:
    """What a program would do that is started without a shell, with these variables set for it."""
    text = shlex.join(argv)
    found = _Examination(text, scope)
    if any(map(outside.hides_something, argv)):
        found.add("hidden_text", (0, len(text)))
    if sum(map(len, argv)) > grammar.LONGEST:
        found.add("unparsed", (0, len(text)))
    found.call(literal(tuple(map(outside.visible, argv)), sets), 0, (0, len(text)))
    return found.result()


Span = tuple[int, int]


class _Examination:
    """Collects what is found. A span is where a nested text stands in the outermost one."""

    def __init__(self, text: str, scope: Scope):
        self._text, self._scope = text, scope
        self._folders = [scope.cwd]
        self._findings: dict[tuple[str, Span], None] = {}
        self._lists: dict[str, dict[str, None]] = {name: {} for name in Examined.__struct_fields__[1:]}
        self._made: dict[str, str] = {}
        self._left = MOST_CALLS

    def result(self) -> Examined:
        found = tuple(Finding(name, *span, self._text[slice(*span)]) for name, span in self._findings)
        lists = {name: tuple(values) for name, values in self._lists.items()}
        return Examined(findings=found, **lists)

    def add(self, name: str, span: Span) -> None:
        self._findings[name, span] = None

    def script(self, word: Word, depth: int, span: Span | None) -> None:
        whole = span or (0, len(self._text))
        root = grammar.parse(word.text) if depth <= DEEPEST else None
        if root is None or root.has_error:
            self.add("unparsed", whole)
        if root is None:
            return
        found, is_whole = calls(root)
        if not is_whole:
            self.add("unparsed", whole)
        if _is_fork_bomb(root):
            self.add("fork_bomb", whole)
        for call in found:
            self.call(call, depth + 1, span or (call.start, call.end))

    def call(self, call: Call, depth: int, span: Span) -> None:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            self.add("unparsed", span)
            return
        if any(name in _VARIABLES for name in call.sets):
            self.add("environment", span)
        for redirect in call.redirects:
            self._touch("reads" if redirect.way == "in" else "writes", redirect.word, span)
        if not call.words:
            return
        self._note("programs", call.name or "?")
        self._note("lines", call.text)
        if not call.name:
            self.add("dynamic", span)
        known = _looks.get(call.name.partition(".")[0] if call.name.startswith("mkfs.") else call.name, ())
        self._look_over(call, bool(known), span)
        for look in known:
            self._apply(look(call), depth, span)

    def _look_over(self, call: Call, is_known: bool, span: Span) -> None:
        """What holds for every program; a wrapper's words are those of the program it runs."""
        if call.name in wrapper.LOOKS or wrapper.is_start(call):
            return
        if secret.names_secret(call):
            self.add("credential_read", span)
        opens = not is_known or call.name in runner.LOOKS
        guarded = [word for word in call.arguments if self._is_guarded(word)]
        if any(opens or word.is_pattern for word in guarded) and not secret.only_names(call.name):
            self.add("protected_path", span)
        self._look_back(call, span)
        ends = self._text[span[1] :].strip(" ;&|)\n")
        if _reads_on(call) and ends and "\n" in self._text[span[1] :]:
            self.add("inline_code", span)

    def _look_back(self, call: Call, span: Span) -> None:
        """A file that this very text fetched or wrote may be what is run."""
        words = call.words[1:4] if call.name in _RUNNERS else ()
        names = {call.name, *(word.text.rpartition("/")[2].casefold() for word in words)}
        for name in names & self._made.keys():
            self.add(self._made[name], span)

    def _is_guarded(self, word: Word) -> bool:
        if not _MAY_BE_PATH.search(word.text):
            return False
        parts = [word.text, word.text.partition("=")[2]]
        paths = (resolve(part, self._scope, folder) for part in parts if part for folder in self._folders)
        return any(never_written(path, self._scope) for path in paths)

    def _apply(self, effect: Effect, depth: int, span: Span) -> None:
        for name in effect.classes:
            self.add(name, span)
        for kind, words in (("reads", effect.reads), ("writes", effect.writes), ("removes", effect.removes)):
            for word in words:
                self._touch(kind, word, span)
        for host in effect.hosts:
            self._note("hosts", host)
            self.add("network", span)
        self._made |= {name.casefold(): "remote_code" for name in effect.fetches if name}
        if effect.moves_to:
            self._move(effect.moves_to)
        for call in effect.calls:
            self.call(call, depth + 1, span)
        for script in effect.scripts:
            self.script(script, depth + 1, span)

    def _touch(self, kind: str, word: Word, span: Span) -> None:
        if not word.is_known:
            if kind == "writes":
                self.add("dynamic_path", span)
            return
        for folder in self._folders:
            path = resolve(word.text, self._scope, folder)
            self._mean(kind, path, span)
            if place.meaning(path) != "nothing":
                self._note(kind, path)
                self._remember(kind, path)

    def _remember(self, kind: str, path: str) -> None:
        if kind == "writes":
            self._made.setdefault(path.rpartition("/")[2].casefold(), "dynamic")

    def _mean(self, kind: str, path: str, span: Span) -> None:
        meaning = place.meaning(path)
        if kind == "removes" and place.is_root(path, self._scope):
            self.add("system_delete", span)
        if meaning == "socket":
            self._note("hosts", place.socket_host(path))
            self.add("network_exfiltration" if kind == "writes" else "network", span)
        elif kind == "reads" and secret.is_secret(path):
            self.add("credential_read", span)
        elif meaning == "disk" and kind != "reads":
            self.add("disk", span)
        elif meaning == "system" and kind != "reads":
            self.add("system_write", span)

    def _move(self, word: Word) -> None:
        """Behind a `cd` paths may be meant from either folder: it may stand in a branch or fail."""
        if not word.is_known or len(self._folders) >= MOST_FOLDERS:
            return
        found = [resolve(word.text, self._scope, folder) for folder in self._folders]
        self._folders += [folder for folder in found if folder not in self._folders]

    def _note(self, kind: str, value: str) -> None:
        self._lists[kind][value] = None


def _reads_on(call: Call) -> bool:
    """A program that would read the next lines itself."""
    return call.name in _INTERACTIVE and not call.reads_stdin and len(call.words) == 1


def _is_fork_bomb(root: Part) -> bool:
    """A function that starts itself twice at once, or in the background."""
    todo = [root]
    while todo:
        node = todo.pop()
        todo += node.parts
        if node.kind == "function_definition" and _is_bomb(node):
            return True
    return False


def _is_bomb(node: Part) -> bool:
    name = node.parts[0].text if node.parts else ""
    own = [call for call in calls(node)[0] if call.words and call.words[0].text == name]
    is_piped = any(call.words[:1] and call.words[0].text == name for one in own for call in one.fed_by)
    return is_piped or (bool(own) and _BACKGROUND.search(node.text) is not None)
