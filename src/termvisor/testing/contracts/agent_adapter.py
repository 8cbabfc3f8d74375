"""What every agent adapter must hold: it is pure, never fails on what strangers write, and never guesses rest.

class TestMine(AdapterContract):
    adapter = mine.ADAPTER
    events = ("SessionStart", "Stop")
    session = "a session that can be taken up again"
"""

import ast
import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from termvisor.agents.adapters.adapter import Adapter, Capability, ProcessInfo, SourceRecord, is_supported_contract
from termvisor.agents.state.signal_filter import find_rejection_reason
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import ProcessHint, Signal
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

_IMPURE_MODULES = frozenset(
    {"asyncio", "os", "pathlib", "random", "select", "shutil", "socket", "sqlite3", "subprocess", "time"}
)
_NOW = 1_794_802_560 * 10**9
_JSON_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9)
)
_JSON = st.recursive(
    _JSON_LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
_FIELD_NAMES = (
    "session_id",
    "sessionId",
    "sessionID",
    "message",
    "error",
    "status",
    "type",
    "trigger",
    "turn",
    "toolName",
    "tool_name",
    "result",
    "info",
    "parent",
    "details",
    "prompt",
    "questions",
    "tokens",
    "reason",
    "agentId",
    "data",
    "tool_input",
    "background_tasks",
)
_PAYLOAD = st.dictionaries(st.sampled_from(_FIELD_NAMES) | st.text(max_size=9), _JSON, max_size=6)
_ROWS = st.lists(st.text(alphabet=st.characters(exclude_characters="\n\r"), max_size=80), max_size=30)
_SHELL_ROWS = ("", "bash", "$ ls -l", "you@host:~$", "~/api")
_HYPOTHESIS_SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])


