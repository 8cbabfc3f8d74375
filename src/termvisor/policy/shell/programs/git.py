"""Analyze git commands that rewrite history or discard uncommitted changes."""

from collections.abc import Callable, Iterator

from termvisor.policy.shell.call import (
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.word import ShellWord

_GLOBAL_OPTIONS = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
# Prefixes of git settings that make git run a program.
_CODE_SETTINGS = (
    "alias. core.pager core.editor core.sshcommand core.hookspath core.fsmonitor pager. diff.external gpg.program"
    " sequence.editor credential.helper protocol.ext filter. include."
)
_HARMLESS_REBASE_FLAGS = ("--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch")


def _is_push_rewrite(options: ParsedOptions) -> bool:
    forces = ("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d", "--prune")
    return options.has(*forces) or any(word.text.startswith(("+", ":")) for word in options.operands[1:])


def _is_branch_rewrite(options: ParsedOptions) -> bool:
    return options.has("-D", "-M", "-C") or (options.has("-d", "--delete") and options.has("-f", "--force"))


def _match_first_operand(*verbs: str) -> Callable[[ParsedOptions], bool]:
    return lambda options: bool(options.operands) and options.operands[0].text in verbs


def _is_checkout_discard(options: ParsedOptions) -> bool:
    """Return True for `checkout .`, `checkout ref path` and `checkout -f`. Switching branches is harmless."""
    if options.has("-f", "--force", "-p", "--patch", "--ours", "--theirs"):
        return True
    paths = [word.text for word in options.operands]
    is_new = options.has("-b", "-B", "--orphan", "-t", "--track")
    return not is_new and (len(paths) > 1 or paths[:1] in (["."], ["*"], ["./"], [":/"]))


REWRITE_CHECKS: dict[str, Callable[[ParsedOptions], bool]] = {
    "push": _is_push_rewrite,
    "branch": _is_branch_rewrite,
    "rebase": lambda options: not any(flag in _HARMLESS_REBASE_FLAGS for flag in options.flags),
    "commit": lambda options: options.has("--amend"),
    "filter-branch": lambda _: True,
    "filter-repo": lambda _: True,
    "replace": lambda options: bool(options.operands),
    "reflog": _match_first_operand("expire", "delete"),
    "gc": lambda options: any(flag.startswith("--prune") for flag in options.flags),
    "prune": lambda options: not options.has("-n", "--dry-run"),
    "update-ref": lambda _: True,
    "tag": lambda options: options.has("-d", "--delete", "-f", "--force"),
}
DISCARD_CHECKS: dict[str, Callable[[ParsedOptions], bool]] = {
    "reset": lambda options: options.has("--hard", "--merge", "--keep"),
    "clean": lambda options: not options.has("-n", "--dry-run"),
    "checkout": _is_checkout_discard,
    "restore": lambda options: not options.has("--staged", "-S") or options.has("--worktree", "-W"),
    "switch": lambda options: options.has("-f", "--force", "--discard-changes", "-C"),
    "stash": _match_first_operand("drop", "clear"),
    "worktree": lambda options: _match_first_operand("remove")(options) and options.has("-f", "--force"),
    "submodule": _match_first_operand("deinit"),
    "read-tree": lambda options: options.has("--reset", "-u"),
    "checkout-index": lambda options: options.has("-f", "--force"),
    "rm": lambda options: options.has("-f", "--force"),
}
_NETWORK_VERBS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule")


def _analyze_git(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, _GLOBAL_OPTIONS, stops_at_operand=True)
    sets = classify("dynamic", when=any(map(_sets_code, options.find_values("-c", "--config-env"))))
    if not options.rest:
        return sets
    verb = options.rest[0]
    if not verb.is_known:
        return classify("dynamic")
    return merge_effects(sets, *_analyze_verb(call, verb.text, options.rest[1:]))


def _analyze_verb(call: ProgramCall, verb: str, words: tuple[ShellWord, ...]) -> Iterator[CommandEffect]:
    options = parse_options(words, "-m -F -b -B -o --message --upload-pack --exec --source -x -s -c")
    operands = options.operands
    if verb == "rebase":
        yield CommandEffect(scripts=options.find_values("-x", "--exec"))
    yield classify("history_rewrite", when=verb in REWRITE_CHECKS and REWRITE_CHECKS[verb](options))
    has_path_mark = verb == "checkout" and any(word.text == "--" for word in words)
    yield classify("git_discard", when=verb in DISCARD_CHECKS and (DISCARD_CHECKS[verb](options) or has_path_mark))
    if verb == "rm" and not options.has("--cached"):
        yield CommandEffect(classes=("delete",), writes=operands)
    if verb == "config":
        yield classify("environment", when=len(operands) > 1 and any(map(_sets_code, operands)))
    if verb in ("bisect", "submodule") and _match_first_operand("run", "foreach")(options):
        texts = [word.text for word in words[1:] if not word.text.startswith("--")]
        yield CommandEffect(scripts=(ShellWord(" ".join(texts), call.start, call.end),))
    if verb in _NETWORK_VERBS:
        yield CommandEffect(hosts=tuple(filter(None, (_find_host(word.text) for word in operands))))
    yield classify("remote_code", when=any(word.text.startswith("ext::") for word in operands))


def _sets_code(word: ShellWord) -> bool:
    name, _, value = word.text.partition("=")
    if name.casefold().startswith("alias."):
        return value.startswith("!") or not value
    return name.casefold().startswith(tuple(_CODE_SETTINGS.split()))


def _find_host(text: str) -> str:
    """Return the host of `https://host/x` or `git@host:x`; empty for the name of a remote or a path."""
    if "://" in text:
        return text.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    before, colon, _ = text.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before and "@" in before else ""


ANALYZERS = {"git": _analyze_git}
