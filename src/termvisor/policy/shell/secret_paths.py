"""Recognize paths of secret files, and calls that may open them."""

import re

from termvisor.policy.path_rules import matches_path_tail
from termvisor.policy.shell.call import ProgramCall, parse_options
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

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
_TAIL_NAMES = (
    ".ssh/id_rsa .ssh/id_ed25519 .gnupg/secring.gpg .aws/credentials .netrc .pgpass .my.cnf .git-credentials .npmrc"
    " .pypirc .docker/config.json .kube/config .vault-token .config/gh/hosts.yml .claude/.credentials.json"
    " .codex/auth.json .gemini/oauth_creds.json .cargo/credentials.toml .env /etc/shadow /etc/gshadow .ssh"
    " .gnupg .aws .password-store"
)
# Names that a pattern is compared with: `~/.aw?/cred*` may open `~/.aws/credentials`.
_SECRET_TAILS = tuple(tuple(name.split("/")) for name in _TAIL_NAMES.split())
_PATTERN = re.compile(rf"[*?\[{UNKNOWN_TEXT}]")
_NAMING_PROGRAM_NAMES = (
    "echo printf ls stat test [ cd ssh ssh-add ssh-keygen git mkdir basename dirname realpath readlink"
    " which type export touch chmod chown rm mv ln shred visor find tree du pushd alias docker podman man"
)
# Options with which a program that otherwise only names paths opens them.
_OPENING_OPTION = re.compile(r"--(?:file|no-i|con)")
_NAMING_PROGRAMS = frozenset(_NAMING_PROGRAM_NAMES.split())


def has_secret_path(call: ProgramCall) -> bool:
    """Return True if the program may open a secret path. Some programs only name paths without opening them."""
    words = [redirect.word for redirect in call.redirects if redirect.direction != "out"]
    if call.name not in _NAMING_PROGRAMS or any(_OPENING_OPTION.match(word.text) for word in call.arguments):
        words += _find_openable_words(call)
    if call.name == "xargs":  # opens what the calls before it print
        words += [word for source in call.fed_by for word in source.arguments]
    words += call.assigned
    return any(is_secret_path(part) for word in words for part in re.split(r"[=@:,]", word.text))


def is_naming_program(program: str) -> bool:
    """Return True if the program does not open the paths it names, or is classified by its effect on them."""
    return program in _NAMING_PROGRAMS


def is_secret_path(path: str) -> bool:
    """Return True if the path names a secret file, or is a pattern that may match one."""
    if _SECRET_FILE.search(path) or _SECRET_FOLDER.search(path):
        return True
    if not _PATTERN.search(path):
        return False
    pattern = path.replace(UNKNOWN_TEXT, "*")
    in_folder = re.search(r"\.(?:ssh|gnupg|aws|password-store)/", pattern)
    return bool(in_folder) or any(matches_path_tail(pattern, tail) for tail in _SECRET_TAILS)


def _find_openable_words(call: ProgramCall) -> list[ShellWord]:
    """Return the arguments, except scp's login key and grep's search pattern."""
    if call.name in ("scp", "sftp", "rsync"):
        return list(parse_options(call.arguments, "-i= -e= -o= -F= -P= -J= --rsh= --exclude= --include=").operands)
    if call.name in ("grep", "egrep", "fgrep", "rg", "ag", "sed", "awk"):
        syntax = "-e= -A= -B= -C= -m= -g= --regexp= --glob= --include= --exclude="
        return list(parse_options(call.arguments, syntax).operands[1:])
    return list(call.arguments)