class AdapterContract:
    adapter: ClassVar[Adapter]
    events: ClassVar[Sequence[str]] = ()
    """Names of its hooks or events, so that what stands in them is tried, too."""
    session: ClassVar[str] = ""
    """One that can be taken up again; empty where none can."""
    package: ClassVar[str] = ""
    """Where its code is; empty where that is the package of its class."""

    def test_it_speaks_a_version_that_we_do(self) -> None:
        assert is_supported_contract(self.adapter.contract_version)

    def test_its_name_is_one_word_and_its_sources_are_declared_once(self) -> None:
        names = [source.name for source in self.adapter.sources]
        assert self.adapter.name.isidentifier()
        assert len(names) == len(set(names)) > 0
        assert "screen" in names or "look" not in self.adapter.capabilities

    def test_what_it_can_is_what_it_says_that_it_can(self) -> None:
        told = any(source.tier == "deterministic" for source in self.adapter.sources)
        assert ("signals" in self._capabilities) is ("event_driven" in self._capabilities) is told
        assert ("polling_required" in self._capabilities) is not told
        assert ("resume" in self._capabilities) is bool(self.session)
        assert bool(self.adapter.build_resume_command(self.session)) is bool(self.session)

    def test_it_is_pure(self) -> None:
        """All but what speaks with its server, which stands beside it in `served`."""
        assert {
            name: found
            for name, text in _read_module_sources(self._package)
            if (found := _IMPURE_MODULES & _list_imports(text))
        } == {}

    def test_a_session_that_is_none_is_no_command(self) -> None:
        assert all(not self.adapter.build_resume_command(text) for text in ("", "$(reboot)", "; rm -rf .", "--help"))

    def test_nothing_and_a_shell_are_no_agent(self) -> None:
        shells = [
            ProcessInfo(pid=7, program=name, argv=(name,)) for name in ("bash", "zsh", "fish", "tmux", "vim", "node")
        ]
        assert self.adapter.find_process([]) is None
        assert self.adapter.find_process([*shells, ProcessInfo(pid=8)]) is None
        assert [title for title in _SHELL_ROWS if self.adapter.title_matches(title)] == []

    def test_an_empty_screen_and_a_shells_are_unknown_and_never_idle(self) -> None:
        for rows in [(), ("",), *((text,) for text in _SHELL_ROWS)]:
            assert self.adapter.classify_screen(_build_screen(rows)).state == "unknown"

    @_HYPOTHESIS_SETTINGS
    @given(rows=_ROWS)
    def test_any_screen_is_something_or_unknown(self, rows: list[str]) -> None:
        seen = self.adapter.classify_screen(_build_screen(rows))
        assert 0.0 <= seen.confidence <= 1.0
        assert bool(seen.rule) is (seen.state != "unknown")
        assert seen == self.adapter.classify_screen(_build_screen(rows))

    @_HYPOTHESIS_SETTINGS
    @given(data=st.data(), payload=_PAYLOAD, event=st.text(max_size=12))
    def test_any_record_is_heard_or_left(self, data: st.DataObject, payload: dict[str, object], event: str) -> None:
        name = data.draw(st.sampled_from([*self.events, event]))
        source = data.draw(st.sampled_from([source.name for source in self.adapter.sources]))
        shapes = (
            {"v": 1, "agent": self.adapter.name, "event": name, "at": 1, "payload": payload},
            {"type": name, **payload},
        )
        texts = [msgspec.json.encode(shape).decode() for shape in (*shapes, {"type": name, "data": payload})]
        text = data.draw(st.sampled_from([*texts, event, "", "{"]))
        record = SourceRecord(
            source=source, text=text, at=_NOW, path="/a/b/c.jsonl", hint=ProcessHint(pid=7), event_id="x@1"
        )
        said = list(self.adapter.read_record(record))
        assert [self._find_refusal(one) for one in said if self._find_refusal(one)] == []
        assert said == list(self.adapter.read_record(record))

    @_HYPOTHESIS_SETTINGS
    @given(words=st.lists(st.text(max_size=20), max_size=5), cwd=st.text(max_size=20), home=st.text(max_size=20))
    def test_any_process_is_looked_at(self, words: list[str], cwd: str, home: str) -> None:
        env = dict.fromkeys(self.adapter.env_names, home)
        process = ProcessInfo(pid=7, argv=tuple(words), cwd=cwd, env=env)
        assert self.adapter.find_process([process]) in (None, process)
        assert all(
            watch.source in {one.name for one in self.adapter.sources}
            for watch in self.adapter.list_watched_paths(process)
        )

    @_HYPOTHESIS_SETTINGS
    @given(title=st.text(max_size=40))
    def test_any_title_is_looked_at(self, title: str) -> None:
        assert self.adapter.title_matches(title) in (True, False)

    @property
    def _capabilities(self) -> frozenset[Capability]:
        return self.adapter.capabilities

    @property
    def _package(self) -> str:
        return self.package or type(self.adapter).__module__

    def _find_refusal(self, signal: Signal) -> str | None:
        measure = Thresholds(sources={self.adapter.name: self.adapter.sources})
        is_short = all(len(value) <= 2000 for value in signal.payload.values() if isinstance(value, str))
        return (
            find_rejection_reason(signal, measure)
            if is_short and signal.agent == self.adapter.name
            else "too long or not its own"
        )


def _build_screen(rows: Sequence[str]) -> Screen:
    return Screen(pane=PaneId(1), rows=tuple(rows), width=80, height=max(1, len(rows)), at=_NOW)


def _read_module_sources(where: str) -> Iterator[tuple[str, str]]:
    """The text of every module of a package."""
    package = importlib.import_module(where)
    below = [one.name for one in pkgutil.iter_modules(getattr(package, "__path__", ())) if one.name != "server_client"]
    for name in (package.__name__, *(f"{package.__name__}.{module}" for module in below)):
        with open(str(importlib.import_module(name).__file__), encoding="utf-8") as file:
            yield name, file.read()


def _list_imports(text: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(text)))
    plain = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
