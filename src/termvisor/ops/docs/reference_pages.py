"""The generated pages: the reference and the JSON Schemas, from the declarations themselves.

`python -m termvisor.ops.docs.reference_pages [--check] <root>` writes them below the root, or says which are stale.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from termvisor.detection.packs import load_packs
from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.errors import list_error_classes
from termvisor.model.action.action import RISK_BY_ACTION_KIND
from termvisor.model.action.policy import COMMAND_CLASSES, DEFAULT_ALLOWED_RISKS, EXAMPLE_POLICY
from termvisor.model.action.policy import list_policy_keys as policy_keys
from termvisor.model.action.readonly_program import READONLY_PROGRAMS
from termvisor.model.event import EVENT_KINDS
from termvisor.model.event_types import EVENT_TYPES
from termvisor.ops.api import catalog, schema
from termvisor.ops.api.arguments import describe_arguments, render_usage
from termvisor.ops.api.global_options import GLOBAL_OPTIONS_HELP
from termvisor.ops.api.operation import Operation
from termvisor.ops.config._settings import format_toml_value
from termvisor.ops.docs.typescript import render_types
from termvisor.ops.panes.list_gaps import GAP_CAUSE_TEXTS
from termvisor.redaction import list_kinds
from termvisor.settings import list_settings

GENERATED_DIRS = ("docs/reference", "docs/json-schema")
_RELOAD_COMMAND = "visor config reload"
_EFFECT_TEXTS = {
    "read": "Looks only.",
    "change": "Changes something.",
    "local": "Answered by the program itself, without a daemon.",
}


def build_pages() -> dict[str, str]:
    """Every generated file: path below the root, and text."""
    ops = catalog.load_all_operations()
    found = {f"docs/reference/ops/{op.name}.md": _render_operation_page(op) for op in ops}
    found |= {
        f"docs/reference/{name}.md": text
        for name, text in (
            _build_declaration_pages(ops) | _build_list_pages() | _build_policy_page() | _build_rules_page()
        ).items()
    }
    for op in ops:
        found[f"docs/json-schema/{op.name}.input.json"] = _encode_json(schema.build_input_schema(op))
        found[f"docs/json-schema/{op.name}.output.json"] = _encode_json(schema.build_output_schema(op))
    found["docs/json-schema/envelope.json"] = _encode_json(schema.build_envelope_schema())
    found["docs/json-schema/types.d.ts"] = render_types(ops)
    return found


def _build_declaration_pages(ops: Sequence[Operation]) -> dict[str, str]:
    """What people call, set and meet."""
    return {
        "ops": _render_page(
            "Operations",
            "Everything Termvisor can do. Each is a command, a robot command with JSON answers, and a call of the"
            " Python client.",
            ("command", "robot", "what it does"),
            [
                (f"[{op.command}](ops/{op.name}.md)", _format_code(op.robot_name or op.command), op.summary)
                for op in ops
            ],
        ),
        "settings": _render_page(
            "Settings",
            "Set by `visor config set`, in `config.toml` (`visor config path` shows where), or in the environment, "
            "which wins. The last column says what makes a running daemon take over a changed value.",
            ("setting", "environment", "type", "default", "meaning", "taken over by"),
            [
                (
                    _format_code(r.name),
                    _format_code(r.env),
                    _format_code(r.type),
                    _format_code(format_toml_value(r.default)),
                    r.doc,
                    _format_code(r.restart or _RELOAD_COMMAND),
                )
                for r in list_settings()
            ],
        ),
        "errors": _render_page(
            "Errors",
            "A code never changes its meaning. Machines read `error.code`, shells the exit status.",
            ("code", "exit status", "meaning", "what to do"),
            [(_format_code(e.code), str(e.exit_status), _join_lines(e.__doc__), e.hint) for e in _list_errors()],
        ),
    }


def _build_list_pages() -> dict[str, str]:
    """The closed lists."""
    return {
        "events": _render_page(
            "Events",
            "The kinds of stored facts that `visor events` lists and `visor watch-events` follows. Those with a"
            " point in their name are detections: what rules found and agents told. Rules may bring more.",
            ("kind", "meaning"),
            [(_format_code(kind), text) for kind, text in {**EVENT_KINDS, **EVENT_TYPES}.items()],
        ),
        "gaps": _render_page(
            "Gaps",
            "What could not be captured is recorded with one of these causes; the list is closed.",
            ("cause", "meaning"),
            [(_format_code(cause), text) for cause, text in GAP_CAUSE_TEXTS.items()],
        ),
        "checks": _render_page(
            "Checks",
            "What `visor doctor` looks at.",
            ("check", "what must be right"),
            [(_format_code(check.name), check.doc) for check in BUILTIN_CHECKS],
        ),
        "secrets": _render_page(
            "Secrets",
            "What is taken out of text before it is stored, shown or logged. The setting `redact_allow` leaves a kind"
            " alone, `redact_patterns` adds your own.",
            ("kind", "what it finds", "over wrapped rows"),
            [(_format_code(kind.name), kind.doc, "yes" if kind.wrapped else "") for kind in list_kinds()],
        ),
    }


def _build_rules_page() -> dict[str, str]:
    """Our own rules, a table for each pack."""
    packs = load_packs()
    own = [pack for pack in packs.packs if pack.origin == "builtin"]
    intro = (
        "What texts mean, in the packs that come with the product. `visor rules show <id>` shows one with its pattern"
        " and its proofs; how to write, change and switch off rules is in [the guide](../guides/rules.md)."
    )
    names = ("rule", "agent", "scope", "severity", "event or state", "remedy", "why")
    parts = ["# Rules", intro]
    for pack in own:
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
Who may do what, where and when. The file is `policy.toml` in the config folder; without it the defaults below hold. An
unknown key or a wrong value is an error that names the line, and nothing of the file is taken over.

Every action is judged by many voices: the deny list, hooks, rules, command classes, capabilities (`shell`,
`filesystem`, `network`, …), protected panes, quiet hours and rates. **The strictest answer wins**, and every reason is
kept.

- `allow` by a rule stands in for the default, and for the `ask` of a command class that the rule names. It lifts
  nothing else, so an `ask` or `deny` rule never makes an answer milder. What cannot be read (`unparsed`) or seen
  (`hidden_text`) is asked about at least, whatever the file says.
- A hook's `allow` lifts nothing. A hook that crashes, times out or was not asked is a `deny`.
- `~/.ssh`, `~/.gnupg` and Termvisor's own config, policy and data are never written to, whatever the file says. Links
  are followed before the judge is asked, except inside command lines.
- Commands are told by their structure: quotes, wrappers (`sudo`, `env`, `xargs`, `ssh host`, `bash -c`, …), pipes into
  a shell and here-documents are seen through. What cannot be read, or is known only when it runs, is asked about.
  Aliases, functions and scripts that stand elsewhere are not looked into."""


