"""Programs that remove, overwrite, move and guard files."""

import re
from itertools import dropwhile, pairwise, takewhile

from msgspec.structs import replace

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.word import HOLE, Word

_TESTS: tuple[str, ...] = (
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-regex",
    "-iregex",
    "-mtime",
    "-mmin",
    "-ctime",
    "-atime",
    "-newer",
)
_TESTS += ("-size", "-empty", "-user", "-group", "-perm", "-inum", "-maxdepth", "-amin", "-cmin", "-wholename")
_WIDE_MODE = re.compile(
    r"^[0-7]*[2367]$|^[2467][0-7]{3}$|(?:^|,)[uga]*[+=][rwxXt]*s|(?:^|,)(?:[ug]*o[ug]*|a)[+=][rxX]*w"
)


def _remove(call: Call) -> Effect:
    found = options.read(call.arguments, "--interactive")
    is_wide = found.has("-r", "-R", "--recursive", "-d") or any(word.is_pattern for word in found.operands)
    unknown = [word for word in found.operands if not word.is_known]
    classes: tuple[str, ...] = ("destructive_delete" if is_wide or unknown else "delete",)
    classes += ("dynamic",) if unknown else ()
    if not found.operands:
        return NOTHING
    known = tuple(word for word in found.operands if word.is_known)
    return Effect(classes=classes, removes=known if is_wide else (), writes=known)


def _remove_plainly(call: Call) -> Effect:
    words = options.read(call.arguments).operands
    classes = ("delete",) + (("dynamic",) if not all(word.is_known for word in words) else ())
    known = tuple(word for word in words if word.is_known)
    return Effect(classes=classes, writes=known) if words else NOTHING


def _shred(call: Call) -> Effect:
    """What was in the file is gone for good."""
    words = options.read(call.arguments, "-n -s --size --iterations --random-source -r --reference").operands
    return Effect(classes=("destructive_delete",), writes=words) if words else NOTHING


def _move(call: Call) -> Effect:
    found = options.read(call.arguments, "-t -S --target-directory --suffix")
    target = found.value("-t", "--target-directory")
    sources = found.operands if target else found.operands[:-1]
    return Effect(removes=sources, writes=(target,) if target else found.operands[-1:])


def _copy(call: Call) -> Effect:
    """The last operand is written to, the others are read."""
    found = options.read(call.arguments, "-t -S -m -o -g --target-directory --suffix --mode --owner --group")
    target = found.value("-t", "--target-directory")
    sources = found.operands if target else found.operands[:-1]
    return Effect(reads=sources, writes=(target,) if target else found.operands[-1:])


def _write_operands(call: Call) -> Effect:
    return Effect(writes=options.read(call.arguments, "-t -d -r -m --date --reference --mode").operands)


def _dd(call: Call) -> Effect:
    values = [(word.text.partition("=")[0], _after(word)) for word in call.arguments]
    return Effect(
        writes=tuple(word for name, word in values if name == "of"),
        reads=tuple(word for name, word in values if name == "if"),
    )


def _after(word: Word) -> Word:
    return replace(word, text=word.text.partition("=")[2])


