"""The contract of agent adapters: they are pure, never raise on any input, and never guess `idle`.

class TestMine(AdapterContract):
    adapter = mine.ADAPTER
    events = ("SessionStart", "Stop")
    session = "a session id that can be resumed"
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
from termvisor.agents.state.signal_admission import find_rejection_reason
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
    """Names of the agent's hooks or events, whose payloads are tested too."""
    session: ClassVar[str] = ""
    """A session id that can be resumed; empty if the agent cannot resume."""
    package: ClassVar[str] = ""
    """The package that contains the adapter; empty for the package of its class."""

    def test_contract_version_is_supported(self) -> None:
        assert is_supported_contract(self.adapter.contract_version)

    def test_name_is_an_identifier_and_sources_are_unique(self) -> None:
        names = [source.name for source in self.adapter.sources]
        assert self.adapter.name.isidentifier()
        assert len(names) == len(set(names)) > 0
        assert "screen" in names or "look" not in self.adapter.capabilities

    def test_capabilities_match_sources_and_resume_command(self) -> None:
        has_signals = any(source.tier == "deterministic" for source in self.adapter.sources)
        assert ("signals" in self._capabilities) is ("event_driven" in self._capabilities) is has_signals
        assert ("polling_required" in self._capabilities) is not has_signals
        assert ("resume" in self._capabilities) is bool(self.session)
        assert bool(self.adapter.build_resume_command(self.session)) is bool(self.session)

    def test_it_is_pure(self) -> None:
        """Check all modules of the package except its `server_client`."""
        assert {
            name: found
            for name, text in _read_module_sources(self._package)
            if (found := _IMPURE_MODULES & _list_imports(text))
        } == {}

    def test_an_invalid_session_id_gives_no_resume_command(self) -> None:
        assert all(not self.adapter.build_resume_command(text) for text in ("", "$(reboot)", "; rm -rf .", "--help"))

    def test_shells_and_other_programs_are_not_the_agent(self) -> None:
        shells = [
            ProcessInfo(pid=7, program=name, argv=(name,)) for name in ("bash", "zsh", "fish", "tmux", "vim", "node")
        ]
        assert self.adapter.find_process([]) is None
        assert self.adapter.find_process([*shells, ProcessInfo(pid=8)]) is None
        assert [title for title in _SHELL_ROWS if self.adapter.matches_title(title)] == []

    def test_empty_and_shell_screens_are_unknown_and_never_idle(self) -> None:
        for rows in [(), ("",), *((text,) for text in _SHELL_ROWS)]:
            assert self.adapter.classify_screen(_build_screen(rows)).state == "unknown"

    @_HYPOTHESIS_SETTINGS
    @given(rows=_ROWS)
    def test_any_screen_is_classified_deterministically(self, rows: list[str]) -> None:
        result = self.adapter.classify_screen(_build_screen(rows))
        assert 0.0 <= result.confidence <= 1.0
        assert bool(result.rule) is (result.state != "unknown")
        assert result == self.adapter.classify_screen(_build_screen(rows))

    @_HYPOTHESIS_SETTINGS
    @given(data=st.data(), payload=_PAYLOAD, event=st.text(max_size=12))
    def test_any_record_is_read_without_errors(
        self, data: st.DataObject, payload: dict[str, object], event: str
    ) -> None:
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
        signals = list(self.adapter.read_record(record))
        assert [self._find_rejection(signal) for signal in signals if self._find_rejection(signal)] == []
        assert signals == list(self.adapter.read_record(record))

    @_HYPOTHESIS_SETTINGS
    @given(words=st.lists(st.text(max_size=20), max_size=5), cwd=st.text(max_size=20), home=st.text(max_size=20))
    def test_any_process_is_examined_without_errors(self, words: list[str], cwd: str, home: str) -> None:
        env = dict.fromkeys(self.adapter.env_names, home)
        process = ProcessInfo(pid=7, argv=tuple(words), cwd=cwd, env=env)
        assert self.adapter.find_process([process]) in (None, process)
        assert all(
            path.source in {source.name for source in self.adapter.sources}
            for path in self.adapter.list_watched_paths(process)
        )

    @_HYPOTHESIS_SETTINGS
    @given(title=st.text(max_size=40))
    def test_any_title_is_matched_without_errors(self, title: str) -> None:
        assert self.adapter.matches_title(title) in (True, False)

    @property
    def _capabilities(self) -> frozenset[Capability]:
        return self.adapter.capabilities

    @property
    def _package(self) -> str:
        return self.package or type(self.adapter).__module__

    def _find_rejection(self, signal: Signal) -> str | None:
        thresholds = Thresholds(sources={self.adapter.name: self.adapter.sources})
        is_short = all(len(value) <= 2000 for value in signal.payload.values() if isinstance(value, str))
        if not is_short or signal.agent != self.adapter.name:
            return "too long, or of another agent"
        return find_rejection_reason(signal, thresholds)


def _build_screen(rows: Sequence[str]) -> Screen:
    return Screen(pane=PaneId(1), rows=tuple(rows), width=80, height=max(1, len(rows)), at=_NOW)


def _read_module_sources(package_name: str) -> Iterator[tuple[str, str]]:
    """Yield the name and source of every module of a package except `server_client`."""
    package = importlib.import_module(package_name)
    found = pkgutil.iter_modules(getattr(package, "__path__", ()))
    submodules = [module.name for module in found if module.name != "server_client"]
    for name in (package.__name__, *(f"{package.__name__}.{module}" for module in submodules)):
        with open(str(importlib.import_module(name).__file__), encoding="utf-8") as file:
            yield name, file.read()


def _list_imports(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    plain = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