def _build_policy_page() -> dict[str, str]:
    kinds_of = {
        risk: ", ".join(_format_code(kind) for kind, one in RISK_BY_ACTION_KIND.items() if one == risk)
        for risk in RISK_BY_ACTION_KIND.values()
    }
    free = {
        risk: [
            "allow" if risk in DEFAULT_ALLOWED_RISKS[who] else _format_code("approval.default")
            for who in ("human", "others")
        ]
        for risk in kinds_of
    }
    parts = [
        "# Policy",
        _POLICY_INTRO,
        f"## Example\n\n```toml\n{EXAMPLE_POLICY}```",
        "## Keys\n\n"
        + _render_table(
            ("key", "type", "default", "meaning"),
            [
                (_format_code(k.path), k.type, _format_code(k.default) if k.default else "", k.doc)
                for k in policy_keys()
            ],
        ),
        "## When nothing else speaks\n\n"
        + _render_table(
            ("risk", "kinds of actions", "a person", "everybody else"),
            [(risk, kinds, *free[risk]) for risk, kinds in kinds_of.items()],
        )
        + "\n\nClosing a pane and the signals KILL and QUIT are destructive; a notification in the terminal or on the"
        " desktop is reversible. Where nothing else speaks, everybody may notify by every way that the settings set up;"
        " nobody is ever asked about a notification: where the policy says ask, nobody is told. `run_program` is a look"
        f" where it is one of these: {_format_lookups()}. Nobody is asked about such a look either, and no other program is"
        " run by this kind yet.",
        "## Command classes\n\n"
        + _render_table(
            ("class", "a command line that", "a person", "everybody else"),
            [(_format_code(one.name), one.text, one.human, one.others) for one in COMMAND_CLASSES.values()],
        ),
    ]
    return {"policy": "\n\n".join(parts) + "\n"}


