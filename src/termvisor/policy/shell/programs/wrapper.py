"""Wrappers: programs such as sudo and env whose arguments contain another program to run."""

import shlex

from msgspec.structs import replace

from termvisor.policy.shell.call import (
    NO_EFFECT,
    CommandEffect,
    ParsedOptions,
    ProgramCall,
    iterate_readings,
    merge_effects,
)
from termvisor.policy.shell.programs.interpreter import analyze_input
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord


def analyze_env(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `env -S`, which splits one text into words, similar to a shell."""
    text = options.find_value("-S", "--split-string")
    line = " ".join([text.text, *(shlex.quote(word.text) for word in options.rest)]) if text else ""
    return CommandEffect(scripts=(ShellWord(line, call.start, call.end),) if line else ())


def analyze_sudo(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `sudo -e`, which writes a file as root, and shells that read the input."""
    if options.has("-e", "--edit"):
        return CommandEffect(writes=options.rest)
    return (
        analyze_input(call, options)
        if options.has("-s", "-i", "--shell", "--login") and not options.rest
        else NO_EFFECT
    )


def analyze_xargs(call: ProgramCall, options: ParsedOptions) -> CommandEffect:
    """Analyze `xargs`, which reads unknown operands from its input."""
    syntax = "-0 -r -t -p -x -a= -d= -E= -I= -J= -L= -n= -P= -R= -s= --arg-file= --delimiter= --max-args= --max-procs="
    effects = []
    for reading in iterate_readings(call.arguments, f"{syntax} --replace= --max-lines= --null --no-run-if-empty"):
        placeholder_option = reading.find_value("-I", "-J", "--replace")
        placeholder = placeholder_option.text if placeholder_option else "{}"
        words = list(reading.rest)
        if placeholder:
            words = [replace(word, text=word.text.replace(placeholder, UNKNOWN_TEXT)) for word in words]
        inner = replace(call, words=tuple(words), input_text=None, fed_by=())
        # xargs appends the words it reads as operands. Without any it runs the program once as it is.
        appended = replace(inner, words=(*inner.words, ShellWord(UNKNOWN_TEXT, call.start, call.end)))
        files = reading.find_values("-a", "--arg-file")
        effects.append(CommandEffect(calls=(inner, appended) if reading.rest else (), reads=files))
    return merge_effects(*effects)
