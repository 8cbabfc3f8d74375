"""Load a workflow from a file and validate it completely. Errors include the file and line."""

import shlex
from _blake2 import blake2b  # importing hashlib would load OpenSSL, which costs 4 MB of memory
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from termvisor.backends import key_names
from termvisor.clock import parse_duration
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.agent.state import StateName
from termvisor.model.did_you_mean import format_suggestion
from termvisor.model.workflow import WorkflowMode, WorkflowReference
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.files import step_types
from termvisor.workflows.files.source_file import ValuePath, WorkflowSource, read_source
from termvisor.workflows.workflow import SEVERITY_ORDER, Trigger, Workflow

_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_TOP_LEVEL_KEYS = ("name", "summary", "trigger", "steps", "priority", "mode", "timeout", "recheck")
_TRIGGER_KEYS = ("event", "agent", "rule", "severity", "fresh_for")
# Includes the steps in branches. A run itself ends after 2,000 steps.
_MAX_STEPS = 200
KEY_NAMES = (*sorted(key_names.KEY_NAMES), "C-c", "C-d", "C-z", "M-Enter")
STATE_NAMES: tuple[StateName, ...] = get_args(StateName)


def load_workflow_file(file: str) -> Workflow:
    """Load a workflow. Raises ``ConfigError`` with file and line."""
    return WorkflowFileParser(read_source(file)).parse_workflow()


