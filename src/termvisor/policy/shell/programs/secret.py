"""Analyze programs that print secrets, and recognize paths of secret files."""

import re

from termvisor.policy.shell.call import CommandEffect, ProgramCall, classify, parse_options
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers
from termvisor.policy.shell.word import ShellWord

_SECRET_FILE = re.compile(
    r"(?:^|/)(?:\.ssh/(?!config$|known_hosts|authorized_keys|[^/]*\.pub$)[^/]+|\.gnupg/.+|\.aws/(?:credentials|sso/.*)"
    r"|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json|\.kube/config|\.vault-token"
    r"|\.config/gh/hosts\.yml|\.config/gcloud/.+|\.azure/.+|\.password-store/.+|\.claude/\.credentials\.json"
    r"|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.cargo/credentials(?:\.toml)?|library/keychains/.*"
    r"|login\.keychain(?:-db)?|cookies\.sqlite|logins\.json|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.env(?!\.(?:example|sample|template|dist)$)(?:\.[\w-]+)?)$"
    r"|^/etc/g?shadow-?$|^/proc/[^/]+/environ$|\.(?:p12|pfx|jks|keystore|kdbx)$|(?:^|[/._-])(?:key|privkey|private)\.pem$",
    re.IGNORECASE,
)
_SECRET_FOLDER = re.compile(r"(?:^|/)\.(?:ssh|gnupg|aws|password-store)/*$", re.IGNORECASE)
_NAMING_PROGRAM_NAMES = (
    "echo printf ls stat test [ cd ssh ssh-add ssh-keygen git mkdir file basename dirname realpath readlink"
    " which type export touch chmod chown rm mv ln shred visor find tree du pushd wc alias docker podman man"
)
_NAMING_PROGRAMS = frozenset(_NAMING_PROGRAM_NAMES.split())


def has_secret_path(call: ProgramCall) -> bool:
    """Return True if the program may open a secret path. Some programs only name paths without opening them."""
    words = [redirect.word for redirect in call.redirects if redirect.direction != "out"]
    if call.name not in _NAMING_PROGRAMS:
        words += _find_openable_words(call)
    return any(is_secret_path(part) for word in words for part in re.split(r"[=@:,]", word.text))


def is_naming_program(program: str) -> bool:
    """Return True if the program does not open the paths it names, or is classified by its effect on them."""
    return program in _NAMING_PROGRAMS


def is_secret_path(path: str) -> bool:
    """Return True if the path names a secret file, or is a pattern that may match one."""
    if _SECRET_FILE.search(path) or _SECRET_FOLDER.search(path):
        return True
    return bool(re.search(r"[*?\[]", path)) and bool(re.search(r"\.(?:ssh|gnupg|aws|password-store)/", path))


def _find_openable_words(call: ProgramCall) -> list[ShellWord]:
    """Return the arguments, except scp's login key and grep's search pattern."""
    if call.name in ("scp", "sftp", "rsync"):
        return list(parse_options(call.arguments, "-i -e -o -F -P -J --rsh --exclude --include").operands)
    if call.name in ("grep", "egrep", "fgrep", "rg", "ag", "sed", "awk"):
        return list(parse_options(call.arguments, "-e -A -B -C -m -g --regexp --glob --include --exclude").operands[1:])
    return list(call.arguments)


def _analyze_password_store(call: ProgramCall) -> CommandEffect:
    """Analyze pass and gopass, which print the secret named by an operand that is not a verb."""
    texts = [word.text for word in call.arguments]
    shows = ("show", "-c") if call.name == "pass" else ("show", "cat")
    is_bare = texts[:1] and texts[0] not in ("ls", "find", "git", "help", "insert")
    return classify("credential_read", when=is_bare or any(text in shows for text in texts))


_PRINTING_WORDS_BY_PROGRAM = {
    "security": "find-generic-password find-internet-password dump-keychain export",
    "vault": "read kv token",
    "op": "read item get",
    "bw": "get list export",
    "secret-tool": "lookup search",
    "keyring": "get",
    "gpg": "--export-secret-keys --export-secret-subkeys --export-secret-key",
}
_PRINTING_RULES = {
    name: ProgramEffectRule(classes=("credential_read",), words=words)
    for name, words in _PRINTING_WORDS_BY_PROGRAM.items()
}
ANALYZERS = build_analyzers({"pass gopass": _analyze_password_store, **_PRINTING_RULES})
