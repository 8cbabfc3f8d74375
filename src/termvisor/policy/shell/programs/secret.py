"""Programs whose purpose is to print a secret, and the paths where secrets are kept."""

import re

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look
from termvisor.policy.shell.word import Word

_PLACES = re.compile(
    r"(?:^|/)(?:\.ssh/(?!config$|known_hosts|authorized_keys|[^/]*\.pub$)[^/]+|\.gnupg/.+|\.aws/(?:credentials|sso/.*)"
    r"|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json|\.kube/config|\.vault-token"
    r"|\.config/gh/hosts\.yml|\.config/gcloud/.+|\.azure/.+|\.password-store/.+|\.claude/\.credentials\.json"
    r"|\.codex/auth\.json|\.gemini/oauth_creds\.json|\.cargo/credentials(?:\.toml)?|library/keychains/.*"
    r"|login\.keychain(?:-db)?|cookies\.sqlite|logins\.json|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.env(?!\.(?:example|sample|template|dist)$)(?:\.[\w-]+)?)$"
    r"|^/etc/g?shadow-?$|^/proc/[^/]+/environ$|\.(?:p12|pfx|jks|keystore|kdbx)$|(?:^|[/._-])(?:key|privkey|private)\.pem$",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?:^|/)\.(?:ssh|gnupg|aws|password-store)/*$", re.IGNORECASE)
_ONLY_NAME = "echo printf ls stat test [ cd ssh ssh-add ssh-keygen git mkdir file basename dirname realpath readlink"
_ONLY_NAME += " which type export touch chmod chown rm mv ln shred visor find tree du pushd wc alias docker podman man"
_NAMERS = frozenset(_ONLY_NAME.split())
_SHOWS: dict[str, tuple[str, ...]] = {
    "pass": ("show", "-c"),
    "security": ("find-generic-password", "find-internet-password", "dump-keychain", "export"),
    "vault": ("read", "kv", "token"),
    "op": ("read", "item", "get"),
    "bw": ("get", "list", "export"),
    "secret-tool": ("lookup", "search"),
    "keyring": ("get",),
    "gpg": ("--export-secret-keys", "--export-secret-subkeys", "--export-secret-key"),
    "gopass": ("show", "cat"),
}
_READ = Effect(classes=("credential_read",))


def names_secret(call: Call) -> bool:
    """Whether a word that the program may open is such a path. Programs that only name a path do not read it."""
    words = [redirect.word for redirect in call.redirects if redirect.way != "out"]
    if call.name not in _NAMERS:
        words += _openable(call)
    return any(is_secret(part) for word in words for part in re.split(r"[=@:,]", word.text))


def only_names(program: str) -> bool:
    """Whether a program does not open the paths it is given, or is judged by what it does to them."""
    return program in _NAMERS


def is_secret(path: str) -> bool:
    """A pattern counts when it may fit one of them."""
    if _PLACES.search(path) or _FOLDERS.search(path):
        return True
    return bool(re.search(r"[*?\[]", path)) and bool(re.search(r"\.(?:ssh|gnupg|aws|password-store)/", path))


def _openable(call: Call) -> list[Word]:
    """Without the key that scp uses to log in, and the pattern that grep looks for."""
    if call.name in ("scp", "sftp", "rsync"):
        return list(options.read(call.arguments, "-i -e -o -F -P -J --rsh --exclude --include").operands)
    if call.name in ("grep", "egrep", "fgrep", "rg", "ag", "sed", "awk"):
        return list(options.read(call.arguments, "-e -A -B -C -m -g --regexp --glob --include --exclude").operands[1:])
    return list(call.arguments)


def _shows(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    is_bare = call.name in ("pass", "gopass") and texts[:1] and texts[0] not in ("ls", "find", "git", "help", "insert")
    return _READ if is_bare or any(text in _SHOWS[call.name] for text in texts) else NOTHING


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(_SHOWS, _shows)
