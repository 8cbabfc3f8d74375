"""Analyze programs that read, write, move and remove files or change their permissions."""

import re
from itertools import dropwhile, pairwise, takewhile

from msgspec.structs import replace

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, classify, merge_effects, parse_options
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

_FIND_TEST_NAMES = (
    "-name -iname -path -ipath -regex -iregex -mtime -mmin -ctime -atime -newer -size -empty -user -group -perm"
    " -inum -maxdepth -amin -cmin -wholename"
)
# `find` tests that limit what `-delete` removes.
_FIND_TESTS = frozenset(_FIND_TEST_NAMES.split())
# Words of all calls that one `find` makes. Each searched path is a call of each program.
_MAX_EXECUTED_WORDS = 20_000
_READERS = "cat less more head tail tac nl bat xxd od strings base64 hexdump sort cut wc diff md5sum sha256sum"
_WIDE_MODE = re.compile(
    r"^[0-7]*[2367]$|^[2467][0-7]{3}$|(?:^|,)[uga]*[+=][rwxXt]*s|(?:^|,)(?:[ug]*o[ug]*|a)[+=][rxX]*w"
)


def _analyze_remove(call: ProgramCall) -> CommandEffect:
    options = parse_options(call.arguments, "--interactive")
    is_wide = options.has("-r", "-R", "--recursive", "-d") or any(word.is_pattern for word in options.operands)
    unknown = [word for word in options.operands if not word.is_known]
    classes: tuple[str, ...] = ("destructive_delete" if is_wide or unknown else "delete",)
    classes += ("dynamic",) if unknown else ()
    if not options.operands:
        return NO_EFFECT
    known = tuple(word for word in options.operands if word.is_known)
    return CommandEffect(classes=classes, removes=known if is_wide else (), writes=known)


def _analyze_unlink(call: ProgramCall) -> CommandEffect:
    words = parse_options(call.arguments).operands
    classes = ("delete",) + (("dynamic",) if not all(word.is_known for word in words) else ())
    known = tuple(word for word in words if word.is_known)
    return CommandEffect(classes=classes, writes=known) if words else NO_EFFECT


def _analyze_dd(call: ProgramCall) -> CommandEffect:
    values = [
        (name, replace(word, text=value)) for word in call.arguments for name, _, value in [word.text.partition("=")]
    ]
    return CommandEffect(
        writes=tuple(word for name, word in values if name == "of"),
        reads=tuple(word for name, word in values if name == "if"),
    )


