"""Programs that run another program: what they are told comes first, then the program they run."""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.programs.runner import feed
from termvisor.policy.shell.word import HOLE, Word


class Wrapper(Struct, frozen=True):
    """``valued`` are options with a value, ``skip`` the operands before the program."""

    valued: str = ""
    skip: int = 0
    classes: tuple[str, ...] = ()


_ROOT = ("privilege",)
_SUDO = "-u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --chdir --chroot --close-from --role --type"
WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(f"{_SUDO} --command-timeout --other-user", classes=_ROOT),
    "doas": Wrapper("-u -C", classes=_ROOT),
    "pkexec": Wrapper("--user", classes=_ROOT),
    "run0": Wrapper("-u --user -g --group -D --chdir --unit --property", classes=_ROOT),
    "runuser": Wrapper("-u --user -g -G", classes=_ROOT),
    "setpriv": Wrapper("--reuid --regid --groups", classes=_ROOT),
    "gosu": Wrapper(skip=1, classes=_ROOT),
    "chroot": Wrapper("--userspec --groups", skip=1, classes=_ROOT),
    "nsenter": Wrapper("-t --target -S -G --setuid --setgid", classes=_ROOT),
    "unshare": Wrapper("-R --root -w --wd -S -G", classes=_ROOT),
    "systemd-run": Wrapper("-u --unit -p --property -E --setenv -M --machine", classes=("service_change",)),
    "env": Wrapper("-u --unset -C --chdir"),
    "nice": Wrapper("-n --adjustment"),
    "ionice": Wrapper("-c -n -p -t --class --classdata"),
    "chrt": Wrapper("-T -P -D", skip=1),
    "taskset": Wrapper(skip=1),
    "numactl": Wrapper("-N -m -C -i -p"),
    "time": Wrapper("-f -o --format --output"),
    "timeout": Wrapper("-k -s --kill-after --signal", skip=1),
    "stdbuf": Wrapper("-i -o -e --input --output --error"),
    "strace": Wrapper("-e -o -p -s -u -E -a -I -O -S -P -b -X"),
    "ltrace": Wrapper("-e -o -p -s -u -a -n -l -x"),
    "valgrind": Wrapper(),
    "exec": Wrapper("-a"),
    "flock": Wrapper("-w -E --timeout --conflict-exit-code", skip=1),
    "proxychains": Wrapper("-f"),
    "proxychains4": Wrapper("-f"),
    "faketime": Wrapper("-f", skip=1),
    "rlwrap": Wrapper("-f -H -s -b"),
    "xvfb-run": Wrapper("-n -s -e -f -w"),
    "cpulimit": Wrapper("-l -e -p"),
    "entr": Wrapper(),
    "sshpass": Wrapper("-p -f -d -P"),
    "bwrap": Wrapper("--bind --ro-bind --dev --proc --chdir --setenv"),
    "firejail": Wrapper(),
    "ssh-agent": Wrapper("-a -t -E -P"),
    "dbus-run-session": Wrapper(),
    "npx": Wrapper("-p --package -c --call", classes=("package_change",)),
    "bunx": Wrapper(classes=("package_change",)),
    "uvx": Wrapper("--from --with -p --python", classes=("package_change",)),
}
_PLAIN = "nohup setsid builtin nocorrect noglob unbuffer fakeroot eatmydata caffeinate torsocks busybox toybox chronic"
_PLAIN += " and or not begin -"
WRAPPERS |= {name: Wrapper() for name in _PLAIN.split()}
"""With the words that may stand before a program in zsh and fish."""

_SECOND = {
    "uv": {"run": "-p --python --with --extra --group --project --directory --env-file"},
    "poetry": {"run": ""},
    "pipenv": {"run": ""},
    "pdm": {"run": ""},
    "hatch": {"run": ""},
    "rye": {"run": ""},
    "bundle": {"exec": ""},
    "mise": {"exec": "-C", "x": "-C"},
    "asdf": {"exec": ""},
    "conda": {"run": "-n -p --name --prefix --cwd"},
    "op": {"run": "--env-file --account"},
    "doppler": {"run": "-p -c"},
    "perf": {"stat": "-e -p -r -o", "record": "-e -p -o -F"},
    "direnv": {"exec": ""},
    "aws-vault": {"exec": "-d --duration"},
}
"""Programs that run another one when their first word says so."""
_ONE_MORE = ("direnv", "aws-vault")
_ACCOUNT = "termvisor.accounts.launcher"
"""The module that becomes another program under an account: its words are a folder, the account, `--`, the program."""


