"""Programs that reach other machines: which hosts, what they get from there, and what they send away."""

import re

from msgspec.structs import replace

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call, program_name
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.programs.runner import SHELLS, feed
from termvisor.policy.shell.word import HOLE, Word

UNKNOWN_HOST = "?"
_LOCAL = re.compile(r"^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|.*\.localhost)$")
_REMOTE_PATH = re.compile(r"^(?:[^/:@\s]+@)?([\w.-]+):")
_CURL = (
    "-o -d -F -T -H -X -u -A -e -b -c -m -x -w -K -r -C -E --output --data --data-raw --data-binary --data-urlencode"
)
_CURL += " --form --form-string --upload-file --json --header --request --user --user-agent --referer --cookie"
_CURL += " --cookie-jar --max-time --proxy --url --config --write-out --retry --connect-timeout --cacert --cert --key"
_CURL += " --resolve --connect-to --output-dir"
_WGET = "-O -o -a -P -i -t -T -U -w -Q -l -A -R -D -e --output-document --post-file --post-data --body-file --body-data"
_WGET += " --header --user --password --tries --timeout --directory-prefix --execute --input-file"
_SSH = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P"
_SENDS = ("-d", "--data", "--data-binary", "--data-urlencode", "-F", "--form", "--json", "--data-ascii")
_FILES = ("-T", "--upload-file", "--post-file", "--body-file")
_AWAY = Effect(classes=("network_exfiltration",))


def host_of(text: str) -> str:
    """The host of an address; `?` where it is not known, empty for this machine."""
    if not text or HOLE in re.split(r"[/?#]", text.partition("://")[2] or text)[0]:
        return UNKNOWN_HOST
    rest = text.partition("://")[2] or text
    place = re.split(r"[/?#\\]", rest)[0].rpartition("@")[2]
    host = place.partition("]")[0] + "]" if place.startswith("[") else place.partition(":")[0]
    return "" if _LOCAL.match(host.casefold()) else host.casefold()


def _hosts(texts: list[str]) -> tuple[str, ...]:
    return tuple(host for host in map(host_of, texts) if host)


def _curl(call: Call) -> Effect:
    found = options.read(call.arguments, _CURL if call.name == "curl" else _WGET)
    words = (*found.operands, *found.every("--url"))
    hosts = _hosts([word.text for word in words])
    target = found.value("-o", "--output") if call.name == "curl" else found.value("-O", "--output-document")
    names = [target.text] if target else [word.text.rstrip("/") for word in words]
    fetches = tuple(name.rpartition("/")[2] for name in names) if call.name == "wget" or found.has("-O", "-o") else ()
    config = Effect(classes=("dynamic",)) if found.has("-K", "--config") else NOTHING
    sent = _AWAY if hosts and _sends(call, found, words) else NOTHING
    return plus(Effect(hosts=hosts, writes=(target,) if target else (), fetches=fetches), config, sent)


def _sends(call: Call, found: options.Options, words: tuple[Word, ...]) -> bool:
    """Files, input, or the output of another program; a text that stands there is no file."""
    values = found.every(*_SENDS)
    has_file = any("@" in word.text or not word.is_known for word in values) or bool(found.every(*_FILES))
    in_address = any(not word.is_known for word in (*words, *found.every("-H", "--header"))) and call.substituted
    return has_file or bool(in_address)


def _ssh(call: Call) -> Effect:
    """What is behind the host is a command line for the other machine."""
    found = options.read(call.arguments, _SSH, is_prefix=True)
    words = options.read(found.rest[1:], _SSH, is_prefix=True).rest if found.rest else ()
    text = " ".join(word.text for word in words)
    is_shell = bool(words) and program_name(words[0]) in SHELLS
    commands = [word.text for word in found.every("-o") if re.match(r"(?i)(proxy|local)command", word.text)]
    scripts = [text] if text and not is_shell else []
    scripts += [one.replace("=", " ", 1).partition(" ")[2] for one in commands]
    run = Effect(
        hosts=_hosts([word.text for word in found.rest[:1]]),
        scripts=tuple(Word(one, call.start, call.end) for one in scripts),
        calls=(replace(call, words=words, redirects=()),) if is_shell else (),
    )
    if not found.rest or is_shell:
        return run
    if not text and call.reads_stdin:
        return plus(run, feed(call))
    return plus(run, _AWAY if call.reads_stdin and run.hosts else NOTHING)


