"""Generate the reference pages and JSON Schemas from the declarations.

`python -m termvisor.ops.docs.reference_pages [--check] <root>` writes them below the root, or lists stale ones.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from termvisor.detection.packs import load_packs
from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.errors import list_error_classes
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.policy import COMMAND_CLASSES, DEFAULT_ALLOWED_RISKS, EXAMPLE_POLICY
from termvisor.model.action.policy_hook import HookInput, HookReply
from termvisor.model.action.policy_keys import list_policy_keys
from termvisor.model.action.readonly_program import READONLY_PROGRAMS
from termvisor.model.event import EVENT_KINDS, EVENT_TYPES
from termvisor.ops.api import catalog, schema
from termvisor.ops.api.arguments import GLOBAL_OPTIONS_HELP, describe_arguments, render_usage
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.tool_catalog import build_tool_list
from termvisor.ops.config._settings import format_place
from termvisor.ops.docs.typescript import render_types
from termvisor.ops.panes.list_gaps import GAP_CAUSE_TEXTS
from termvisor.redaction import list_kinds
from termvisor.settings import list_settings
from termvisor.settings_file.toml_document import format_toml_value

GENERATED_DIRS = ("docs/reference", "docs/json-schema")
TOOL_LIST_PATH = "src/termvisor/frontends/mcp/tools.json"
"""What `visor mcp` offers, so that it need not import the operations."""
_RELOAD_COMMAND = "visor config reload"
_EFFECT_TEXTS = {"read": "Read-only.", "change": "Changes something.", "local": "Runs in the client, without a daemon."}


def build_pages() -> dict[str, str]:
    """Return every generated file: path below the root, and text."""
    ops = catalog.load_all_operations()
    pages = {f"docs/reference/ops/{op.name}.md": _render_operation_page(op) for op in ops}
    pages |= {
        f"docs/reference/{name}.md": text
        for name, text in (
            _build_declaration_pages(ops) | _build_list_pages() | _build_policy_page() | _build_rules_page()
        ).items()
    }
    for op in ops:
        pages[f"docs/json-schema/{op.name}.input.json"] = _encode_json(schema.build_input_schema(op))
        pages[f"docs/json-schema/{op.name}.output.json"] = _encode_json(schema.build_output_schema(op))
    pages["docs/json-schema/policy_hook.input.json"] = _encode_json(schema.build_schema(HookInput, "policy_hook.input"))
    pages["docs/json-schema/policy_hook.output.json"] = _encode_json(
        schema.build_schema(HookReply, "policy_hook.output")
    )
    pages[TOOL_LIST_PATH] = _encode_json(build_tool_list())
    pages["docs/json-schema/envelope.json"] = _encode_json(schema.build_envelope_schema())
    pages["docs/json-schema/types.d.ts"] = render_types(ops)
    return pages


_SETTINGS_INTRODUCTION = (
    "Set them with `visor config set`, in `config.toml` (`visor config path` shows its location), or in the"
    " environment, which has precedence. In the file a setting has the key of the second column: `storage.retention` is"
    ' `retention` in the table `[storage]`. A number may be a text with a unit: `"7d"`, `"90s"`, `"20GB"`. A table has'
    " one line per entry in the environment. The last column is the command that applies a changed value."
)


def _build_declaration_pages(ops: Sequence[Operation]) -> dict[str, str]:
    """Render the pages of operations, settings and errors."""
    return {
        "ops": _render_page(
            "Operations",
            "All operations. Each is a command, a robot command with JSON output, and a method of the Python client.",
            ("command", "robot", "description"),
            [
                (f"[{op.command}](ops/{op.name}.md)", _format_code(op.robot_name or op.command), op.summary)
                for op in ops
            ],
        ),
        "settings": _render_page(
            "Settings",
            _SETTINGS_INTRODUCTION,
            ("setting", "key", "environment", "type", "default", "description", "applied by"),
            [
                (
                    _format_code(r.name),
                    _format_code(format_place(r)),
                    _format_code(r.env),
                    _format_code(f"table; {r.line}" if r.line else r.type),
                    _format_code(format_toml_value(r.default)),
                    r.doc,
                    _format_code(r.restart or _RELOAD_COMMAND),
                )
                for r in list_settings()
            ],
        ),
        "errors": _render_page(
            "Errors",
            "Codes never change their meaning. Programs read `error.code`, shells the exit status.",
            ("code", "exit status", "meaning", "what to do"),
            [
                (_format_code(e.code), str(e.exit_status), " ".join((e.__doc__ or "").split()), e.hint)
                # Of the classes with the same code, the last one in the tree is raised.
                for e in {error.code: error for error in list_error_classes()}.values()
            ],
        ),
    }


def _build_list_pages() -> dict[str, str]:
    """Render the pages of events, gaps, checks and secrets."""
    return {
        "events": _render_page(
            "Events",
            "The kinds of events that `visor events` lists and `visor watch-events` follows. Those with a dot in their"
            " name are detections, from rules and agents. Rules may add more kinds.",
            ("kind", "meaning"),
            [(_format_code(kind), text) for kind, text in {**EVENT_KINDS, **EVENT_TYPES}.items()],
        ),
        "gaps": _render_page(
            "Gaps",
            "Output that could not be captured is recorded as a gap with one of these causes.",
            ("cause", "meaning"),
            [(_format_code(cause), text) for cause, text in GAP_CAUSE_TEXTS.items()],
        ),
        "checks": _render_page(
            "Checks",
            "The checks of `visor doctor`.",
            ("check", "what it verifies"),
            [(_format_code(check.name), check.doc) for check in BUILTIN_CHECKS],
        ),
        "secrets": _render_page(
            "Secrets",
            "Secrets that are redacted before text is stored, shown or logged. The setting `redact_allow` excludes a"
            " kind, `redact_patterns` adds your own patterns.",
            ("kind", "what it matches", "over wrapped lines"),
            [(_format_code(kind.name), kind.doc, "yes" if kind.wrapped else "") for kind in list_kinds()],
        ),
    }


def _build_rules_page() -> dict[str, str]:
    """Render the built-in rules, one table per pack."""
    packs = load_packs()
    # Rule packs of the user who generates the pages must not appear in them.
    builtin = [pack for pack in packs.packs if pack.origin == "builtin"]
    intro = (
        "The rules of the built-in packs. `visor rules show <id>` shows a rule with its pattern and test cases;"
        " [the guide](../guides/rules.md) explains how to write, change and disable rules."
    )
    names = ("rule", "agent", "scope", "severity", "event or state", "remedy", "why")
    parts = ["# Rules", intro]
    for pack in builtin:
        rows = [
            (
                _format_code(rule.id),
                rule.agent,
                rule.scope,
                rule.severity,
                _format_code(rule.event or rule.state or rule.flag or "screen"),
                _format_code(rule.remedy) if rule.remedy else "",
                rule.why,
            )
            for rule in packs.rules
            if rule.pack == pack.name
        ]
        parts.append(f"## {pack.name} {pack.version}\n\n{pack.description}\n\n{_render_table(names, rows)}")
    return {"rules": "\n\n".join(parts) + "\n"}


_POLICY_INTRO = """\
The policy decides who may execute which actions, where and when. The file is `policy.toml` in the config folder;
without it the defaults below apply. An unknown key or invalid value is an error that names the line, and the whole file
is rejected.

