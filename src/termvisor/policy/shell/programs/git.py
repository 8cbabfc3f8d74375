"""git: what rewrites history, and what throws away work that was never committed."""

from collections.abc import Callable

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.getopt import ParsedOptions
from termvisor.policy.shell.word import ShellWord

_GLOBAL_OPTIONS = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
_CODE_SETTINGS: tuple[str, ...] = (
    "alias.",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.hookspath",
    "core.fsmonitor",
    "pager.",
)
_CODE_SETTINGS += (
    "diff.external",
    "gpg.program",
    "sequence.editor",
    "credential.helper",
    "protocol.ext",
    "filter.",
    "include.",
)
_HARMLESS_REBASE_FLAGS = ("--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch")


def _is_push_rewrite(found: ParsedOptions) -> bool:
    is_forced = found.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d")
    is_forced = is_forced or found.has("--prune")
    return is_forced or any(word.text.startswith(("+", ":")) for word in found.operands[1:])


def _is_branch_rewrite(found: ParsedOptions) -> bool:
    return found.has("-D", "-M", "-C") or (found.has("-d", "--delete") and found.has("-f", "--force"))


def _is_stash_discard(found: ParsedOptions) -> bool:
    return bool(found.operands) and found.operands[0].text in ("drop", "clear")


def _match_first_operand(*verbs: str) -> Callable[[ParsedOptions], bool]:
    return lambda found: bool(found.operands) and found.operands[0].text in verbs


def _is_checkout_discard(found: ParsedOptions) -> bool:
    """`checkout .`, `checkout -- path`, `checkout ref path`, `checkout -f`; a branch alone is harmless."""
    if found.has("-f", "--force", "-p", "--patch", "--ours", "--theirs"):
        return True
    paths = [word.text for word in found.operands]
    is_new = found.has("-b", "-B", "--orphan", "-t", "--track")
    return not is_new and (len(paths) > 1 or paths[:1] in (["."], ["*"], ["./"], [":/"]))


def _is_restore_discard(found: ParsedOptions) -> bool:
    return not found.has("--staged", "-S") or found.has("--worktree", "-W")


REWRITE_CHECKS: dict[str, Callable[[ParsedOptions], bool]] = {
    "push": _is_push_rewrite,
    "branch": _is_branch_rewrite,
    "rebase": lambda found: not any(flag in _HARMLESS_REBASE_FLAGS for flag in found.flags),
    "commit": lambda found: found.has("--amend"),
    "filter-branch": lambda _: True,
    "filter-repo": lambda _: True,
    "replace": lambda found: bool(found.operands),
    "reflog": _match_first_operand("expire", "delete"),
    "gc": lambda found: any(flag.startswith("--prune") for flag in found.flags),
    "prune": lambda found: not found.has("-n", "--dry-run"),
    "update-ref": lambda _: True,
    "tag": lambda found: found.has("-d", "--delete", "-f", "--force"),
    "remote": lambda _: False,
}
DISCARD_CHECKS: dict[str, Callable[[ParsedOptions], bool]] = {
    "reset": lambda found: found.has("--hard", "--merge", "--keep"),
    "clean": lambda found: not found.has("-n", "--dry-run"),
    "checkout": _is_checkout_discard,
    "restore": _is_restore_discard,
    "switch": lambda found: found.has("-f", "--force", "--discard-changes", "-C"),
    "stash": _is_stash_discard,
    "worktree": lambda found: _match_first_operand("remove")(found) and found.has("-f", "--force"),
    "submodule": _match_first_operand("deinit"),
    "read-tree": lambda found: found.has("--reset", "-u"),
    "checkout-index": lambda found: found.has("-f", "--force"),
    "rm": lambda found: found.has("-f", "--force"),
}
_NETWORK_VERBS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule")


def _analyze_git(call: ProgramCall) -> CommandEffect:
    found = getopt.parse_options(call.arguments, _GLOBAL_OPTIONS, stops_at_operand=True)
    sets = (
        CommandEffect(classes=("dynamic",))
        if any(_sets_code(word) for word in found.find_values("-c", "--config-env"))
        else NO_EFFECT
    )
    if not found.rest:
        return sets
    verb = found.rest[0]
    if not verb.is_known:
        return merge_effects(sets, CommandEffect(classes=("dynamic",)))
    return merge_effects(sets, *_analyze_verb(call, verb.text, found.rest[1:]))


def _analyze_verb(call: ProgramCall, verb: str, words: tuple[ShellWord, ...]) -> list[CommandEffect]:
    found = getopt.parse_options(
        _add_default_verb(verb, words), "-m -F -b -B -o --message --upload-pack --exec --source -x -s -c"
    )
    effects = [CommandEffect(scripts=found.find_values("-x", "--exec") if verb == "rebase" else ())]
    if verb in REWRITE_CHECKS and REWRITE_CHECKS[verb](found):
        effects.append(CommandEffect(classes=("history_rewrite",)))
    if verb in DISCARD_CHECKS and (
        DISCARD_CHECKS[verb](found) or (verb == "checkout" and words[-1:] and "--" in _get_texts(words))
    ):
        effects.append(CommandEffect(classes=("git_discard",)))
    if verb == "rm" and not found.has("--cached"):
        effects.append(CommandEffect(classes=("delete",), writes=found.operands))
    if verb == "config" and any(_sets_code(word) for word in found.operands) and len(found.operands) > 1:
        effects.append(CommandEffect(classes=("environment",)))
    if verb in ("bisect", "submodule", "difftool", "mergetool") and _match_first_operand("run", "foreach")(found):
        effects.append(_analyze_foreach(call, verb, words))
    if verb in _NETWORK_VERBS:
        effects.append(
            CommandEffect(hosts=tuple(_find_host(word.text) for word in found.operands if _find_host(word.text)))
        )
    if any(word.text.startswith("ext::") for word in found.operands):
        effects.append(CommandEffect(classes=("remote_code",)))
    return effects


def _add_default_verb(verb: str, words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    """`stash` without a word is `stash push`; all else is as it stands."""
    return words or ((ShellWord("push"),) if verb == "stash" else ())


def _analyze_foreach(call: ProgramCall, verb: str, words: tuple[ShellWord, ...]) -> CommandEffect:
    texts = [word.text for word in words[1:] if not word.text.startswith("--")]
    return (
        CommandEffect(scripts=(ShellWord(" ".join(texts), call.start, call.end),))
        if verb in ("submodule", "bisect")
        else NO_EFFECT
    )


def _get_texts(words: tuple[ShellWord, ...]) -> list[str]:
    return [word.text for word in words]


def _sets_code(word: ShellWord) -> bool:
    name, _, value = word.text.partition("=")
    if name.casefold().startswith("alias."):
        return value.startswith("!") or not value
    return name.casefold().startswith(_CODE_SETTINGS)


def _find_host(text: str) -> str:
    """The host of `https://host/x` and `git@host:x`; empty for a remote's name or a path."""
    if "://" in text:
        return text.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    before, colon, _ = text.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before and "@" in before else ""


ANALYZERS: dict[str, EffectAnalyzer] = {"git": _analyze_git}