def _list_errors() -> list[Any]:
    """One class a code: the last in the tree that has it is the one that is raised."""
    return list({error.code: error for error in list_error_classes()}.values())


def _render_operation_page(op: Operation) -> str:
    names = [_format_code(f"visor {op.command}"), *(_format_code(f"visor {alias}") for alias in op.aliases)]
    names += [_format_code(f"visor robot {op.robot_name}")] if op.robot_name else []
    parts = [f"# {op.command}", op.summary, op.doc, f"Spelled {', '.join(names)}. {_EFFECT_TEXTS[op.effect]}"]
    parts.append(f"```sh\nvisor {render_usage(op.command, op.args_type)}\n```")
    if own := describe_arguments(op.args_type):
        parts.append(
            "## Arguments\n\n" + _render_table(("argument", "meaning"), [(_format_code(a), b) for a, b in own])
        )
    parts.append(
        "## Everywhere\n\n"
        + _render_table(("option", "meaning"), [(_format_code(a), b) for a, b in GLOBAL_OPTIONS_HELP])
    )
    if op.exit_statuses:
        exits = [(str(status), text) for status, text in op.exit_statuses]
        parts.append("## Exit status\n\n" + _render_table(("status", "meaning"), exits))
    shown = [f"visor {item.command_line}".rstrip() + f"  # {item.description}" for item in op.examples]
    parts.append("## Examples\n\n```sh\n" + "\n".join(shown) + "\n```")
    where = f"../../json-schema/{op.name}"
    stream = " A stream: in JSON one object a line." if op.is_stream else ""
    parts.append(f"Schemas: [input]({where}.input.json), [output]({where}.output.json).{stream}")
    return "\n\n".join(parts) + "\n"


def _render_page(title: str, text: str, headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return f"# {title}\n\n{text}\n\n{_render_table(headers, rows)}\n"


def _render_table(headers: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    rule = "|" + "---|" * len(headers)
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in rows]
    return "\n".join(["| " + " | ".join(headers) + " |", rule, *body])


def _format_code(text: str) -> str:
    return f"`{text}`"


def _format_lookups() -> str:
    return ", ".join(_format_code(one.usage) for one in READONLY_PROGRAMS)


def _join_lines(doc: str | None) -> str:
    return " ".join((doc or "").split())


def _encode_json(value: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2).decode() + "\n"


def find_stale_pages(root: str) -> list[str]:
    """Paths that are missing, differ, or should no longer be there."""
    wanted = build_pages()
    wrong = [path for path, text in wanted.items() if _read_file(os.path.join(root, path)) != text]
    return sorted([*wrong, *(path for path in _list_existing_pages(root) if path not in wanted)])


def write_pages(root: str) -> None:
    """Bring the pages below the root up to date, and remove those that are no longer generated."""
    wanted = build_pages()
    for path in find_stale_pages(root):
        full = os.path.join(root, path)
        if path not in wanted:
            os.unlink(full)
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(wanted[path])


def _list_existing_pages(root: str) -> list[str]:
    found = []
    for folder in GENERATED_DIRS:
        for place, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(place, name), root) for name in names]
    return found


def _read_file(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def main(argv: Sequence[str]) -> int:
    root = next((word for word in argv if not word.startswith("-")), ".")
    if "--check" not in argv:
        write_pages(root)
        return 0
    wrong = find_stale_pages(root)
    sys.stderr.writelines(f"stale: {path}\n" for path in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