Every action is checked by several sources: the deny list, hooks, rules, command classes, capabilities (`shell`,
`filesystem`, `network`, …), protected panes, quiet hours and rate limits. **The strictest answer wins**, and all
reasons are recorded.

- `allow` by a rule replaces the default, and the `ask` of a command class that the rule names; if it names programs,
  also the `ask` of `unknown_effect`. It does so only where all of its conditions match. It overrides nothing else, so
  an `ask` or `deny` rule never makes an answer less strict. Text that cannot be parsed (`unparsed`) or is
  invisible (`hidden_text`) requires at least approval, whatever the file says.
- `allow` by a hook overrides nothing. A hook that crashes, times out or could not be called counts as `deny`.
- `~/.ssh`, `~/.gnupg` and Termvisor's own config, policy and data are never written to, whatever the file says.
  Symbolic links are resolved before the check, except inside command lines.
- A program is harmless only if it is known to be. A table declares which programs, verbs and options only read, and
  what the others do. All else (scripts, build tools, editors, an option that the table does not list) has the class
  `unknown_effect`. `--help`, `--version` and dry runs of known programs are harmless.
- Commands are classified by their structure, through quotes, wrappers (`sudo`, `env`, `xargs`, `ssh host`, `bash -c`,
  …), pipes into a shell and here-documents. Commands that cannot be parsed, or are known only at run time, require
  approval. Aliases, functions and scripts defined elsewhere are not inspected."""


def _build_policy_page() -> dict[str, str]:
    kinds_by_risk = {
        risk: ", ".join(_format_code(kind) for kind, kind_risk in RISK_BY_ACTION_KIND.items() if kind_risk == risk)
        for risk in RISK_BY_ACTION_KIND.values()
    }
    default_answers = {
        risk: [
            "allow" if risk in DEFAULT_ALLOWED_RISKS[caller] else _format_code("approval.default")
            for caller in ("human", "others")
        ]
        for risk in kinds_by_risk
    }
    parts = [
        "# Policy",
        _POLICY_INTRO,
        f"## Example\n\n```toml\n{EXAMPLE_POLICY}```",
        "## Keys\n\n"
        + _render_table(
            ("key", "type", "default", "description"),
            [
                (_format_code(k.path), k.type, _format_code(k.default) if k.default else "", k.doc)
                for k in list_policy_keys()
            ],
        ),
        "## Defaults\n\n"
        + _render_table(
            ("risk", "kinds of actions", "users", "other callers"),
            [(risk, kinds, *default_answers[risk]) for risk, kinds in kinds_by_risk.items()],
        )
        + "\n\nClosing a pane and the signals KILL and QUIT are destructive; a notification in the terminal or on the"
        " desktop is reversible. By default every caller may notify through all configured channels. Notifications"
        " never request approval: if the policy says `ask`, none is sent. `run_program` is read-only for these"
        f" programs: {_format_readonly_programs()}. They never request approval either; others are not supported yet.",
        "## Command classes\n\n"
        + _render_table(
            ("class", "a command line that", "users", "other callers"),
            [(_format_code(c.name), c.text, c.human, c.others) for c in COMMAND_CLASSES.values()],
        ),
    ]
    return {"policy": "\n\n".join(parts) + "\n"}


def _render_operation_page(op: Operation) -> str:
    names = [_format_code(f"visor {op.command}"), *(_format_code(f"visor {alias}") for alias in op.aliases)]
    names += [_format_code(f"visor robot {op.robot_name}")] if op.robot_name else []
    parts = [
        f"# {op.command}",
        op.summary,
        op.doc,
        f"Also {', '.join(names[1:])}. {_EFFECT_TEXTS[op.effect]}" if names[1:] else _EFFECT_TEXTS[op.effect],
    ]
    parts.append(f"```sh\nvisor {render_usage(op.command, op.args_type)}\n```")
    if arguments := describe_arguments(op.args_type):
        rows = [(_format_code(syntax), text) for syntax, text in arguments]
        parts.append("## Arguments\n\n" + _render_table(("argument", "description"), rows))
    parts.append(
        "## Global options\n\n"
        + _render_table(("option", "description"), [(_format_code(a), b) for a, b in GLOBAL_OPTIONS_HELP])
    )
    if op.exit_statuses:
        exits = [(str(status), text) for status, text in op.exit_statuses]
        parts.append("## Exit status\n\n" + _render_table(("status", "meaning"), exits))
    examples = [f"visor {item.command_line}".rstrip() + f"  # {item.description}" for item in op.examples]
    parts.append("## Examples\n\n```sh\n" + "\n".join(examples) + "\n```")
    schemas = f"../../json-schema/{op.name}"
    stream = " A stream: JSON output is one object per line." if op.is_stream else ""
    parts.append(f"Schemas: [input]({schemas}.input.json), [output]({schemas}.output.json).{stream}")
    return "\n\n".join(parts) + "\n"


def _render_page(title: str, text: str, headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return f"# {title}\n\n{text}\n\n{_render_table(headers, rows)}\n"


def _render_table(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    rule = "|" + "---|" * len(headers)
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(headers) + " |", rule, *body])


def _format_code(text: str) -> str:
    return f"`{text}`"


def _format_readonly_programs() -> str:
    return ", ".join(_format_code(program.usage) for program in READONLY_PROGRAMS)


def _encode_json(value: dict[str, Any]) -> str:
    # Sorted, because the generated files are compared with the committed ones byte by byte.
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2).decode() + "\n"


def find_stale_pages(root: str) -> list[str]:
    """Return the paths of pages that are missing, differ, or are no longer generated."""
    pages = build_pages()
    changed = [path for path, text in pages.items() if _read_page(Path(root, path)) != text]
    existing = [page for folder in GENERATED_DIRS for page in Path(root, folder).rglob("*") if page.is_file()]
    return sorted([*changed, *{str(page.relative_to(root)) for page in existing} - pages.keys()])


def _read_page(page: Path) -> str | None:
    return page.read_text(encoding="utf-8") if page.exists() else None


def write_pages(root: str) -> None:
    """Update the pages below the root, and remove those that are no longer generated."""
    pages = build_pages()
    for path in find_stale_pages(root):
        page = Path(root, path)
        if path not in pages:
            page.unlink()
            continue
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(pages[path], encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    root = next((word for word in argv if not word.startswith("-")), ".")
    if "--check" not in argv:
        write_pages(root)
        return 0
    stale = find_stale_pages(root)
    sys.stderr.writelines(f"stale: {path}\n" for path in stale)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