def _find(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    operands = dropwhile(lambda word: re.match(r"-[HLPDO]", word.text), call.arguments)
    roots = tuple(takewhile(lambda word: not word.text.startswith(("-", "(", "!")), operands)) or (Word("."),)
    effect = Effect(calls=tuple(_executed(call, roots)), writes=_printed_to(call.arguments))
    if "-delete" in texts:
        is_all = not any(test in texts for test in _TESTS)
        known = tuple(root for root in roots if root.is_known)
        gone = Effect(classes=("destructive_delete",), removes=known if is_all else (), writes=known)
        effect = plus(effect, gone)
    return effect if all(root.is_known for root in roots) or effect == NOTHING else plus(effect, _DYNAMIC)


_DYNAMIC = Effect(classes=("dynamic",))


def _executed(call: Call, roots: tuple[Word, ...]) -> list[Call]:
    """The calls of `-exec`, with what is found in place of `{}`."""
    found: list[Call] = []
    current: list[Word] | None = None
    for word in call.arguments:
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            current = []
        elif current is not None and (word.text == ";" or (word.text == "+" and current)):
            found += [replace(call, words=tuple(_placed(current, root))) for root in roots]
            current = None
        elif current is not None:
            current.append(word)
    return found + [replace(call, words=tuple(_placed(current, root))) for root in roots if current]


def _placed(words: list[Word], root: Word) -> list[Word]:
    """Inside a longer text (`sh -c 'rm {}'`) it is not known."""
    inside = replace(root, text=f"{root.text.rstrip('/')}/*", is_pattern=True)
    return [inside if word.text == "{}" else replace(word, text=word.text.replace("{}", HOLE)) for word in words]


def _printed_to(words: tuple[Word, ...]) -> tuple[Word, ...]:
    pairs = pairwise(words)
    return tuple(file for option, file in pairs if option.text in ("-fprint", "-fprintf", "-fls", "-fprint0"))


def _mode(call: Call) -> Effect:
    """`chmod +x script` is nothing; whole trees, set-user-id and world-writable are."""
    found = options.read([word for word in call.arguments if not re.match(r"^-[rwxst]+$", word.text)], "--reference")
    mode = found.operands[0].text if found.operands else ""
    is_wide = found.has("-R", "--recursive") or bool(_WIDE_MODE.search(mode)) or HOLE in mode
    return Effect(classes=("permissions",) if is_wide else (), writes=found.operands[1:])


def _owner(call: Call) -> Effect:
    words = options.read(call.arguments, "--from --reference -m -x -M -X").operands
    return Effect(classes=("permissions",), writes=words[1:])


def _read_operands(call: Call) -> Effect:
    return Effect(reads=options.read(call.arguments, "-n -c --lines --bytes").operands)


def _search(call: Call) -> Effect:
    """The first operand is a pattern, unless an option gave it."""
    found = options.read(call.arguments, "-e -f -m -A -B -C -g -t --regexp --file --include --exclude --glob --type")
    return Effect(reads=found.operands if found.value("-e", "-f", "--regexp", "--file") else found.operands[1:])


def _search_code(call: Call) -> Effect:
    """`ast-grep run`; with a rule or a rewrite it may do more."""
    found = options.read(call.arguments, "-p --pattern -l --lang -r --rewrite --selector --globs --threads")
    is_change = found.has("-U", "--update-all", "-i", "--interactive")
    folders = found.operands[1:] or (Word("."),)
    return Effect(reads=folders, writes=folders if is_change else ())


def _change_folder(call: Call) -> Effect:
    words = options.read(call.arguments).operands
    return Effect(moves_to=words[0] if words else Word("~"))


LOOKS: dict[str, Look] = {"rm": _remove, "dd": _dd, "find": _find, "mv": _move, "chmod": _mode}
LOOKS |= dict.fromkeys(("shred", "truncate"), _shred)
LOOKS |= dict.fromkeys(("unlink", "rmdir", "trash", "srm"), _remove_plainly)
LOOKS |= dict.fromkeys(("tee", "touch", "sponge", "mkdir", "mkfifo", "rename"), _write_operands)
LOOKS |= dict.fromkeys(("cp", "install", "ln", "rsync"), _copy)
LOOKS |= dict.fromkeys(("chown", "chgrp", "setfacl", "chattr"), _owner)
LOOKS |= dict.fromkeys(
    ("cat", "less", "more", "head", "tail", "tac", "nl", "bat", "xxd", "od", "strings"), _read_operands
)
LOOKS |= dict.fromkeys(("base64", "hexdump", "sort", "cut", "wc", "diff", "md5sum", "sha256sum"), _read_operands)
LOOKS |= dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "zgrep"), _search)
LOOKS["ast-grep"] = _search_code
LOOKS |= dict.fromkeys(("cd", "pushd", "chdir"), _change_folder)
