"""A workflow out of a file: checked as a whole before anything of it runs, and what is wrong told with its line."""

import shlex
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from termvisor.backends.tmux.key_names import NAMED as NAMED_KEYS
from termvisor.backends.tmux.key_names import is_key
from termvisor.clock import parse_duration
from termvisor.errors import BadRequest, ConfigError
from termvisor.model.agent.state import StateName
from termvisor.model.did_you_mean import meant
from termvisor.model.workflow.info import Named
from termvisor.model.workflow.run import Mode
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.files.step_types import (
    FACT,
    AskThem,
    Await,
    Branch,
    Condition,
    Keys,
    Remark,
    RunIt,
    Script,
    ScriptStep,
    SendLine,
    Sleep,
    TellThem,
    WaitStable,
)
from termvisor.workflows.files.yaml_source import Path, Source, read
from termvisor.workflows.workflow import SEVERITIES, Trigger, Workflow

_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_TOP = ("name", "summary", "trigger", "steps", "priority", "mode", "timeout", "recheck")
_TRIGGER = ("event", "agent", "rule", "severity", "fresh_for")
_MOST = 200
KEYS = (*sorted(NAMED_KEYS), "C-c", "C-d", "C-z", "M-Enter")
STATES: tuple[StateName, ...] = get_args(StateName)


def load(file: str) -> Workflow:
    """Raises ``ConfigError`` with file and line."""
    return Reader(read(file)).workflow()


