"""Programs that run a text: shells, other languages, other machines, and what a pipe or a here-document hands them."""

import re

from msgspec.structs import replace

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.word import HOLE, Word

DOWNLOADERS = ("curl", "wget", "fetch", "aria2c", "lwp-request", "http", "https", "xh", "lynx", "ftp")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "elvish", "nu")
LANGUAGES = {
    "python": "-c",
    "pypy": "-c",
    "ipython": "-c",
    "perl": "-e -E",
    "ruby": "-e",
    "node": "-e -p --eval --print",
    "deno": "eval",
    "bun": "-e --eval",
    "php": "-r",
    "lua": "-e",
    "rscript": "-e",
    "julia": "-e -E --eval",
    "osascript": "-e",
    "tclsh": "",
    "expect": "-c",
    "ghci": "-e",
    "groovy": "-e",
    "pwsh": "-c -command -Command -EncodedCommand",
    "powershell": "-c -command -Command -EncodedCommand",
    "vim": "-c --cmd",
    "nvim": "-c --cmd",
    "vi": "-c --cmd",
    "ex": "-c",
    "emacs": "--eval -f",
    "gdb": "-ex -x",
    "ed": "",
}
_SED_RUNS = re.compile(r"(?:^|[;{}\n\d$/])\s*e(?:\s|$)|(?:^|[;{}\s\d/$])s([^\w\s]).*\1.*\1[gpimIM\d]*e", re.DOTALL)
_AWK_RUNS = re.compile(r"\bsystem\s*\(|\|\s*[\"&]|\|\s*getline|\"\s*\|")
_TEXT = "-c --command"


def feed(call: Call, kind: str = "dynamic") -> Effect:
    """What a program that runs its input would run: texts that stand here are scripts, all else is not known."""
    if any(is_download(one) for one in (*call.fed_by, *call.substituted)):
        return Effect(classes=("remote_code",))
    if call.given:
        return Effect(scripts=(call.given,))
    if any(redirect.way == "in" for redirect in call.redirects):
        is_known = all(one.word.is_known for one in call.redirects)
        return NOTHING if is_known else Effect(classes=(kind,))
    if not call.fed_by:
        return NOTHING
    printed = [_printed(one) for one in call.fed_by if one.words]
    scripts = tuple(text for text in printed if text)
    return Effect(scripts=scripts, classes=() if len(scripts) == len(printed) else (kind,))


def is_download(call: Call) -> bool:
    return any(word.text.rpartition("/")[2] in DOWNLOADERS for word in call.words)


def _printed(call: Call) -> Word | None:
    """The text that a call prints, where its own words hold it."""
    if call.name in ("echo", "printf"):
        texts = [word.text for word in call.arguments if word.text not in ("-e", "-n", "-E", "--")]
        text = " ".join(texts).replace("\\n", "\n").replace("%s", " ").replace("\\t", " ")
        return Word(HOLE if "\\" in text else text, call.start, call.end)
    return call.given if call.name == "cat" and not call.arguments else None


def _shell(call: Call) -> Effect:
    """Options may also begin with a `+`."""
    given = [word for word in call.arguments if not word.text.startswith("+")]
    found = options.read(given, "-o -O --rcfile --init-file -C --init-command", is_prefix=True)
    words = found.rest
    remote = Effect(classes=("remote_code",)) if any(map(is_download, call.substituted)) else NOTHING
    if found.has("-c", "--command"):
        return plus(remote, Effect(scripts=found.every("--command") or words[:1]))
    if words and words[0].text not in ("-", "/dev/stdin") and not found.has("-s"):
        unknown = Effect(classes=("dynamic",)) if not words[0].is_known or words[0].is_pattern else NOTHING
        return plus(remote, unknown if not remote.classes else NOTHING)
    return plus(remote, feed(call))


def _language(call: Call) -> Effect:
    name = call.name
    flags = LANGUAGES[name].split()
    found = options.read(call.arguments, "-m -W -X -I -O", is_prefix=True)
    if any(map(is_download, call.substituted)):
        return Effect(classes=("remote_code",))
    if module := found.value("-m"):
        return Effect(calls=(replace(call, words=(module, *found.rest)),)) if "python" in name else NOTHING
    words = found.rest
    before = call.arguments if "--cmd" in flags else call.arguments[: len(call.arguments) - len(words)] + words[:1]
    if any(_is_code(word.text, flags) for word in before):
        return Effect(classes=("inline_code",))
    if words and words[0].text not in ("-", "/dev/stdin"):
        return NOTHING if words[0].is_known else Effect(classes=("dynamic",))
    fed = feed(call, "inline_code")
    return Effect(classes=("inline_code",)) if fed.scripts else fed