def _look(call: Call) -> Effect:
    wrapper = WRAPPERS[call.name]
    return _inner(call, call.arguments, wrapper)


def _inner(call: Call, words: tuple[Word, ...], wrapper: Wrapper) -> Effect:
    found = options.read(words, wrapper.valued, is_prefix=True)
    rest = list(found.rest[wrapper.skip :])
    sets = [word for word in rest if _is_assignment(word)]
    while rest and _is_assignment(rest[0]):
        rest.pop(0)
    names = tuple(word.text.partition("=")[0] for word in sets)
    inner = replace(call, words=tuple(rest), sets=names) if rest or names else None
    return Effect(classes=wrapper.classes, calls=(inner,) if inner else ())


def _is_assignment(word: Word) -> bool:
    return word.text.partition("=")[0].isidentifier() and "=" in word.text


def _command(call: Call) -> Effect:
    """`command -v` only looks a name up."""
    found = options.read(call.arguments, is_prefix=True)
    return NOTHING if found.has("-v", "-V") else _inner(call, call.arguments, Wrapper())


def _env(call: Call) -> Effect:
    """`env -S` splits one text into words, much as a shell does."""
    found = options.read(call.arguments, "-u -C -S --unset --chdir --split-string", is_prefix=True)
    text = found.value("-S", "--split-string")
    if text is None:
        return _look(call)
    return Effect(scripts=(Word(" ".join([text.text, *(word.text for word in found.rest)]), call.start, call.end),))


def _flock(call: Call) -> Effect:
    text = options.read(call.arguments, "-w -E -c --command").value("-c", "--command")
    return Effect(scripts=(text,)) if text else _look(call)


def _sudo(call: Call) -> Effect:
    """`sudo -e` writes a file as root."""
    found = options.read(call.arguments, WRAPPERS["sudo"].valued, is_prefix=True)
    if found.has("-e", "--edit"):
        return Effect(classes=_ROOT, writes=found.rest)
    shell = feed(call) if found.has("-s", "-i", "--shell", "--login") and not found.rest else NOTHING
    return plus(shell, _inner(call, call.arguments, WRAPPERS["sudo"]))


def _second(call: Call) -> Effect:
    found = options.read(call.arguments, "-C -c --project --directory", is_prefix=True).rest
    verb = found[0].text if found else ""
    if verb not in _SECOND[call.name]:
        return NOTHING
    skip = 1 if call.name in _ONE_MORE else 0
    words = found[1 + skip :]
    return _inner(call, words[1:] if words[:1] and words[0].text == "--" else words, Wrapper(_SECOND[call.name][verb]))


def _account(call: Call) -> Effect:
    words = call.arguments[2:]
    return _inner(call, words[1:] if words[:1] and words[0].text == "--" else words, Wrapper())


def is_start(call: Call) -> bool:
    """Python that becomes another program, under an account."""
    module = options.read(call.arguments, "-m -W -X", is_prefix=True).value("-m")
    return call.name == "python" and module is not None and module.text == _ACCOUNT


def _xargs(call: Call) -> Effect:
    """Operands come from its input: they are not known."""
    valued = "-a -d -E -I -J -L -n -P -R -s --arg-file --delimiter --max-args --max-procs --replace --max-lines"
    found = options.read(call.arguments, valued, is_prefix=True)
    mark = found.value("-I", "-J", "--replace")
    if not found.rest:
        return NOTHING
    sign = mark.text if mark else "{}"
    words = [replace(word, text=word.text.replace(sign, HOLE)) for word in found.rest] if sign else list(found.rest)
    return Effect(calls=(replace(call, words=(*words, Word(HOLE, call.start, call.end)), given=None, fed_by=()),))


def _parallel(call: Call) -> Effect:
    """What stands before `:::` is a command line, into which the rest is put."""
    texts = [word.text for word in options.read(call.arguments, "-j -a -I --jobs --joblog", is_prefix=True).rest]
    end = next((at for at, text in enumerate(texts) if text.startswith(":::")), len(texts))
    line = " ".join(texts[:end]).replace("{}", HOLE)
    given = [text for text in texts[end:] if not text.startswith(":::")] if not texts[:end] else []
    scripts = tuple(Word(text, call.start, call.end) for text in ([f"{line} {HOLE}"] if line else given))
    return Effect(scripts=scripts)


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(WRAPPERS, _look) | dict.fromkeys(_SECOND, _second)
LOOKS |= {"command": _command, "env": _env, "flock": _flock, "sudo": _sudo, "xargs": _xargs, "parallel": _parallel}
LOOKS |= {_ACCOUNT: _account}
