"""Git commands: what rewrites history, discards changes, reaches other machines or runs programs."""

from termvisor.policy.shell.call import (
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.programs.network import parse_host
from termvisor.policy.shell.word import ShellWord

# Prefixes of git settings that make git run a program.
_CODE_SETTINGS = (
    "alias. core.pager core.editor core.sshcommand core.hookspath core.fsmonitor core.askpass core.gitproxy pager."
    " diff.external gpg. sequence.editor credential. protocol.ext filter. include. includeif. merge. difftool."
    " mergetool. browser. man. web. remote. url. ssh. core.worktree core.attributesfile uploadpack. receive."
    " init.templatedir sendemail. instaweb. submodule. guitool. trailer. interactive.difffilter diff."
)
_NETWORK_VERBS = ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule")


def analyze_push(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `push o +main` and `push o :old`, which overwrite and remove branches."""
    operands = options.operands[1:]
    return classify("history_rewrite", when=any(word.text.startswith(("+", ":")) for word in operands))


def analyze_checkout(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `checkout .`, `checkout ref path` and `checkout --`. Switching branches is harmless."""
    paths = [word.text for word in options.operands]
    is_new = options.has("-b", "-B", "--orphan", "-t", "--track")
    names_path = any(word.text == "--" for word in call.arguments) or paths[:1] in (["."], ["*"], ["./"], [":/"])
    return classify("git_discard", when=names_path or (not is_new and len(paths) > 1))


def analyze_config(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    operands = options.operands
    return classify("environment", when=len(operands) > 1 and any(map(_sets_code, operands)))


def analyze_run(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    """Analyze `bisect run` and `submodule foreach`, whose operands are a command line."""
    texts = [word.text for word in call.arguments if not word.text.startswith("--")]
    return CommandEffect(scripts=(ShellWord(" ".join(texts), call.start, call.end),))


def analyze_git(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze settings on the command line, and the hosts and programs that addresses name."""
    sets = classify("dynamic", when=any(map(_sets_code, options.find_values("-c", "--config-env"))))
    verb = options.rest[0].text if options.rest else ""
    operands = parse_options(options.rest[1:], "-b= -o= --depth=").operands
    hosts = tuple(filter(None, (_find_host(word.text) for word in operands))) if verb in _NETWORK_VERBS else ()
    is_remote = any("::" in word.text.partition("/")[0] for word in operands if verb in _NETWORK_VERBS)
    return merge_effects(sets, CommandEffect(hosts=hosts), classify("remote_code", when=is_remote))


def _sets_code(word: ShellWord) -> bool:
    name, _, value = word.text.partition("=")
    if name.casefold().startswith("alias."):
        return value.startswith("!") or not value
    return name.casefold().startswith(tuple(_CODE_SETTINGS.split())) or not word.is_known


def _find_host(text: str) -> str:
    """Return the host of `https://host/x` or `git@host:x`; empty for the name of a remote or a path."""
    if "://" in text:
        return parse_host(text)
    before, colon, _ = text.partition(":")
    return before.rpartition("@")[2] if colon and "/" not in before and "@" in before else ""