def _is_code(text: str, flags: list[str]) -> bool:
    """`-c`, `-c'…'`, `-pe`, `--eval=…`: letters may stand together; a `+` is vim's."""
    if text in flags or text.partition("=")[0] in flags:
        return True
    letters = "".join(flag[1] for flag in flags if len(flag) == 2)
    cluster = re.match(r"^-[a-zA-Z0-9.]*", text) if not text.startswith("--") else None
    is_vim = text.startswith("+") and "--cmd" in flags and not text[1:].isdigit() and text != "+"
    return is_vim or bool(cluster and letters and re.search(f"[{letters}]", cluster[0]))


def _eval(call: Call) -> Effect:
    remote = Effect(classes=("remote_code",)) if any(map(is_download, call.substituted)) else NOTHING
    text = " ".join(word.text for word in call.arguments)
    return plus(remote, Effect(scripts=(Word(text, call.start, call.end),)))


def _source(call: Call) -> Effect:
    file = call.arguments[:1]
    if file and file[0].is_known and file[0].text != "/dev/stdin":
        return NOTHING
    return feed(call) if any(map(is_download, call.substituted)) else plus(feed(call), Effect(classes=("dynamic",)))


def _alias(call: Call) -> Effect:
    texts = [word.text.partition("=")[2] for word in call.arguments if "=" in word.text]
    return Effect(scripts=tuple(Word(text, call.start, call.end) for text in texts if text))


def _trap(call: Call) -> Effect:
    found = options.read(call.arguments, is_prefix=True)
    return Effect(scripts=found.rest[:1]) if len(found.rest) > 1 else NOTHING


def _texts(call: Call) -> Effect:
    """Programs whose `-c` is a command line."""
    classes = ("privilege",) if call.name in ("su", "runuser") else ()
    found = options.read(call.arguments, f"{_TEXT} -s -g --shell --run --session-command")
    texts = found.every("-c", "--command", "--run", "--session-command")
    return plus(Effect(classes=classes, scripts=texts), feed(call) if classes and not texts else NOTHING)


def _joined(call: Call) -> Effect:
    """`watch`, `hyperfine`: operands are a command line."""
    found = options.read(call.arguments, "-n -d -w -r -p -s --interval --warmup --runs --prepare", is_prefix=True)
    text = " ".join(word.text for word in found.rest)
    return Effect(scripts=(Word(text, call.start, call.end),) if text else ())


def _awk(call: Call) -> Effect:
    return Effect(classes=("inline_code",)) if any(_AWK_RUNS.search(w.text) for w in call.arguments) else NOTHING


def _sed(call: Call) -> Effect:
    found = options.read(call.arguments, "-e -f -l -s --expression --file")
    scripts = found.every("-e", "--expression")
    files = found.operands if scripts or found.value("-f", "--file") else found.operands[1:]
    texts = scripts or found.operands[:1]
    classes = ("inline_code",) if any(_SED_RUNS.search(word.text) for word in texts) else ()
    return Effect(classes=classes, writes=files if found.has("-i", "-I", "--in-place") else (), reads=files)


def _arithmetic(call: Call) -> Effect:
    """`let 'a[$(b)]=1'` runs b although it stands in quotes."""
    runs = any("$(" in word.text or "`" in word.text for word in call.arguments)
    return Effect(classes=("dynamic",)) if runs else NOTHING


def _archive(call: Call) -> Effect:
    """tar and rsync run a program that an option names."""
    signs = ("--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsync-path", "-e", "--rsh")
    named = [w.text for w in call.arguments if w.text.partition("=")[0] in signs]
    is_plain = call.name == "rsync" and all(text in ("-e", "--rsh=ssh") for text in named)
    return Effect(classes=("dynamic",)) if named and not is_plain else NOTHING


LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(SHELLS, _shell) | dict.fromkeys(LANGUAGES, _language)
LOOKS |= dict.fromkeys(("su", "script", "runuser", "nix-shell", "nix"), _texts)
LOOKS |= dict.fromkeys(("watch", "hyperfine"), _joined) | dict.fromkeys(("source", "."), _source)
LOOKS |= dict.fromkeys(("let", "test", "unset", "read", "declare", "typeset", "local"), _arithmetic)
LOOKS |= {"eval": _eval, "alias": _alias, "trap": _trap, "awk": _awk, "mawk": _awk, "sed": _sed}
LOOKS |= {"tar": _archive, "rsync": _archive}