class Reader:
    def __init__(self, source: Source):
        self._source = source
        self._count = 0
        self._names: list[Named] = []
        self._answers: list[str] = []
        """The choices of the questions so far."""

    def workflow(self) -> Workflow:
        fields = self._mapping((), _TOP)
        for needed in ("name", "steps"):
            if needed not in fields:
                raise self._wrong((), f"`{needed}` is missing")
        name = self._text(("name",))
        if not name or set(name) - set(_NAME):
            raise self._wrong(("name",), f"a name has small letters, digits, - and _: not {name!r}")
        steps = self._steps(("steps",))
        trigger = self._trigger() if "trigger" in fields else Trigger()
        checks = self._flag(("recheck",)) if "recheck" in fields else True
        return Workflow(
            name=name,
            version=_version(self._source.value),
            summary=self._text(("summary",)) if "summary" in fields else _summary(steps),
            trigger=trigger,
            priority=self._number(("priority",)) if "priority" in fields else 50,
            mode=self._choice(("mode",), get_args(Mode)) if "mode" in fields else "ask",
            timeout=self._seconds(("timeout",)) if "timeout" in fields else 3600.0,
            run=Script(name, steps, checks).run,
            origin=self._source.file,
            steps=tuple(_shown(step) for step in steps),
            names=tuple(self._names),
        )

    def _trigger(self) -> Trigger:
        fields = self._mapping(("trigger",), _TRIGGER)
        if "event" not in fields:
            raise self._wrong(("trigger",), "`event` is missing: the type of event that starts it")
        return Trigger(
            events=self._named("event", ("trigger", "event")),
            agents=self._named("agent", ("trigger", "agent")) if "agent" in fields else (),
            rules=self._named("rule", ("trigger", "rule")) if "rule" in fields else (),
            severity=self._choice(("trigger", "severity"), SEVERITIES) if "severity" in fields else "info",
            fresh_for=self._seconds(("trigger", "fresh_for")) if "fresh_for" in fields else 600.0,
        )

    def _steps(self, path: Path) -> tuple[ScriptStep, ...]:
        value = self._at(path)
        if not isinstance(value, list) or not value:
            raise self._wrong(path, "a list of steps is needed here")
        return tuple(self._step((*path, number)) for number in range(len(value)))

    def _step(self, path: Path) -> ScriptStep:
        self._count += 1
        value = self._at(path)
        if not isinstance(value, dict) or len(value) != 1:
            raise self._wrong(path, "a step is one name with what it is given, such as `send: text`")
        if self._count > _MOST:
            raise self._wrong(path, f"a workflow has at most {_MOST} steps")
        name = next(iter(value))
        if name not in _KINDS:
            raise self._wrong((*path, name), unknown("step", name, tuple(_KINDS)))
        return _KINDS[name](self, (*path, name))

    def _wait_stable(self, path: Path) -> ScriptStep:
        if not isinstance(self._at(path), dict):
            return WaitStable(seconds=self._seconds(path))
        self._mapping(path, ("for", "timeout"))
        return WaitStable(seconds=self._seconds((*path, "for")), timeout=self._given(path, "timeout", 600.0))

    def _wait_for(self, path: Path) -> ScriptStep:
        if not isinstance(self._at(path), dict):
            return Await(what=WaitFor(text=self._text(path)))
        names = ("text", "pattern", "state", "rule", "prompt", "quiet", "signal")
        fields = self._mapping(path, (*names, "timeout"))
        chosen = [name for name in names if name in fields]
        if len(chosen) != 1:
            raise self._wrong(path, f"wait for exactly one of {', '.join(names)}")
        inner, timeout = (*path, chosen[0]), self._given(path, "timeout", 30.0)
        what = WaitFor(**{chosen[0]: self._awaited(chosen[0], inner)}, timeout=timeout)
        return Await(what=what)

    def _awaited(self, name: str, path: Path) -> Any:
        if name == "state":
            return self._states(path)
        if name == "quiet":
            return self._seconds(path)
        if name == "prompt" and not self._flag(path):
            raise self._wrong(path, "`prompt: true` waits for a shell's prompt; false waits for nothing")
        if name == "prompt":
            return True
        if name == "rule":
            return self._named("rule", path, is_list=False)[0]
        return self._pattern(path) if name == "pattern" else self._text(path)

    def _send(self, path: Path) -> ScriptStep:
        if not isinstance(self._at(path), dict):
            return SendLine(text=self._typed(path))
        fields = self._mapping(path, ("text", "enter"))
        enter = self._flag((*path, "enter")) if "enter" in fields else True
        return SendLine(text=self._typed((*path, "text")), enter=enter)

    def _keys(self, path: Path) -> ScriptStep:
        keys = tuple(key for text in self._texts(path) for key in text.split())
        if not keys:
            raise self._wrong(path, "name at least one key, such as Enter, Escape or C-c")
        for key in keys:
            if not is_key(key):
                raise self._wrong(path, unknown("key", key, (*KEYS, f"C-{key[-1].lower()}")))
        return Keys(keys=keys)

    def _ask(self, path: Path) -> ScriptStep:
        if not isinstance(self._at(path), dict):
            self._answers += AskThem(question="").choices
            return AskThem(question=self._text(path))
        fields = self._mapping(path, ("question", "choices", "expires", "goes_on"))
        choices = self._texts((*path, "choices")) if "choices" in fields else ("yes", "no")
        if len(choices) < 2 or len(set(choices)) != len(choices):
            raise self._wrong((*path, "choices"), "two different choices are needed, or more")
        self._answers += choices
        return AskThem(
            question=self._text((*path, "question")),
            choices=choices,
            expires=self._given(path, "expires", 600.0),
            goes_on=self._flag((*path, "goes_on")) if "goes_on" in fields else False,
        )

    def _notify(self, path: Path) -> ScriptStep:
        if not isinstance(self._at(path), dict):
            return TellThem(text=self._text(path))
        fields = self._mapping(path, ("title", "text"))
        return TellThem(
            text=self._text((*path, "text")), title=self._text((*path, "title")) if "title" in fields else ""
        )

    def _branch(self, path: Path) -> ScriptStep:
        fields = self._mapping(path, ("if", "then", "else"))
        if "if" not in fields or "then" not in fields:
            raise self._wrong(path, "a branch has `if` and `then`, and may have `else`")
        return Branch(
            condition=self._condition((*path, "if")),
            then=self._steps((*path, "then")),
            otherwise=self._steps((*path, "else")) if "else" in fields else (),
        )

    def _condition(self, path: Path) -> Condition:
        fields = self._mapping(path, ("text", "pattern", "state", "agent", "answer"))
        if not fields:
            raise self._wrong(path, "a condition says what must hold: text, pattern, state, agent or answer")
        given: dict[str, Any] = {name: self._text((*path, name)) for name in fields if name not in ("state", "pattern")}
        given |= {"state": self._states((*path, "state"))} if "state" in fields else {}
        given |= {"pattern": self._pattern((*path, "pattern"))} if "pattern" in fields else {}
        if "agent" in fields:
            self._named("agent", (*path, "agent"), is_list=False)
        if "answer" in fields and given["answer"] not in self._answers:
            known = tuple(dict.fromkeys(self._answers))
            why = unknown("choice", given["answer"], known) if known else "no `ask` comes before it"
            raise self._wrong((*path, "answer"), why)
        return Condition(**given)

    def _run(self, path: Path) -> ScriptStep:
        value = self._at(path)
        if not isinstance(value, dict):
            return RunIt(command=self._command(path))
        fields = self._mapping(path, ("command", "cwd"))
        cwd = self._typed((*path, "cwd")) if "cwd" in fields else ""
        if cwd and not cwd.startswith("/"):
            raise self._wrong((*path, "cwd"), f"a folder is written from the root on, such as /home/me: not {cwd!r}")
        return RunIt(command=self._command((*path, "command")), cwd=cwd)

    def _command(self, path: Path) -> tuple[str, ...]:
        value = self._at(path)
        try:
            words = (
                tuple(self._typed((*path, number)) for number in range(len(value)))
                if isinstance(value, list)
                else tuple(shlex.split(self._typed(path)))
            )
        except ValueError as error:
            raise self._wrong(path, f"not a command line: {error}") from error
        if not words:
            raise self._wrong(path, "a command is needed here")
        return words

    def _sleep(self, path: Path) -> ScriptStep:
        return Sleep(seconds=self._seconds(path))

    def _note(self, path: Path) -> ScriptStep:
        return Remark(text=self._text(path))

    def _at(self, path: Path) -> Any:
        value = self._source.value
        for key in path:
            if isinstance(value, dict) and key not in value:
                raise self._wrong(path, f"`{key}` is missing")
            value = value[key]
        return value

    def _mapping(self, path: Path, known: tuple[str, ...]) -> Mapping[str, Any]:
        value = self._at(path)
        if not isinstance(value, dict):
            what = "names with values are needed here" if value is not None or path else "it is empty; it may hold"
            raise self._wrong(path, f"{what}: {', '.join(known)}")
        for name in value:
            if name not in known:
                raise self._wrong((*path, name), unknown("name", name, known))
        return value

    def _text(self, path: Path) -> str:
        value = self._at(path)
        if isinstance(value, bool | int | float):
            raise self._wrong(path, "a text is needed here: put it in quotes, since yes, no, on, off and 42 are none")
        if not isinstance(value, str) or not value:
            raise self._wrong(path, f"a text is needed here, not {value!r}" if value else "a text is needed here")
        return value

    def _typed(self, path: Path) -> str:
        """What is typed is as it stands: a capture comes from a screen, and anybody may write there."""
        text = self._text(path)
        if FACT.search(text):
            raise self._wrong(path, "captures may stand in ask, notify and note; they are never typed or run")
        return text

    def _texts(self, path: Path) -> tuple[str, ...]:
        value = self._at(path)
        if isinstance(value, list):
            return tuple(self._text((*path, number)) for number in range(len(value)))
        return (self._text(path),)

    def _named(self, kind: Literal["event", "agent", "rule"], path: Path, *, is_list: bool = True) -> tuple[str, ...]:
        words = self._texts(path) if is_list else (self._text(path),)
        self._names += [Named(kind=kind, word=word, place=self._source.place(path)) for word in words]
        return words

    def _pattern(self, path: Path) -> str:
        text = self._text(path)
        try:
            compile_patterns({"wanted": text}, "re2")
        except ConfigError as error:
            raise self._wrong(path, f"not a pattern that we can use: {error.message}") from error
        return text

    def _states(self, path: Path) -> tuple[StateName, ...]:
        for name in self._texts(path):
            if name not in STATES:
                raise self._wrong(path, unknown("state", name, STATES))
        return tuple(state for state in STATES if state in self._texts(path))

    def _given(self, path: Path, name: str, usual: float) -> float:
        return self._seconds((*path, name)) if name in self._at(path) else usual

    def _seconds(self, path: Path) -> float:
        value = self._at(path)
        try:
            seconds = parse_duration(str(value))
        except BadRequest as error:
            raise self._wrong(path, f"not a duration: {value!r}; write for example 2s, 5m or 1h") from error
        if not 0 < seconds <= 7 * 86_400:
            raise self._wrong(path, "a duration is more than nothing and at most a week")
        return seconds

    def _number(self, path: Path) -> int:
        value = self._at(path)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(path, f"a number is needed here, not {value!r}")
        return value

    def _flag(self, path: Path) -> bool:
        value = self._at(path)
        if not isinstance(value, bool):
            raise self._wrong(path, f"true or false is needed here, not {value!r}")
        return value

    def _choice(self, path: Path, known: tuple[Any, ...]) -> Any:
        value = self._at(path)
        if value is False and "off" in known:  # YAML takes a bare `off` for a no, and `on` for a yes
            return "off"
        if value is True and "on" in known:
            return "on"
        if value not in known:
            raise self._wrong(path, unknown("value", str(value), known))
        return value

    def _wrong(self, path: Path, why: str) -> ConfigError:
        return self._source.wrong(path, why)


_KINDS: dict[str, Callable[[Reader, Path], ScriptStep]] = {
    "wait_stable": Reader._wait_stable,
    "wait_for": Reader._wait_for,
    "send": Reader._send,
    "keys": Reader._keys,
    "ask": Reader._ask,
    "notify": Reader._notify,
    "branch": Reader._branch,
    "run": Reader._run,
    "sleep": Reader._sleep,
    "note": Reader._note,
}


def unknown(what: str, name: str, known: tuple[str, ...]) -> str:
    return f"there is no {what} {name!r}; {meant(name, known, alike=0.5)}"


def _summary(steps: tuple[ScriptStep, ...]) -> str:
    return ", ".join(_shown(step).partition(" ")[0] for step in steps)


def _version(value: Any) -> int:
    """Another content is another version."""
    text = msgspec.json.encode(value, order="deterministic")
    return int.from_bytes(blake2b(text, digest_size=4).digest(), "big") >> 1


def _shown(step: ScriptStep) -> str:
    fields = msgspec.to_builtins(step)
    kind = fields.pop("type")
    return f"{kind} {msgspec.json.encode(fields).decode()}"
