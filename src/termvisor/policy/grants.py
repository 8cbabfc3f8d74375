"""Describe what an action needs as capabilities, and compare them with those that a grant gives.

A capability is a text: `run <program>`, `read <dir>/**`, `write <dir>/**`, `host <name>` or `category <name>`. A grant
never covers an action that a class of commands, a protected pane or quiet hours make require approval.
"""

import posixpath
from collections.abc import Callable, Iterable, Sequence

from termvisor.model.action.action import (
    AnswerAgent,
    ExportUnredacted,
    PruneData,
    RestoreData,
    UpdateRecords,
    WriteConfig,
    WriteFile,
    get_action_kind,
)
from termvisor.model.action.approval import Verdict, VerdictReason
from termvisor.policy.path_rules import resolve_path
from termvisor.policy.request import PolicyRequest
from termvisor.policy.shell import CommandAnalysis

# Reasons to ask that concern this caller and kind of action, so that an earlier decision about both may answer them.
_GRANTABLE_SOURCES = ("default", "rule", "capability")
_NEVER_GRANTED_IDS = ("broken_policy",)
_CATEGORY_BY_VERB = {"run": "shell", "read": "filesystem", "write": "filesystem", "host": "network"}
_UNKNOWN_PROGRAM = "?"
# They name no program, folder or host: a grant for one setting would cover every other.
_ONCE_ONLY = (WriteConfig, PruneData, RestoreData, UpdateRecords, ExportUnredacted)


def list_capabilities(
    request: PolicyRequest,
    analysis: CommandAnalysis | None,
    verdict: Verdict,
    resolve_links: Callable[[str], str] = lambda path: path,
) -> tuple[str, ...]:
    """Return what a grant must give to cover this action; empty if no grant can cover it.

    ``resolve_links`` returns a path without symbolic links, which could lead out of a granted folder.
    """
    action = request.action
    if isinstance(action, _ONCE_ONLY) or not all(map(_is_grantable, verdict.reasons)):
        return ()
    if analysis is not None:
        return _list_command_capabilities(analysis, resolve_links)
    written = (action.path,) if isinstance(action, WriteFile) else getattr(action, "writes", ())
    if written:
        paths = (resolve_path(path, request.scope) for path in written)
        return _list_folder_capabilities("write", paths, resolve_links)
    kind = get_action_kind(action)
    return (f"category {kind}/{action.tool}" if isinstance(action, AnswerAgent) else f"category {kind}",)


def widen_to_categories(capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return the categories that these capabilities belong to."""
    return tuple(dict.fromkeys(_get_category(capability) for capability in capabilities))


def is_covered(granted: Sequence[str], needed: Sequence[str]) -> bool:
    """Return True if every needed capability is covered by a granted one. Nothing needed is never covered."""
    return bool(needed) and all(any(_is_capability_covered(grant, need) for grant in granted) for need in needed)


def _is_grantable(reason: VerdictReason) -> bool:
    is_soft = reason.source in _GRANTABLE_SOURCES and reason.id not in _NEVER_GRANTED_IDS and not reason.two_person
    return reason.answer == "allow" or (reason.answer == "ask" and is_soft)


def _list_command_capabilities(analysis: CommandAnalysis, resolve_links: Callable[[str], str]) -> tuple[str, ...]:
    programs = dict.fromkeys(analysis.programs)
    # An unknown program could be any program, so it cannot be named in a grant.
    if not programs or _UNKNOWN_PROGRAM in programs:
        return ()
    reads = _list_folder_capabilities("read", analysis.reads, resolve_links)
    writes = _list_folder_capabilities("write", (*analysis.writes, *analysis.removes), resolve_links)
    if (analysis.reads and not reads) or ((analysis.writes or analysis.removes) and not writes):
        return ()
    hosts = (f"host {host}" for host in dict.fromkeys(analysis.hosts))
    return (*(f"run {program}" for program in programs), *reads, *writes, *hosts)


def _list_folder_capabilities(verb: str, paths: Iterable[str], resolve_links: Callable[[str], str]) -> tuple[str, ...]:
    """Return a capability for the folder of each path; empty if a path is relative to an unknown folder or a glob."""
    folders: dict[str, None] = {}
    for path in paths:
        folder = posixpath.dirname(resolve_links(path) if path.startswith("/") else path)
        if not path.startswith("/") or any(sign in folder for sign in "*?[") or folder == "/":
            return ()
        folders[f"{verb} {folder}/**"] = None
    return tuple(folders)


def _is_capability_covered(granted: str, needed: str) -> bool:
    if granted in (needed, _get_category(needed)):
        return True
    verb, _, folder = granted.partition(" ")
    needed_verb, _, needed_folder = needed.partition(" ")
    is_folder = granted.endswith("/**") and needed.endswith("/**")
    return is_folder and verb == needed_verb and needed_folder.startswith(folder.removesuffix("**"))


def _get_category(capability: str) -> str:
    verb, _, rest = capability.partition(" ")
    return f"category {_CATEGORY_BY_VERB.get(verb, rest)}"
