"""Map the tables of `config.toml` to settings: `[storage] retention` is the setting `retention`.

Every setting has one place in the file, where `config init` and `config set` write it. It is also read by its name at
the top level, and from a table named like its prefix (`[agent] inbox`), as earlier versions wrote it. Settings with
named entries have a table per entry; their earlier form, a list of lines, is still read and reported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from termvisor.model.agent.agent_program import AgentProgram, parse_program_lines
from termvisor.model.agent.price import PRICE_NAMES, parse_price_line
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.settings.agents import parse_resume_line
from termvisor.model.settings.workflows import WORKFLOW_MODES, parse_compaction_line, parse_mode_entry
from termvisor.settings_file.toml_document import (
    TomlKey,
    format_key,
    format_toml_value,
    set_value,
    split_statements,
    unset_value,
)

_SECTIONS: dict[str, tuple[str, ...]] = {
    "general": ("log_level", "log_bytes", "colour"),
    "ingest": (
        *("tmux_sockets", "tmux_program", "thin_interval", "full_interval", "baseline_lines", "flush_interval"),
        *("segment_bytes", "recorder_cap_bytes"),
    ),
    "storage": (
        *("retention", "raw_retention", "total_bytes", "pane_bytes", "compress", "mask_raw"),
        *("maintenance_interval", "snapshot_interval"),
    ),
    "safety": ("redact_patterns", "redact_allow"),
    "workflows.handle_usage_limits": ("pause_on_limit", "auto_resume", "continue_prompt", "failover_profile"),
}
"""The tables of settings whose names do not start with the name of their table."""
_PREFIXES = {
    "patterns_state_gating_": "patterns.state_gating",
    "patterns_": "patterns",
    "agents_": "agents",
    "agent_": "agents",
    "workflow_": "workflows",
    "notify_": "notify",
    "events_": "events",
    "account_": "account",
    "attach_": "attach",
    "jobs_": "jobs",
}


class EntryTable(Struct, frozen=True):
    """Where the entries of a setting are: `table.<entry>.<field>`, or `table.<entry>` without fields."""

    table: TomlKey
    fields: tuple[str, ...] = ()
    is_record: bool = False
    """The value of an entry is a table with these fields, not the value of the only one."""


ENTRY_TABLES = {
    "agent_programs": EntryTable(("agents",), AgentProgram.__struct_fields__, is_record=True),
    "agent_resume": EntryTable(("agents",), ("resume",)),
    "agent_prices": EntryTable(("prices",), PRICE_NAMES, is_record=True),
    "compaction_prompts": EntryTable(("compaction", "prompts")),
    "workflow_modes": EntryTable(("workflows",)),
}
_MODE_FIELD = "mode"
"""The mode of a workflow whose table has other settings: `[workflows.handle_usage_limits] mode = "on"`."""


class LayoutProblem(ValueError):
    """A key of the file is unknown, set twice, or has lines that cannot be parsed."""

    def __init__(self, key: TomlKey, message: str):
        super().__init__(message)
        self.key = key


class FlatSettings(Struct, frozen=True):
    """The values of a file by setting; ``keys`` are their places in it, ``old_forms`` those of lists of lines."""

    values: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, list[TomlKey]] = field(default_factory=dict)
    old_forms: dict[str, TomlKey] = field(default_factory=dict)


class SettingKey(Struct, frozen=True):
    """What a dotted key names: a setting, or one entry of it, or one field of that."""

    name: str
    entry: str = ""
    field: str = ""


class FileLayout:
    """The places of the settings with these names."""

    def __init__(self, names: Iterable[str]):
        self._places = {name: _choose_place(name) for name in names if name not in ENTRY_TABLES}
        self._names = {place: name for name, place in self._places.items()}

    def get_place(self, name: str) -> TomlKey:
        """Return the key of a setting, or the table of its entries."""
        return self._places[name] if name in self._places else ENTRY_TABLES[name].table

    def flatten(self, tree: Mapping[str, Any]) -> FlatSettings:
        """Return the values of a parsed file by setting. Raises LayoutProblem."""
        flat = FlatSettings()
        for key, value in tree.items():
            self._read(flat, (key,), value)
        return flat

    def find_key(self, text: str) -> SettingKey | None:
        """Return what a name such as `retention`, `storage.retention` or `agents.aider.command` stands for."""
        normalized = text.replace("-", "_").lower()
        if normalized in self._places or normalized in ENTRY_TABLES:
            return SettingKey(normalized)
        words = tuple(text.replace('"', "").split("."))
        return self._find_setting(words) or self._find_entry(words) or self._find_record(words)

    def list_entry_values(self, name: str, value: Mapping[str, Any]) -> Iterator[tuple[TomlKey, Any]]:
        """Yield the key and the value of each entry, or of each field of it, as they are written to the file."""
        layout = ENTRY_TABLES[name]
        for entry, content in msgspec.to_builtins(value).items():
            if layout.is_record:
                yield from (((*layout.table, entry, name), item) for name, item in content.items())
            else:
                yield (*layout.table, entry, *layout.fields), content

    def write_setting(self, text: str, flat: FlatSettings, name: str, value: Any) -> str:
        """Return the text of a file with a setting or all of its entries; ``flat`` is what the text has now."""
        if name not in ENTRY_TABLES:
            (key,) = flat.keys.get(name) or [self._places[name]]
            return set_value(_make_room(text, key), key, format_toml_value(value))
        new = dict(self.list_entry_values(name, value))
        old = dict(self.list_entry_values(name, flat.values.get(name, {})))
        for key in flat.keys.get(name, ()):
            text = text if key in new else unset_value(text, key)
        for key, item in new.items():
            if old.get(key) != item or key not in flat.keys.get(name, ()):
                free_key = (*key, _MODE_FIELD) if _has_table(text, key) and name == "workflow_modes" else key
                text = set_value(text, free_key, format_toml_value(item))
        return text

    def remove_setting(self, text: str, flat: FlatSettings, key: SettingKey) -> str:
        """Return the text of a file without a setting, or without an entry or field of it."""
        if not key.entry:
            for place in flat.keys.get(key.name, ()):
                text = unset_value(text, place)
            return text
        if key.entry not in flat.values.get(key.name, {}):
            return text
        entries = flat.values[key.name]
        content = {name: item for name, item in entries[key.entry].items() if name != key.field} if key.field else {}
        rest = {name: item for name, item in entries.items() if name != key.entry}
        return self.write_setting(text, flat, key.name, rest | ({key.entry: content} if content else {}))

    def render_entries(self, name: str, value: Mapping[str, Any]) -> str:
        """Return the entries of a setting as they are in the file."""
        text = ""
        for key, item in self.list_entry_values(name, value):
            text = set_value(text, key, format_toml_value(item))
        return text

    def suggest(self, key: TomlKey) -> str:
        """Return a hint with the known key that is closest to an unknown one."""
        siblings = {place[-1] for place in self._names if place[:-1] == key[:-1]} | {
            name for layout in ENTRY_TABLES.values() if key[:-2] == layout.table for name in layout.fields
        }
        if near := find_close_matches(key[-1], siblings):
            return f"did you mean {near[0]}?"
        places = {name: format_key(place) for name, place in self._places.items()}
        if key[-1] in places:
            return f"did you mean {places[key[-1]]}?"
        if near := find_close_matches(key[-1], places) or find_close_matches("_".join(key), places):
            return f"did you mean {places[near[0]]}?"
        return "`visor config show --effective` lists the settings"

    def _read(self, flat: FlatSettings, key: TomlKey, value: Any) -> None:
        found = self._find_setting(key) or self._find_entry(key, is_table=isinstance(value, dict))
        if found is None and not isinstance(value, dict):
            table = f" in [{format_key(key[:-1])}]" if key[:-1] else ""
            raise LayoutProblem(key, f"unknown key {key[-1]!r}{table}; {self.suggest(key)}")
        if found is None:
            for name, item in value.items():
                self._read(flat, (*key, name), item)
        elif found.entry:
            if found.name == "workflow_modes" and value not in WORKFLOW_MODES:
                choices = ", ".join(WORKFLOW_MODES)
                raise LayoutProblem(
                    key, f"{format_key(key)}: {value!r:.50} is no mode ({choices}); {self.suggest(key)}"
                )
            _put_entry(flat, found, value, key)
        elif found.name in ENTRY_TABLES:
            for entry, item in _parse_entries(flat, found.name, value, key).items():
                _put_entry(flat, SettingKey(found.name, entry), item, key)
        elif found.name in flat.values:
            raise LayoutProblem(key, f"{found.name} is set twice, in its table and by its full name")
        else:
            flat.values[found.name] = value
            flat.keys[found.name] = [key]

    def _find_setting(self, key: TomlKey) -> SettingKey | None:
        """Return the setting at its place, at the top level, or in a table named like its prefix."""
        joined = "_".join(key)
        name = self._names.get(key) or (joined if joined in self._places or joined in ENTRY_TABLES else None)
        return None if name is None else SettingKey(name)

    def _find_record(self, key: TomlKey) -> SettingKey | None:
        """Return the entry whose fields are set together: `prices.claude-*`."""
        for name, layout in ENTRY_TABLES.items():
            rest = key[len(layout.table) :]
            is_inside = layout.is_record and key[: len(layout.table)] == layout.table and rest
            if is_inside and not (len(rest) > 1 and find_close_matches(rest[-1], layout.fields)):
                return SettingKey(name, ".".join(rest))
        return None

    def _find_entry(self, key: TomlKey, is_table: bool = False) -> SettingKey | None:
        for name, layout in ENTRY_TABLES.items():
            rest = key[len(layout.table) :]
            if key[: len(layout.table)] != layout.table or not rest:
                continue
            # The name of an entry may contain dots: `prices.gpt-4.1.input`.
            entry, last = ".".join(rest[:-1]), rest[-1]
            if entry and last in layout.fields:
                return SettingKey(name, entry, last if layout.is_record else "")
            if entry and name == "workflow_modes" and last == _MODE_FIELD:
                return SettingKey(name, entry)
            if not layout.fields and not is_table and len(rest) == 1:
                return SettingKey(name, last)
        return None


def _has_table(text: str, key: TomlKey) -> bool:
    statements = split_statements(text)
    return any(part.key[: len(key)] == key and (part.is_header or part.key != key) for part in statements)


def _make_room(text: str, key: TomlKey) -> str:
    """Turn the mode of a workflow (`handle_usage_limits = "on"`) into a field of its table, if the key is in that."""
    mode = next((part for part in split_statements(text) if part.key == key[:-1] and not part.is_header), None)
    if mode is None or key[0] != "workflows":
        return text
    value = mode.text.partition("=")[2].strip()
    return set_value(unset_value(text, key[:-1]), (*key[:-1], _MODE_FIELD), value)


def _choose_place(name: str) -> TomlKey:
    for section, names in _SECTIONS.items():
        if name in names:
            return (*section.split("."), name)
    for prefix, section in _PREFIXES.items():
        if name.startswith(prefix):
            return (*section.split("."), name.removeprefix(prefix))
    return (name,)


def _parse_entries(flat: FlatSettings, name: str, value: Any, key: TomlKey) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        raise LayoutProblem(key, f"{name}: expected a table, got {value!r:.100}")
    try:
        entries = parse_lines(name, value)
    except ValueError as error:
        raise LayoutProblem(key, f"{name}: {error}") from error
    flat.old_forms[name] = key
    flat.keys.setdefault(name, []).append(key)
    flat.values.setdefault(name, {})
    return entries


def _put_entry(flat: FlatSettings, found: SettingKey, value: Any, key: TomlKey) -> None:
    entries = flat.values.setdefault(found.name, {})
    if found.field:
        target, slot = entries.setdefault(found.entry, {}), found.field
    else:
        target, slot = entries, found.entry
    if slot in target:
        raise LayoutProblem(key, f"{found.name}: {found.entry!r} is set twice")
    target[slot] = value
    keys = flat.keys.setdefault(found.name, [])
    keys += [key] if key not in keys else []


def parse_lines(name: str, lines: Iterable[Any]) -> dict[str, Any]:
    """Return the entries of a setting from lines of the earlier form. Raises ValueError with the line and problem."""
    if invalid := [line for line in lines if not isinstance(line, str)]:
        raise ValueError(f"{invalid[0]!r:.100} is not a text")
    if name == "agent_programs":
        entries: dict[str, Any] = msgspec.to_builtins(parse_program_lines(lines))
        return entries
    parsers: dict[str, Callable[[str], tuple[str, Any]]] = {
        "agent_prices": parse_price_line,
        "agent_resume": parse_resume_line,
        "compaction_prompts": parse_compaction_line,
        "workflow_modes": parse_mode_entry,
    }
    entries = {}
    for line in lines:
        try:
            entry, value = parsers[name](line)
        except ValueError as error:
            raise ValueError(f"{line[:200]!r} {error}") from error
        # Of two prices or commands the first counted, of two prompts or modes the last.
        if entry not in entries or name in ("compaction_prompts", "workflow_modes"):
            entries[entry] = msgspec.to_builtins(value)
    return entries
