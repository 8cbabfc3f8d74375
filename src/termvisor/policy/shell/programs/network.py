"""Programs that reach other machines: hosts, downloads and uploads."""

import re

from msgspec.structs import replace

from termvisor.policy.shell.call import (
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    get_program_name,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.programs.interpreter import SHELLS, analyze_input
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

UNKNOWN_HOST = "?"
# Options of ssh that may also stand after the host.
SSH_OPTIONS = "-b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -p= -Q= -R= -S= -W= -w= -B= -P="
_LOCAL_HOST = re.compile(r"^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|.*\.localhost)$")
_REMOTE_PATH = re.compile(r"^(?:[^/:@\s]+@)?([\w.-]+):")
_LOGIN_PATH = re.compile(r"[^/:]*@([^/:]+):(?!//)")
_HOST_PATH = re.compile(r"([\w.-]+):(?!//|:)")
_DATA_OPTIONS = ("-d", "--data", "--data-binary", "--data-urlencode", "-F", "--form", "--json", "--data-ascii")
_FILE_OPTIONS = ("-T", "--upload-file", "--post-file", "--body-file")


def parse_host(text: str) -> str:
    """Return the host of an address; `?` if unknown, empty for this machine."""
    if not text or UNKNOWN_TEXT in re.split(r"[/?#]", text.partition("://")[2] or text)[0]:
        return UNKNOWN_HOST
    rest = text.partition("://")[2] or text
    place = re.split(r"[/?#\\]", rest)[0].rpartition("@")[2]
    host = place.partition("]")[0] + "]" if place.startswith("[") else place.partition(":")[0]
    return "" if _LOCAL_HOST.match(host.casefold()) else host.casefold()


def find_hosts(words: tuple[ShellWord, ...], use: str) -> tuple[str, ...]:
    """Return the hosts that operands name, by the field ``hosts`` of the table."""
    texts = [word.text for word in words]
    if use == "addresses":
        logins = [login[1] for login in map(_LOGIN_PATH.match, texts) if login]
        # Only the first operand names a repository; a later `a:b` pairs two branches.
        logins += [host[1] for host in map(_HOST_PATH.match, texts[:1]) if host]
        return _parse_hosts([*(text for text in texts if "://" in text), *logins])
    return _parse_hosts({"first": texts[:1], "all": texts, "unknown": [UNKNOWN_TEXT]}.get(use, []))


def _parse_hosts(texts: list[str]) -> tuple[str, ...]:
    return tuple(host for host in map(parse_host, texts) if host)


def analyze_curl(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    is_curl = call.name == "curl"
    words = (*options.operands, *options.find_values("--url"))
    hosts = _parse_hosts([word.text for word in words])
    output = ("-o", "--output", "-c", "--cookie-jar") if is_curl else ("-O", "--output-document", "-o", "-a")
    targets = options.find_values(*output, "--output-dir", "-P", "--directory-prefix")
    names = [target.text for target in targets] or [word.text.rstrip("/") for word in words]
    fetches = tuple(name.rpartition("/")[2] for name in names) if call.name == "wget" or options.has("-O", "-o") else ()
    is_open = options.has("-K", "--config", "-i", "--input-file") and (is_curl is options.has("-K", "--config"))
    return merge_effects(
        CommandEffect(hosts=hosts, writes=targets, fetches=fetches),
        classify("dynamic", when=is_open),
        classify("unknown_effect", when=any(re.match(r"(?i)(?:file|dict|gopher|smb)s?:", word.text) for word in words)),
        classify("network_exfiltration", when=hosts and _has_sent_data(call, options, targets)),
    )


def _has_sent_data(call: ProgramCall, options: ParsedOptions, targets: tuple[ShellWord, ...]) -> bool:
    """Return True if the call sends files, its input or another program's output. Literal text does not count.

    ``targets`` are files that the call writes: their names are not sent.
    """
    values = options.find_values(*_DATA_OPTIONS)
    has_file = (
        any("@" in word.text or not word.is_known for word in values)
        or any("=<" in word.text for word in options.find_values("-F", "--form"))
        or any(word.text.startswith("@") for word in options.find_values("-H", "--header"))
        or bool(options.find_values(*_FILE_OPTIONS))
    )
    is_computed = any(not word.is_known for word in call.arguments if word not in targets)
    return has_file or (bool(call.substituted) and is_computed)


def analyze_ssh(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze ssh. The words after the host are a command line for the remote machine."""
    later = parse_options(options.rest[1:], SSH_OPTIONS, stops_at_operand=True)
    words = later.rest
    text = " ".join(word.text for word in words)
    is_shell = bool(words) and get_program_name(words[0]) in SHELLS
    settings = [
        re.split(r"[=\s]+", word.text.strip(), maxsplit=1)
        for each in (options, later)
        for word in each.find_values("-o")
    ]
    commands = [setting[1] for setting in settings if setting[0].casefold().endswith("command") and setting[1:]]
    scripts = [text] if text and not is_shell else []
    run = CommandEffect(
        hosts=_parse_hosts([word.text for word in options.rest[:1]]),
        scripts=tuple(ShellWord(script, call.start, call.end) for script in (*scripts, *commands)),
        calls=(replace(call, words=words, redirects=()),) if is_shell else (),
    )
    if not options.rest or is_shell:
        return run
    if not text and call.reads_stdin:
        return merge_effects(run, analyze_input(call, options))
    return merge_effects(run, classify("network_exfiltration", when=call.reads_stdin and run.hosts))


def analyze_remote_copy(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze scp and rsync: a remote last operand receives files, other remote operands are downloaded from."""
    is_rsync = call.name == "rsync"
    hosts = [match[1] for word in options.operands if (match := _REMOTE_PATH.match(word.text))]
    hosts += [parse_host(word.text) for word in options.operands if "://" in word.text or call.name == "sftp"]
    target = options.operands[-1].text if options.operands else ""
    sends = bool(_REMOTE_PATH.match(target)) or "://" in target
    local = tuple(word for word in options.operands if not _REMOTE_PATH.match(word.text))
    if is_rsync and options.is_dry_run("-n --dry-run") and not options.unknown:
        return CommandEffect(hosts=_parse_hosts(hosts))
    deletes = options.has("--delete", "--remove-source-files") or any(f.startswith("--del") for f in options.flags)
    shells = [word.text for word in options.find_values("-e", "--rsh") if is_rsync]
    settings = [word.text for word in options.find_values("-o", "-S", "-D") if not is_rsync]
    is_code = any(not re.fullmatch(r"ssh(?: -[pil] \S+)*", text) for text in shells) or any(
        "ommand" in text for text in settings
    )
    effect = CommandEffect(
        hosts=_parse_hosts(hosts),
        classes=("destructive_delete",) if deletes else (),
        writes=local[-1:] if not sends else (),
        reads=local if sends else local[:-1],
    )
    return merge_effects(
        effect,
        classify(
            "dynamic", when=is_code or options.has("--rsync-path") or (not is_rsync and options.has("-S", "-D", "-F"))
        ),
        classify("network_exfiltration", when=sends and effect.hosts),
    )
