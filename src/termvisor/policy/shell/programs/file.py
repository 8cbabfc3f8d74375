"""Programs that read, write, move and remove files or change their permissions."""

import re
from itertools import dropwhile, pairwise, takewhile

from msgspec.structs import replace

from termvisor.policy.shell.call import (
    NO_EFFECT,
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    classify,
    merge_effects,
    parse_options,
)
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord

_FIND_TEST_NAMES = (
    "-name -iname -path -ipath -regex -iregex -mtime -mmin -ctime -atime -newer -size -empty -user -group -perm"
    " -inum -maxdepth -amin -cmin -wholename"
)
# `find` tests that limit what `-delete` removes.
_FIND_TESTS = frozenset(_FIND_TEST_NAMES.split())
# Words of all calls that one `find` makes. Each searched path is a call of each program.
_MAX_EXECUTED_WORDS = 20_000
_WIDE_MODE = re.compile(
    r"^[0-7]*[2367]$|^[2467][0-7]{3}$|(?:^|,)[uga]*[+=][rwxXt]*s|(?:^|,)(?:[ug]*o[ug]*|a)[+=][rxX]*w"
)


def analyze_remove(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    is_wide = options.has("-r", "-R", "--recursive", "-d") or any(word.is_pattern for word in options.operands)
    unknown = [word for word in options.operands if not word.is_known]
    classes: tuple[str, ...] = ("destructive_delete" if is_wide or unknown else "delete",)
    classes += ("dynamic",) if unknown else ()
    if not options.operands:
        return NO_EFFECT
    known = tuple(word for word in options.operands if word.is_known)
    return CommandEffect(classes=classes, removes=known if is_wide else (), writes=() if is_wide else known)


def analyze_copy(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze a copy from a device or descriptor, which empties or overwrites its target."""
    words = options.operands[:-1]
    return classify("destructive_delete", when=any(re.match(r"/+(?:dev|proc)/", word.text) for word in words))


def analyze_dd(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    """Analyze dd. Copying from a device overwrites or empties the target."""
    pairs = [
        (name, replace(word, text=value)) for word in call.arguments for name, _, value in [word.text.partition("=")]
    ]
    reads, writes = (tuple(word for name, word in pairs if name == key) for key in ("if", "of"))
    overwrites = writes and any(word.text.startswith("/dev/") for word in reads)
    return CommandEffect(classes=("destructive_delete",) if overwrites else (), reads=reads, writes=writes)


def analyze_find(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    operands = dropwhile(lambda word: re.match(r"-[HLPDO]", word.text), call.arguments)
    roots = tuple(takewhile(lambda word: not word.text.startswith(("-", "(", "!")), operands)) or (ShellWord("."),)
    effect = CommandEffect(calls=tuple(_find_executed_calls(call, roots)), writes=_find_print_files(call.arguments))
    if "-delete" in texts:
        removes_all = _FIND_TESTS.isdisjoint(texts)
        known = tuple(root for root in roots if root.is_known)
        removal = CommandEffect(
            classes=("destructive_delete",), removes=known if removes_all else (), writes=() if removes_all else known
        )
        effect = merge_effects(effect, removal)
    if not all(word.is_known for word in call.arguments):
        # An unknown word may be `-delete` or `-exec`.
        effect = merge_effects(effect, classify("unknown_effect" if effect == NO_EFFECT else "dynamic"))
    return effect


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


def analyze_mode(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze chmod. Recursive, set-user-id and world-writable changes count; `chmod +x script` does not."""
    options = parse_options(
        [word for word in call.arguments if not re.match(r"^-[rwxst]+$", word.text)], "--reference="
    )
    mode = options.operands[0].text if options.operands else ""
    is_wide = options.has("-R", "--recursive") or bool(_WIDE_MODE.search(mode)) or UNKNOWN_TEXT in mode
    return CommandEffect(classes=("permissions",) if is_wide else (), writes=options.operands[1:])


def analyze_search(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze grep. The first operand is the pattern, unless an option holds it."""
    return CommandEffect(
        reads=options.operands if options.find_value("-e", "-f", "--regexp", "--file") else options.operands[1:]
    )


def analyze_tar(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze the first word without a dash (`tar xzf a.tgz`) and the folder that an archive is extracted to."""
    first = call.arguments[0].text if call.arguments else ""
    letters = first if first.isalpha() else "".join(re.findall(r"(?:^| )-(\w+)", call.text))
    extracts = "x" in letters or options.has("--extract", "--get")
    is_code = first.isalpha() and not {*"IF"}.isdisjoint(first)
    is_open = first.isalpha() and not {*first} <= {*"xctzjJavpkhOfCXT"}
    return CommandEffect(
        classes=("dynamic",) if is_code else ("unknown_effect",) if is_open else (),
        writes=options.find_values("-C", "--directory") if extracts else (),
    )


def analyze_change_folder(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    words = options.operands
    return CommandEffect(moves_to=words[:1] or (ShellWord("~"),))