def _analyze_find(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    operands = dropwhile(lambda word: re.match(r"-[HLPDO]", word.text), call.arguments)
    roots = tuple(takewhile(lambda word: not word.text.startswith(("-", "(", "!")), operands)) or (ShellWord("."),)
    effect = CommandEffect(calls=tuple(_find_executed_calls(call, roots)), writes=_find_print_files(call.arguments))
    if "-delete" in texts:
        removes_all = _FIND_TESTS.isdisjoint(texts)
        known = tuple(root for root in roots if root.is_known)
        removal = CommandEffect(classes=("destructive_delete",), removes=known if removes_all else (), writes=known)
        effect = merge_effects(effect, removal)
    if effect == NO_EFFECT or all(root.is_known for root in roots):
        return effect
    return merge_effects(effect, classify("dynamic"))


def _find_executed_calls(call: ProgramCall, roots: tuple[ShellWord, ...]) -> list[ProgramCall]:
    """Return the calls made by `-exec`, with the searched paths in place of `{}`.

    Many programs for many paths are an unknown call: each path is a call of each program.
    """
    commands: list[list[ShellWord]] = []
    is_open = False
    for word in call.arguments:
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            commands.append([])
            is_open = True
        elif is_open and (word.text == ";" or (word.text == "+" and commands[-1])):
            is_open = False
        elif is_open:
            commands[-1].append(word)
    if len(roots) * sum(map(len, commands)) > _MAX_EXECUTED_WORDS:
        return [replace(call, words=(ShellWord(UNKNOWN_TEXT, call.start, call.end),))]
    return [
        replace(call, words=tuple(_substitute_found_path(words, root))) for words in commands for root in roots if words
    ]


def _substitute_found_path(words: list[ShellWord], root: ShellWord) -> list[ShellWord]:
    """Replace `{}` with everything below the root; within a longer text (`sh -c 'rm {}'`) it is unknown."""
    inside = replace(root, text=f"{root.text.rstrip('/')}/*", is_pattern=True)
    return [
        inside if word.text == "{}" else replace(word, text=word.text.replace("{}", UNKNOWN_TEXT)) for word in words
    ]


def _find_print_files(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    pairs = pairwise(words)
    return tuple(file for option, file in pairs if option.text in ("-fprint", "-fprintf", "-fls", "-fprint0"))


def _analyze_mode(call: ProgramCall) -> CommandEffect:
    """Analyze chmod. Recursive, set-user-id and world-writable changes count; `chmod +x script` does not."""
    options = parse_options([word for word in call.arguments if not re.match(r"^-[rwxst]+$", word.text)], "--reference")
    mode = options.operands[0].text if options.operands else ""
    is_wide = options.has("-R", "--recursive") or bool(_WIDE_MODE.search(mode)) or UNKNOWN_TEXT in mode
    return CommandEffect(classes=("permissions",) if is_wide else (), writes=options.operands[1:])


def _analyze_search(call: ProgramCall) -> CommandEffect:
    """Analyze grep. The first operand is the pattern, unless an option holds it."""
    options = parse_options(call.arguments, "-e -f -m -A -B -C -g -t --regexp --file --include --exclude --glob --type")
    return CommandEffect(
        reads=options.operands if options.find_value("-e", "-f", "--regexp", "--file") else options.operands[1:]
    )


def _analyze_code_search(call: ProgramCall) -> CommandEffect:
    """Analyze `ast-grep run`, which writes files only with an update option."""
    options = parse_options(call.arguments, "-p --pattern -l --lang -r --rewrite --selector --globs --threads")
    is_change = options.has("-U", "--update-all", "-i", "--interactive")
    folders = options.operands[1:] or (ShellWord("."),)
    return CommandEffect(reads=folders, writes=folders if is_change else ())


def _analyze_change_folder(call: ProgramCall) -> CommandEffect:
    words = parse_options(call.arguments).operands
    return CommandEffect(moves_to=words[:1] or (ShellWord("~"),))


ANALYZERS = build_analyzers(
    {
        "rm": _analyze_remove,
        "unlink rmdir trash srm": _analyze_unlink,
        "shred truncate": ProgramEffectRule(
            classes=("destructive_delete",),
            options_with_value="-n -s --size --iterations --random-source -r --reference",
            needs="operand",
            writes="all",
        ),
        "mv": ProgramEffectRule(
            options_with_value="-t -S --target-directory --suffix", removes="sources", writes="target"
        ),
        "cp install ln rsync": ProgramEffectRule(
            options_with_value="-t -S -m -o -g --target-directory --suffix --mode --owner --group",
            reads="sources",
            writes="target",
        ),
        "tee touch sponge mkdir mkfifo rename": ProgramEffectRule(
            options_with_value="-t -d -r -m --date --reference --mode", writes="all"
        ),
        "dd": _analyze_dd,
        "find": _analyze_find,
        "chmod": _analyze_mode,
        "chown chgrp setfacl chattr": ProgramEffectRule(
            classes=("permissions",), options_with_value="--from --reference -m -x -M -X", writes="rest"
        ),
        _READERS: ProgramEffectRule(options_with_value="-n -c --lines --bytes", reads="all"),
        "grep egrep fgrep rg ag zgrep": _analyze_search,
        "ast-grep": _analyze_code_search,
        "cd pushd chdir": _analyze_change_folder,
    }
)