class WorkflowFileParser:
    def __init__(self, source: WorkflowSource):
        self._source = source
        self._step_count = 0
        self._referenced_names: list[WorkflowReference] = []
        self._known_choices: list[str] = []
        """The choices of the `ask` steps so far."""

    def parse_workflow(self) -> Workflow:
        fields = self._read_mapping((), _TOP_LEVEL_KEYS)
        for needed in ("name", "steps"):
            if needed not in fields:
                raise self._build_error((), f"`{needed}` is missing")
        name = self._read_text(("name",))
        if not name or set(name) - set(_NAME_CHARACTERS):
            raise self._build_error(("name",), f"a name has lower-case letters, digits, - and _: not {name!r}")
        steps = self._parse_steps(("steps",))
        trigger = self._parse_trigger() if "trigger" in fields else Trigger()
        rechecks = self._read_flag(("recheck",)) if "recheck" in fields else True
        return Workflow(
            name=name,
            # Computed from the values, so that changing a comment does not end open runs.
            version=_compute_version(self._source.value),
            summary=self._read_text(("summary",)) if "summary" in fields else _build_summary(steps),
            trigger=trigger,
            priority=self._read_integer(("priority",)) if "priority" in fields else 50,
            mode=self._read_choice(("mode",), get_args(WorkflowMode)) if "mode" in fields else "ask",
            timeout=self._read_seconds(("timeout",)) if "timeout" in fields else 3600.0,
            run=step_types.FileWorkflow(name, steps, rechecks).run,
            origin=self._source.file,
            steps=tuple(_describe_step(step) for step in steps),
            names=tuple(self._referenced_names),
        )

    def _parse_trigger(self) -> Trigger:
        fields = self._read_mapping(("trigger",), _TRIGGER_KEYS)
        if "event" not in fields:
            raise self._build_error(("trigger",), "`event` is missing: the event type that starts the workflow")
        return Trigger(
            events=self._read_names("event", ("trigger", "event")),
            agents=self._read_names("agent", ("trigger", "agent")) if "agent" in fields else (),
            rules=self._read_names("rule", ("trigger", "rule")) if "rule" in fields else (),
            severity=self._read_choice(("trigger", "severity"), SEVERITY_ORDER) if "severity" in fields else "info",
            fresh_for=self._read_seconds(("trigger", "fresh_for")) if "fresh_for" in fields else 600.0,
        )

    def _parse_steps(self, path: ValuePath) -> tuple[step_types.FileStep, ...]:
        value = self._get_value(path)
        if not isinstance(value, list) or not value:
            raise self._build_error(path, "a list of steps is required here")
        return tuple(self._parse_step((*path, number)) for number in range(len(value)))

    def _parse_step(self, path: ValuePath) -> step_types.FileStep:
        self._step_count += 1
        value = self._get_value(path)
        if not isinstance(value, dict) or len(value) != 1:
            raise self._build_error(path, "a step is one name with its value, such as `send: text`")
        if self._step_count > _MAX_STEPS:
            raise self._build_error(path, f"a workflow has at most {_MAX_STEPS} steps")
        name = next(iter(value))
        if name not in _STEP_PARSERS:
            raise self._build_error((*path, name), describe_unknown("step", name, tuple(_STEP_PARSERS)))
        return _STEP_PARSERS[name](self, (*path, name))

    def _parse_wait_stable(self, path: ValuePath) -> step_types.FileStep:
        if not isinstance(self._get_value(path), dict):
            return step_types.WaitStableStep(seconds=self._read_seconds(path))
        self._read_mapping(path, ("for", "timeout"))
        return step_types.WaitStableStep(
            seconds=self._read_seconds((*path, "for")), timeout=self._read_seconds_or_default(path, "timeout", 600.0)
        )

    def _parse_wait_for(self, path: ValuePath) -> step_types.FileStep:
        if not isinstance(self._get_value(path), dict):
            return step_types.WaitForStep(what=WaitFor(text=self._read_text(path)))
        names = ("text", "pattern", "state", "rule", "prompt", "quiet", "signal")
        fields = self._read_mapping(path, (*names, "timeout"))
        chosen = [name for name in names if name in fields]
        if len(chosen) != 1:
            raise self._build_error(path, f"wait for exactly one of {', '.join(names)}")
        inner, timeout = (*path, chosen[0]), self._read_seconds_or_default(path, "timeout", 30.0)
        what = WaitFor(**{chosen[0]: self._parse_wait_condition(chosen[0], inner)}, timeout=timeout)
        return step_types.WaitForStep(what=what)

    def _parse_wait_condition(self, name: str, path: ValuePath) -> Any:
        if name == "state":
            return self._read_states(path)
        if name == "quiet":
            return self._read_seconds(path)
        if name == "prompt" and not self._read_flag(path):
            raise self._build_error(path, "`prompt: true` waits for a shell prompt; false is not allowed")
        if name == "prompt":
            return True
        if name == "rule":
            return self._read_names("rule", path, is_list=False)[0]
        return self._read_pattern(path) if name == "pattern" else self._read_text(path)

    def _parse_send(self, path: ValuePath) -> step_types.FileStep:
        if not isinstance(self._get_value(path), dict):
            return step_types.SendTextStep(text=self._read_typed_text(path))
        fields = self._read_mapping(path, ("text", "enter"))
        enter = self._read_flag((*path, "enter")) if "enter" in fields else True
        return step_types.SendTextStep(text=self._read_typed_text((*path, "text")), enter=enter)

    def _parse_keys(self, path: ValuePath) -> step_types.FileStep:
        keys = tuple(key for text in self._read_texts(path) for key in text.split())
        if not keys:
            raise self._build_error(path, "name at least one key, such as Enter, Escape or C-c")
        for key in keys:
            if not key_names.is_key_name(key):
                raise self._build_error(path, describe_unknown("key", key, (*KEY_NAMES, f"C-{key[-1].lower()}")))
        return step_types.PressKeysStep(keys=keys)

    def _parse_ask(self, path: ValuePath) -> step_types.FileStep:
        if not isinstance(self._get_value(path), dict):
            # A branch on `answer` may name only choices that were offered before it.
            self._known_choices += step_types.AskPersonStep(question="").choices
            return step_types.AskPersonStep(question=self._read_text(path))
        fields = self._read_mapping(path, ("question", "choices", "expires", "goes_on"))
        choices = self._read_texts((*path, "choices")) if "choices" in fields else ("yes", "no")
        if len(choices) < 2 or len(set(choices)) != len(choices):
            raise self._build_error((*path, "choices"), "at least two different choices are required")
        self._known_choices += choices
        return step_types.AskPersonStep(
            question=self._read_text((*path, "question")),
            choices=choices,
            expires=self._read_seconds_or_default(path, "expires", 600.0),
            goes_on=self._read_flag((*path, "goes_on")) if "goes_on" in fields else False,
        )

    def _parse_notify(self, path: ValuePath) -> step_types.FileStep:
        if not isinstance(self._get_value(path), dict):
            return step_types.NotifyStep(text=self._read_text(path))
        fields = self._read_mapping(path, ("title", "text"))
        return step_types.NotifyStep(
            text=self._read_text((*path, "text")), title=self._read_text((*path, "title")) if "title" in fields else ""
        )

    def _parse_branch(self, path: ValuePath) -> step_types.FileStep:
        fields = self._read_mapping(path, ("if", "then", "else"))
        if "if" not in fields or "then" not in fields:
            raise self._build_error(path, "a branch has `if` and `then`, and may have `else`")
        return step_types.BranchStep(
            condition=self._parse_condition((*path, "if")),
            then=self._parse_steps((*path, "then")),
            otherwise=self._parse_steps((*path, "else")) if "else" in fields else (),
        )

    def _parse_condition(self, path: ValuePath) -> step_types.BranchCondition:
        fields = self._read_mapping(path, ("text", "pattern", "state", "agent", "answer"))
        if not fields:
            raise self._build_error(path, "a condition needs at least one of text, pattern, state, agent or answer")
        values: dict[str, Any] = {
            name: self._read_text((*path, name)) for name in fields if name not in ("state", "pattern")
        }
        values |= {"state": self._read_states((*path, "state"))} if "state" in fields else {}
        values |= {"pattern": self._read_pattern((*path, "pattern"))} if "pattern" in fields else {}
        if "agent" in fields:
            self._read_names("agent", (*path, "agent"), is_list=False)
        if "answer" in fields and values["answer"] not in self._known_choices:
            known = tuple(dict.fromkeys(self._known_choices))
            why = describe_unknown("choice", values["answer"], known) if known else "there is no `ask` before it"
            raise self._build_error((*path, "answer"), why)
        return step_types.BranchCondition(**values)

    def _parse_run(self, path: ValuePath) -> step_types.FileStep:
        value = self._get_value(path)
        if not isinstance(value, dict):
            return step_types.RunProgramStep(command=self._parse_command(path))
        fields = self._read_mapping(path, ("command", "cwd"))
        cwd = self._read_typed_text((*path, "cwd")) if "cwd" in fields else ""
        # The daemon's working directory is not what a user would mean.
        if cwd and not cwd.startswith("/"):
            raise self._build_error((*path, "cwd"), f"an absolute path is required, such as /home/me: not {cwd!r}")
        return step_types.RunProgramStep(command=self._parse_command((*path, "command")), cwd=cwd)

    def _parse_command(self, path: ValuePath) -> tuple[str, ...]:
        value = self._get_value(path)
        try:
            words = (
                tuple(self._read_typed_text((*path, number)) for number in range(len(value)))
                if isinstance(value, list)
                else tuple(shlex.split(self._read_typed_text(path)))
            )
        except ValueError as error:
            raise self._build_error(path, f"not a command line: {error}") from error
        if not words:
            raise self._build_error(path, "a command is required here")
        return words

    def _parse_sleep(self, path: ValuePath) -> step_types.FileStep:
        return step_types.SleepStep(seconds=self._read_seconds(path))

    def _parse_note(self, path: ValuePath) -> step_types.FileStep:
        return step_types.NoteStep(text=self._read_text(path))

    def _get_value(self, path: ValuePath) -> Any:
        value = self._source.value
        for key in path:
            if isinstance(value, dict) and key not in value:
                raise self._build_error(path, f"`{key}` is missing")
            value = value[key]
        return value

    def _read_mapping(self, path: ValuePath, known: tuple[str, ...]) -> Mapping[str, Any]:
        value = self._get_value(path)
        if not isinstance(value, dict):
            text = "a mapping is required here" if value is not None or path else "the file is empty; allowed names"
            raise self._build_error(path, f"{text}: {', '.join(known)}")
        for name in value:
            if name not in known:
                raise self._build_error((*path, name), describe_unknown("name", name, known))
        return value

    def _read_text(self, path: ValuePath) -> str:
        value = self._get_value(path)
        # YAML converts a bare `yes` or `42` to another type, and its original spelling cannot be recovered.
        if isinstance(value, bool | int | float):
            raise self._build_error(path, "a text is required here: quote it (YAML does not read yes or 42 as text)")
        if not isinstance(value, str) or not value:
            raise self._build_error(path, "a text is required here" + (f", not {value!r}" if value else ""))
        return value

    def _read_typed_text(self, path: ValuePath) -> str:
        """Read a text to be typed or run. Captures are rejected, because any program can write them to a screen."""
        text = self._read_text(path)
        if step_types.CAPTURE_PLACEHOLDER.search(text):
            raise self._build_error(
                path, "captures are allowed in ask, notify and note only; they are never typed or run"
            )
        return text

    def _read_texts(self, path: ValuePath) -> tuple[str, ...]:
        value = self._get_value(path)
        if isinstance(value, list):
            return tuple(self._read_text((*path, number)) for number in range(len(value)))
        return (self._read_text(path),)

    def _read_names(
        self, kind: Literal["event", "agent", "rule"], path: ValuePath, *, is_list: bool = True
    ) -> tuple[str, ...]:
        words = self._read_texts(path) if is_list else (self._read_text(path),)
        self._referenced_names += [
            WorkflowReference(kind=kind, word=word, place=self._source.format_location(path)) for word in words
        ]
        return words

    def _read_pattern(self, path: ValuePath) -> str:
        text = self._read_text(path)
        try:
            compile_patterns({"expression": text}, "re2")
        except ConfigError as error:
            raise self._build_error(path, error.message) from error
        return text

    def _read_states(self, path: ValuePath) -> tuple[StateName, ...]:
        for name in self._read_texts(path):
            if name not in STATE_NAMES:
                raise self._build_error(path, describe_unknown("state", name, STATE_NAMES))
        return tuple(state for state in STATE_NAMES if state in self._read_texts(path))

    def _read_seconds_or_default(self, path: ValuePath, name: str, default: float) -> float:
        return self._read_seconds((*path, name)) if name in self._get_value(path) else default

    def _read_seconds(self, path: ValuePath) -> float:
        value = self._get_value(path)
        try:
            seconds = parse_duration(str(value))
        except BadRequest as error:
            raise self._build_error(path, f"not a duration: {value!r}; write for example 2s, 5m or 1h") from error
        if not 0 < seconds <= 7 * 86_400:
            raise self._build_error(path, "a duration must be more than 0 and at most a week")
        return seconds

    def _read_integer(self, path: ValuePath) -> int:
        value = self._get_value(path)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._build_error(path, f"a number is required here, not {value!r}")
        return value

    def _read_flag(self, path: ValuePath) -> bool:
        value = self._get_value(path)
        if not isinstance(value, bool):
            raise self._build_error(path, f"true or false is required here, not {value!r}")
        return value

    def _read_choice(self, path: ValuePath, known: tuple[Any, ...]) -> Any:
        value = self._get_value(path)
        if value is False and "off" in known:  # YAML parses a bare `off` as false and `on` as true
            return "off"
        if value is True and "on" in known:
            return "on"
        if value not in known:
            raise self._build_error(path, describe_unknown("value", str(value), known))
        return value

    def _build_error(self, path: ValuePath, why: str) -> ConfigError:
        return self._source.build_error(path, why)


