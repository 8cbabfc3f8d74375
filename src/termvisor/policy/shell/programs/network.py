"""Analyze programs that reach other machines: hosts, downloads and uploads."""

import re

from msgspec.structs import replace

from termvisor.policy.shell.call import (
    NO_EFFECT,
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    get_program_name,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.programs.interpreter import SHELLS, analyze_input
from termvisor.policy.shell.programs.program_table import build_analyzers
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

UNKNOWN_HOST = "?"
_LOCAL_HOST = re.compile(r"^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0|.*\.localhost)$")
_REMOTE_PATH = re.compile(r"^(?:[^/:@\s]+@)?([\w.-]+):")
_CURL_OPTIONS = (
    "-o -d -F -T -H -X -u -A -e -b -c -m -x -w -K -r -C -E --output --data --data-raw --data-binary --data-urlencode"
    " --form --form-string --upload-file --json --header --request --user --user-agent --referer --cookie"
    " --cookie-jar --max-time --proxy --url --config --write-out --retry --connect-timeout --cacert --cert --key"
    " --resolve --connect-to --output-dir"
)
_WGET_OPTIONS = (
    "-O -o -a -P -i -t -T -U -w -Q -l -A -R -D -e --output-document --post-file --post-data --body-file --body-data"
    " --header --user --password --tries --timeout --directory-prefix --execute --input-file"
)
_SSH_OPTIONS = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P"
_DATA_OPTIONS = ("-d", "--data", "--data-binary", "--data-urlencode", "-F", "--form", "--json", "--data-ascii")
_FILE_OPTIONS = ("-T", "--upload-file", "--post-file", "--body-file")
_UPLOAD = CommandEffect(classes=("network_exfiltration",), hosts=(UNKNOWN_HOST,))


def parse_host(text: str) -> str:
    """Return the host of an address; `?` if unknown, empty for this machine."""
    if not text or UNKNOWN_TEXT in re.split(r"[/?#]", text.partition("://")[2] or text)[0]:
        return UNKNOWN_HOST
    rest = text.partition("://")[2] or text
    place = re.split(r"[/?#\\]", rest)[0].rpartition("@")[2]
    host = place.partition("]")[0] + "]" if place.startswith("[") else place.partition(":")[0]
    return "" if _LOCAL_HOST.match(host.casefold()) else host.casefold()


def _parse_hosts(texts: list[str]) -> tuple[str, ...]:
    return tuple(host for host in map(parse_host, texts) if host)


def _analyze_curl(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, _CURL_OPTIONS if call.name == "curl" else _WGET_OPTIONS)
    words = (*options.operands, *options.find_values("--url"))
    hosts = _parse_hosts([word.text for word in words])
    target = (
        options.find_value("-o", "--output") if call.name == "curl" else options.find_value("-O", "--output-document")
    )
    names = [target.text] if target else [word.text.rstrip("/") for word in words]
    fetches = tuple(name.rpartition("/")[2] for name in names) if call.name == "wget" or options.has("-O", "-o") else ()
    return merge_effects(
        CommandEffect(hosts=hosts, writes=(target,) if target else (), fetches=fetches),
        classify("dynamic", when=options.has("-K", "--config")),
        classify("network_exfiltration", when=hosts and _has_sent_data(call, options, words)),
    )


def _has_sent_data(call: ProgramCall, options: ParsedOptions, words: tuple[ShellWord, ...]) -> bool:
    """Return True if the call sends files, its input or another program's output. Literal text does not count."""
    values = options.find_values(*_DATA_OPTIONS)
    has_file = any("@" in word.text or not word.is_known for word in values) or options.find_values(*_FILE_OPTIONS)
    address = (*words, *options.find_values("-H", "--header"))
    return bool(has_file or (call.substituted and not all(word.is_known for word in address)))


def _analyze_ssh(call: ProgramCall) -> CommandEffect:
    """Analyze ssh. The words after the host are a command line for the remote machine."""
    options = parse_options(call.arguments, _SSH_OPTIONS, stops_at_operand=True)
    words = parse_options(options.rest[1:], _SSH_OPTIONS, stops_at_operand=True).rest if options.rest else ()
    text = " ".join(word.text for word in words)
    is_shell = bool(words) and get_program_name(words[0]) in SHELLS
    commands = [word.text for word in options.find_values("-o") if re.match(r"(?i)(proxy|local)command", word.text)]
    scripts = [text] if text and not is_shell else []
    scripts += [command.replace("=", " ", 1).partition(" ")[2] for command in commands]
    run = CommandEffect(
        hosts=_parse_hosts([word.text for word in options.rest[:1]]),
        scripts=tuple(ShellWord(script, call.start, call.end) for script in scripts),
        calls=(replace(call, words=words, redirects=()),) if is_shell else (),
    )
    if not options.rest or is_shell:
        return run
    if not text and call.reads_stdin:
        return merge_effects(run, analyze_input(call))
    return merge_effects(run, classify("network_exfiltration", when=call.reads_stdin and run.hosts))


def _analyze_remote_copy(call: ProgramCall) -> CommandEffect:
    """Analyze scp and rsync: a remote last operand receives files, other remote operands are downloaded from."""
    options = parse_options(
        call.arguments, f"{_SSH_OPTIONS} --exclude --include --rsh -T -M --files-from --bwlimit --backup-dir"
    )
    hosts = [match[1] for word in options.operands if (match := _REMOTE_PATH.match(word.text))]
    hosts += [parse_host(word.text) for word in options.operands if "://" in word.text]
    target = options.operands[-1].text if options.operands else ""
    sends = bool(_REMOTE_PATH.match(target)) or "://" in target
    local = tuple(word for word in options.operands if not _REMOTE_PATH.match(word.text))
    erased = options.operands[-1:] if options.has("--delete", "--delete-after", "--delete-before") else ()
    classes = ("destructive_delete",) if erased or options.has("--remove-source-files") else ()
    effect = CommandEffect(hosts=_parse_hosts(hosts), classes=classes, writes=local[-1:] if not sends else ())
    return merge_effects(effect, classify("network_exfiltration", when=sends and effect.hosts))


def _analyze_raw_connection(call: ProgramCall) -> CommandEffect:
    """Analyze nc, socat, telnet and ftp, which send bytes to another machine. `-e` gives it a shell."""
    options = parse_options(call.arguments, "-p -s -w -X -x -i -q -I -O -T -m -g -G -e -c --exec --sh-exec")
    runs = options.has("-e", "-c", "--exec", "--sh-exec") or any("exec:" in w.text.casefold() for w in call.arguments)
    hosts = _parse_hosts([word.text for word in options.operands[:1]] or [UNKNOWN_HOST])
    # socat addresses have their own syntax, with the host anywhere in them.
    if call.name == "socat":
        hosts = (UNKNOWN_HOST,)
    effect = CommandEffect(hosts=hosts, classes=("remote_code",) if runs else ())
    return merge_effects(effect, classify("network_exfiltration", when=call.reads_stdin and hosts))


def _analyze_name_lookup(call: ProgramCall) -> CommandEffect:
    """Analyze DNS lookups. The name can carry another program's output."""
    is_computed = call.substituted and not all(word.is_known for word in call.arguments)
    return classify("network_exfiltration", when=is_computed)


def _analyze_object_store(call: ProgramCall) -> CommandEffect:
    """Analyze object store clients. The last operand of a copy is its target."""
    words = [word.text for word in parse_options(call.arguments, "--profile --region --exclude --include").operands]
    verbs = ("cp", "mv", "sync", "rsync", "copy", "copyto", "move", "rcp", "put", "upload")
    is_copy = any(verb in words[:2] for verb in verbs)
    sends = is_copy and bool(words) and (":" in words[-1] or call.name in ("transfer", "croc"))
    return _UPLOAD if sends else NO_EFFECT


ANALYZERS = build_analyzers(
    {
        "ssh mosh autossh ssh-copy-id": _analyze_ssh,
        "curl wget http https xh aria2c fetch": _analyze_curl,
        "scp rsync sftp": _analyze_remote_copy,
        "nc socat telnet ftp lftp": _analyze_raw_connection,
        "dig nslookup host ping drill": _analyze_name_lookup,
        "mail mailx sendmail mutt msmtp": lambda call: _UPLOAD if call.reads_stdin or call.arguments else NO_EFFECT,
        "aws gsutil rclone s3cmd mc azcopy": _analyze_object_store,
    }
)
