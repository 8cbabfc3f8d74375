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


def analyze_link(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze ln. A later write through the new name changes what the link points to."""
    target = options.find_value("-t", "--target-directory")
    sources = options.operands if target or len(options.operands) == 1 else options.operands[:-1]
    name = target or (options.operands[-1] if len(options.operands) > 1 else ShellWord("."))
    return CommandEffect(links=tuple((name, source) for source in sources))


def analyze_mode(call: ProgramCall, _options: ParsedOptions) -> CommandEffect:
    """Analyze chmod. Recursive, set-user-id and world-writable changes count; `chmod +x script` does not."""
    is_removal = any(re.match(r"^-[rwxst]+$", word.text) for word in call.arguments)
    options = parse_options(
        [word for word in call.arguments if not re.match(r"^-[rwxst]+$", word.text)], "--reference="
    )
    has_mode = not is_removal and not options.has("--reference")
    mode = options.operands[0].text if options.operands and has_mode else ""
    is_wide = options.has("-R", "--recursive") or bool(_WIDE_MODE.search(mode)) or UNKNOWN_TEXT in mode
    return CommandEffect(classes=("permissions",) if is_wide else (), writes=options.operands[has_mode:])


def analyze_tar(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze the first word without a dash (`tar xzf a.tgz`), and the archive or folder that is written."""
    first = call.arguments[0].text if call.arguments else ""
    letters = first if first.isalpha() else "".join(re.findall(r"(?:^| )-(\w+)", call.text))
    archives, folders = options.find_values("-f", "--file"), options.find_values("-C", "--directory")
    operands = options.operands
    classes: tuple[str, ...] = ()
    if first.isalpha():  # the values of `tar cfC a b` follow in the order of their letters
        values = dict(zip((letter for letter in first if letter in "fCXT"), operands[1:], strict=False))
        archives, folders = (values["f"],) if "f" in values else (), (values["C"],) if "C" in values else folders
        operands = operands[1 + len(values) :]
        class_by_letter = dict.fromkeys("IF", "dynamic") | {"P": "outside_write"}
        others = {*first} - {*"xctzjJavpkhOfCXTur"}
        classes = tuple({class_by_letter.get(letter, "unknown_effect") for letter in others})
    extracts = "x" in letters or options.has("--extract", "--get")
    lists = "t" in letters or options.has("--list", "--diff", "--compare")
    return CommandEffect(
        classes=classes,
        writes=() if lists else (folders or (ShellWord("."),)) if extracts else archives,
        reads=() if extracts or lists else operands,
    )


def analyze_change_folder(_call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    words = options.operands
    return CommandEffect(moves_to=words[:1] or (ShellWord("~"),))