_STEP_PARSERS: dict[str, Callable[[WorkflowFileParser, ValuePath], step_types.FileStep]] = {
    "wait_stable": WorkflowFileParser._parse_wait_stable,
    "wait_for": WorkflowFileParser._parse_wait_for,
    "send": WorkflowFileParser._parse_send,
    "keys": WorkflowFileParser._parse_keys,
    "ask": WorkflowFileParser._parse_ask,
    "notify": WorkflowFileParser._parse_notify,
    "branch": WorkflowFileParser._parse_branch,
    "run": WorkflowFileParser._parse_run,
    "sleep": WorkflowFileParser._parse_sleep,
    "note": WorkflowFileParser._parse_note,
}


def describe_unknown(what: str, name: str, known: tuple[str, ...]) -> str:
    return f"unknown {what} {name!r}; {format_suggestion(name, known, cutoff=0.5)}"


def _build_summary(steps: tuple[step_types.FileStep, ...]) -> str:
    return ", ".join(_describe_step(step).partition(" ")[0] for step in steps)


def _compute_version(value: Any) -> int:
    """Return a version that changes with the content of the file."""
    text = msgspec.json.encode(value, order="deterministic")
    return int.from_bytes(blake2b(text, digest_size=4).digest(), "big") >> 1


def _describe_step(step: step_types.FileStep) -> str:
    fields = msgspec.to_builtins(step)
    kind = fields.pop("type")
    return f"{kind} {msgspec.json.encode(fields).decode()}"
