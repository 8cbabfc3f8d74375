"""Analyze git: commands that rewrite history or discard uncommitted changes."""

from collections.abc import Callable

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.getopt import ParsedOptions
from termvisor.policy.shell.word import ShellWord

_GLOBAL_OPTIONS = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
_CODE_SETTING_NAMES = (
    "alias. core.pager core.editor core.sshcommand core.hookspath core.fsmonitor pager. diff.external gpg.program"
    " sequence.editor credential.helper protocol.ext filter. include."
)
_CODE_SETTINGS = tuple(_CODE_SETTING_NAMES.split())
"""Prefixes of settings that make git run a program."""
_HARMLESS_REBASE_FLAGS = ("--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch")


def _is_push_rewrite(options: ParsedOptions) -> bool:
    is_forced = options.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d")
    is_forced = is_forced or options.has("--prune")
    return is_forced or any(word.text.startswith(("+", ":")) for word in options.operands[1:])


def _is_branch_rewrite(options: ParsedOptions) -> bool:
    return options.has("-D", "-M", "-C") or (options.has("-d", "--delete") and options.has("-f", "--force"))


def _is_stash_discard(options: ParsedOptions) -> bool:
    return bool(options.operands) and options.operands[0].text in ("drop", "clear")


def _match_first_operand(*verbs: str) -> Callable[[ParsedOptions], bool]:
    return lambda options: bool(options.operands) and options.operands[0].text in verbs


def _is_checkout_discard(options: ParsedOptions) -> bool:
    """Return True for `checkout .`, `checkout ref path` and `checkout -f`; switching to a branch is harmless."""
    if options.has("-f", "--force", "-p", "--patch", "--ours", "--theirs"):
        return True
    paths = [word.text for word in options.operands]
    is_new = options.has("-b", "-B", "--orphan", "-t", "--track")
    return not is_new and (len(paths) > 1 or paths[:1] in (["."], ["*"], ["./"], [":/"]))


def _is_restore_discard(options: ParsedOptions) -> bool:
    return not options.has("--staged", "-S") or options.has("--worktree", "-W")


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
    "remote": lambda _: False,
}
DISCARD_CHECKS: dict[str, Callable[[ParsedOptions], bool]] = {
    "reset": lambda options: options.has("--hard", "--merge", "--keep"),
    "clean": lambda options: not options.has("-n", "--dry-run"),
    "checkout": _is_checkout_discard,
    "restore": _is_restore_discard,
    "switch": lambda options: options.has("-f", "--force", "--discard-changes", "-C"),
    "stash": _is_stash_discard,
    "worktree": lambda options: _match_first_operand("remove")(options) and options.has("-f", "--force"),
    "submodule": _match_first_operand("deinit"),
    "read-tree": lambda options: options.has("--reset", "-u"),
    "checkout-index": lambda options: options.has("-f", "--force"),
    "rm": lambda options: options.has("-f", "--force"),
}
_NETWORK_VERBS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule")


def _analyze_git(call: ProgramCall) -> CommandEffect:
    options = getopt.parse_options(call.arguments, _GLOBAL_OPTIONS, stops_at_operand=True)
    sets = (
        CommandEffect(classes=("dynamic",))
        if any(_sets_code(word) for word in options.find_values("-c", "--config-env"))
        else NO_EFFECT
    )
    if not options.rest:
        return sets
    verb = options.rest[0]
    if not verb.is_known:
        return merge_effects(sets, CommandEffect(classes=("dynamic",)))
    return merge_effects(sets, *_analyze_verb(call, verb.text, options.rest[1:]))


def _analyze_verb(call: ProgramCall, verb: str, words: tuple[ShellWord, ...]) -> list[CommandEffect]:
    options = getopt.parse_options(
        _add_default_verb(verb, words), "-m -F -b -B -o --message --upload-pack --exec --source -x -s -c"
    )
    effects = [CommandEffect(scripts=options.find_values("-x", "--exec") if verb == "rebase" else ())]
    if verb in REWRITE_CHECKS and REWRITE_CHECKS[verb](options):
        effects.append(CommandEffect(classes=("history_rewrite",)))
    if verb in DISCARD_CHECKS and (
        DISCARD_CHECKS[verb](options) or (verb == "checkout" and any(word.text == "--" for word in words))
    ):
        effects.append(CommandEffect(classes=("git_discard",)))
    if verb == "rm" and not options.has("--cached"):
        effects.append(CommandEffect(classes=("delete",), writes=options.operands))
    if verb == "config" and any(_sets_code(word) for word in options.operands) and len(options.operands) > 1:
        effects.append(CommandEffect(classes=("environment",)))
    if verb in ("bisect", "submodule", "difftool", "mergetool") and _match_first_operand("run", "foreach")(options):
        effects.append(_analyze_foreach(call, verb, words))
    if verb in _NETWORK_VERBS:
        effects.append(CommandEffect(hosts=tuple(filter(None, (_find_host(word.text) for word in options.operands)))))
    if any(word.text.startswith("ext::") for word in options.operands):
        effects.append(CommandEffect(classes=("remote_code",)))
    return effects


def _add_default_verb(verb: str, words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    """Return `push` for `stash` without a subcommand, otherwise the words unchanged."""
    return words or ((ShellWord("push"),) if verb == "stash" else ())


def _analyze_foreach(call: ProgramCall, verb: str, words: tuple[ShellWord, ...]) -> CommandEffect:
    texts = [word.text for word in words[1:] if not word.text.startswith("--")]
    if verb not in ("submodule", "bisect"):
        return NO_EFFECT
    return CommandEffect(scripts=(ShellWord(" ".join(texts), call.start, call.end),))


def _sets_code(word: ShellWord) -> bool:
    name, _, value = word.text.partition("=")
    if name.casefold().startswith("alias."):
        return value.startswith("!") or not value
    return name.casefold().startswith(_CODE_SETTINGS)


def _find_host(text: str) -> str:
    """Return the host of `https://host/x` or `git@host:x`; empty for the name of a remote or a path."""
    if "://" in text:
        return text.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    before, colon, _ = text.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before and "@" in before else ""


ANALYZERS: dict[str, EffectAnalyzer] = {"git": _analyze_git}
