"""git: what rewrites history, and what throws away work that was never committed."""

from collections.abc import Callable

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.getopt import Options
from termvisor.policy.shell.word import Word

_GLOBAL = "-C -c --git-dir --work-tree --namespace --config-env --exec-path"
_RUNS: tuple[str, ...] = (
    "alias.",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.hookspath",
    "core.fsmonitor",
    "pager.",
)
_RUNS += ("diff.external", "gpg.program", "sequence.editor", "credential.helper", "protocol.ext", "filter.", "include.")
_KEPT = ("--abort", "--continue", "--skip", "--quit", "--edit-todo", "--show-current-patch")


def _push(found: Options) -> bool:
    is_forced = found.has("-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--delete", "-d")
    is_forced = is_forced or found.has("--prune")
    return is_forced or any(word.text.startswith(("+", ":")) for word in found.operands[1:])


def _branch(found: Options) -> bool:
    return found.has("-D", "-M", "-C") or (found.has("-d", "--delete") and found.has("-f", "--force"))


def _stash(found: Options) -> bool:
    return bool(found.operands) and found.operands[0].text in ("drop", "clear")


def _first(*verbs: str) -> Callable[[Options], bool]:
    return lambda found: bool(found.operands) and found.operands[0].text in verbs


def _checkout(found: Options) -> bool:
    """`checkout .`, `checkout -- path`, `checkout ref path`, `checkout -f`; a branch alone is harmless."""
    if found.has("-f", "--force", "-p", "--patch", "--ours", "--theirs"):
        return True
    paths = [word.text for word in found.operands]
    is_new = found.has("-b", "-B", "--orphan", "-t", "--track")
    return not is_new and (len(paths) > 1 or paths[:1] in (["."], ["*"], ["./"], [":/"]))


def _restore(found: Options) -> bool:
    return not found.has("--staged", "-S") or found.has("--worktree", "-W")


REWRITES: dict[str, Callable[[Options], bool]] = {
    "push": _push,
    "branch": _branch,
    "rebase": lambda found: not any(flag in _KEPT for flag in found.flags),
    "commit": lambda found: found.has("--amend"),
    "filter-branch": lambda _: True,
    "filter-repo": lambda _: True,
    "replace": lambda found: bool(found.operands),
    "reflog": _first("expire", "delete"),
    "gc": lambda found: any(flag.startswith("--prune") for flag in found.flags),
    "prune": lambda found: not found.has("-n", "--dry-run"),
    "update-ref": lambda _: True,
    "tag": lambda found: found.has("-d", "--delete", "-f", "--force"),
    "remote": lambda _: False,
}
DISCARDS: dict[str, Callable[[Options], bool]] = {
    "reset": lambda found: found.has("--hard", "--merge", "--keep"),
    "clean": lambda found: not found.has("-n", "--dry-run"),
    "checkout": _checkout,
    "restore": _restore,
    "switch": lambda found: found.has("-f", "--force", "--discard-changes", "-C"),
    "stash": _stash,
    "worktree": lambda found: _first("remove")(found) and found.has("-f", "--force"),
    "submodule": _first("deinit"),
    "read-tree": lambda found: found.has("--reset", "-u"),
    "checkout-index": lambda found: found.has("-f", "--force"),
    "rm": lambda found: found.has("-f", "--force"),
}
_HOSTS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule")


def _git(call: Call) -> Effect:
    found = options.read(call.arguments, _GLOBAL, is_prefix=True)
    sets = Effect(classes=("dynamic",)) if any(_runs(word) for word in found.every("-c", "--config-env")) else NOTHING
    if not found.rest:
        return sets
    verb = found.rest[0]
    if not verb.is_known:
        return plus(sets, Effect(classes=("dynamic",)))
    return plus(sets, *_verb(call, verb.text, found.rest[1:]))


def _verb(call: Call, verb: str, words: tuple[Word, ...]) -> list[Effect]:
    found = options.read(_behind_paths(verb, words), "-m -F -b -B -o --message --upload-pack --exec --source -x -s -c")
    effects = [Effect(scripts=found.every("-x", "--exec") if verb == "rebase" else ())]
    if verb in REWRITES and REWRITES[verb](found):
        effects.append(Effect(classes=("history_rewrite",)))
    if verb in DISCARDS and (DISCARDS[verb](found) or (verb == "checkout" and words[-1:] and "--" in _texts(words))):
        effects.append(Effect(classes=("git_discard",)))
    if verb == "rm" and not found.has("--cached"):
        effects.append(Effect(classes=("delete",), writes=found.operands))
    if verb == "config" and any(_runs(word) for word in found.operands) and len(found.operands) > 1:
        effects.append(Effect(classes=("environment",)))
    if verb in ("bisect", "submodule", "difftool", "mergetool") and _first("run", "foreach")(found):
        effects.append(_foreach(call, verb, words))
    if verb in _HOSTS:
        effects.append(Effect(hosts=tuple(_host(word.text) for word in found.operands if _host(word.text))))
    if any(word.text.startswith("ext::") for word in found.operands):
        effects.append(Effect(classes=("remote_code",)))
    return effects


def _behind_paths(verb: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`stash` without a word is `stash push`; all else is as it stands."""
    return words or ((Word("push"),) if verb == "stash" else ())


def _foreach(call: Call, verb: str, words: tuple[Word, ...]) -> Effect:
    texts = [word.text for word in words[1:] if not word.text.startswith("--")]
    return (
        Effect(scripts=(Word(" ".join(texts), call.start, call.end),)) if verb in ("submodule", "bisect") else NOTHING
    )


def _texts(words: tuple[Word, ...]) -> list[str]:
    return [word.text for word in words]


def _runs(word: Word) -> bool:
    name, _, value = word.text.partition("=")
    if name.casefold().startswith("alias."):
        return value.startswith("!") or not value
    return name.casefold().startswith(_RUNS)


def _host(text: str) -> str:
    """The host of `https://host/x` and `git@host:x`; empty for a remote's name or a path."""
    if "://" in text:
        return text.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
    before, colon, _ = text.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before and "@" in before else ""


LOOKS: dict[str, Look] = {"git": _git}