def _copy(call: Call) -> Effect:
    """scp, rsync: a remote last operand is sent to, the others are fetched from."""
    found = options.read(call.arguments, f"{_SSH} --exclude --include --rsh -T -M --files-from --bwlimit --backup-dir")
    hosts = [match[1] for word in found.operands if (match := _REMOTE_PATH.match(word.text))]
    hosts += [host_of(word.text) for word in found.operands if "://" in word.text]
    target = found.operands[-1].text if found.operands else ""
    sends = bool(_REMOTE_PATH.match(target)) or "://" in target
    local = tuple(word for word in found.operands if not _REMOTE_PATH.match(word.text))
    erased = found.operands[-1:] if found.has("--delete", "--delete-after", "--delete-before") else ()
    classes = ("destructive_delete",) if erased or found.has("--remove-source-files") else ()
    effect = Effect(hosts=_hosts(hosts), classes=classes, writes=local[-1:] if not sends else ())
    return plus(effect, _AWAY if sends and effect.hosts else NOTHING)


def _raw(call: Call) -> Effect:
    """nc, socat, telnet, ftp: bytes to another machine; `-e` hands it a shell."""
    found = options.read(call.arguments, "-p -s -w -X -x -i -q -I -O -T -m -g -G -e -c --exec --sh-exec")
    runs = found.has("-e", "-c", "--exec", "--sh-exec") or any("exec:" in w.text.casefold() for w in call.arguments)
    hosts = _hosts([word.text for word in found.operands[:1]] or [UNKNOWN_HOST])
    if call.name == "socat":
        hosts = (UNKNOWN_HOST,)
    effect = Effect(hosts=hosts, classes=("remote_code",) if runs else ())
    return plus(effect, _AWAY if call.reads_stdin and hosts else NOTHING)


def _names(call: Call) -> Effect:
    """A name that is looked up can carry what another program printed."""
    return _AWAY if call.substituted and not all(word.is_known for word in call.arguments) else NOTHING


def _mail(call: Call) -> Effect:
    return plus(_AWAY, Effect(hosts=(UNKNOWN_HOST,))) if call.reads_stdin or call.arguments else NOTHING


def _store(call: Call) -> Effect:
    """Object stores: the last operand of a copy is where it goes."""
    words = [word.text for word in options.read(call.arguments, "--profile --region --exclude --include").operands]
    verbs = ("cp", "mv", "sync", "rsync", "copy", "copyto", "move", "rcp", "put", "upload")
    is_copy = any(verb in words[:2] for verb in verbs)
    sends = is_copy and bool(words) and (":" in words[-1] or call.name in ("transfer", "croc"))
    return plus(_AWAY, Effect(hosts=(UNKNOWN_HOST,))) if sends else NOTHING


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(("ssh", "mosh", "autossh", "ssh-copy-id"), _ssh)
LOOKS |= dict.fromkeys(("curl", "wget", "http", "https", "xh", "aria2c", "fetch"), _curl)
LOOKS |= dict.fromkeys(("scp", "rsync", "sftp"), _copy) | dict.fromkeys(("nc", "socat", "telnet", "ftp", "lftp"), _raw)
LOOKS |= dict.fromkeys(("dig", "nslookup", "host", "ping", "drill"), _names)
LOOKS |= dict.fromkeys(("mail", "mailx", "sendmail", "mutt", "msmtp"), _mail)
LOOKS |= dict.fromkeys(("aws", "gsutil", "rclone", "s3cmd", "mc", "azcopy"), _store)
