"""Check an action against the user's policy: run hooks, evaluate rules, enforce rate limits.

The policy file is reloaded when it changes. Invariant: a policy that cannot be read allows nothing.

A hook gets one JSON object on stdin and prints one: ``decision`` (allow, deny or modify), ``reason``, and for modify
the ``action`` to run instead. A crash, a timeout or an invalid answer counts as deny.
"""

import os
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import PaneSnapshot, list_typing_clients
from termvisor.clock import Clock, compute_local_time
from termvisor.errors import ConfigError
from termvisor.log import get_logger
from termvisor.model.action.action import (
    CLEAR_INPUT_KEYS,
    Action,
    Actor,
    AnswerAgent,
    SendJobInput,
    SendKeys,
    SendText,
    assess_risk,
    get_action_kind,
)
from termvisor.model.action.approval import Verdict, VerdictReason, combine_reasons
from termvisor.model.action.policy import Policy, PolicyHook
from termvisor.model.action.policy_hook import HookInput, HookReply, PaneContext
from termvisor.policy.evaluator import analyze_request, count_in_windows, evaluate_request, explain_verdict
from termvisor.policy.grants import list_capabilities
from termvisor.policy.path_rules import PathScope
from termvisor.policy.policy_file import parse_policy
from termvisor.policy.request import HookAnswer, LocalTime, PolicyRequest, RateWindow
from termvisor.redaction import redact
from termvisor.system.files import find_trust_problem, open_regular_file
from termvisor.system.subprocesses import run_isolated

_MAX_ANSWER_BYTES = 1 << 20
log, hook_log = get_logger("policy"), get_logger("hook")


class PolicyDecision(Struct, frozen=True, kw_only=True):
    """A verdict and the policy's settings for executing the action. ``action`` differs if a hook changed it."""

    action: Action
    verdict: Verdict
    actor: Actor | None = None
    place: PaneContext = PaneContext()
    needs: int = 1
    """The number of people who must approve the action, if approval is required."""
    expires_for: float = 600.0
    """Seconds until an approval request expires."""
    capabilities: tuple[str, ...] = ()
    """What a grant must give to cover the action; empty if it is always asked about, or need not be."""
    allows_unproven: bool = False
    allows_typing_beside_people: bool = False


class PolicyFile:
    """The user's policy, reloaded when the file changes.

    With an invalid file the previous policy stays in force, but allows nothing: the user may have meant to forbid it.
    Nor does a file that another user could have written.
    """

    def __init__(self, path: str):
        self.path = path
        self._file_stamp: tuple[int, int, str] | None = None
        self._policy: Policy | None = None
        self.problem = ""

    def get_current(self) -> Policy | None:
        """Return the policy; None if the file is invalid and no valid one was loaded before."""
        stamp = self._read_stamp()
        if stamp != self._file_stamp or self._policy is None:
            self._file_stamp = stamp
            self._reload()
        return self._policy

    def _read_stamp(self) -> tuple[int, int, str]:
        """Return what changes with the file: its time and size, and why it must not be trusted."""
        # Checked for every action, so that a new rule applies at once without a restart.
        distrust = find_trust_problem(self.path)
        try:
            status = os.stat(self.path)
        except OSError:
            return 0, 0, distrust  # a missing file is an empty policy
        return status.st_mtime_ns, status.st_size, distrust

    def _reload(self) -> None:
        if self._file_stamp is not None and (distrust := self._file_stamp[2]):
            self._policy = None
            self._report_problem(distrust)
            return
        try:
            with open(self.path, encoding="utf-8", opener=open_regular_file) as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            self._report_problem(f"{self.path} cannot be read: {error}")
            return
        try:
            self._policy, self.problem = parse_policy(text, self.path), ""
        except ConfigError as error:
            self._report_problem(error.message)

    def _report_problem(self, why: str) -> None:
        self.problem = f"the policy was not loaded: {why}"
        log.error(self.problem)


class PolicyChecker:
    def __init__(self, file: PolicyFile, scope: PathScope, clock: Clock):
        self.file, self._scope, self._clock = file, scope, clock
        self._windows: dict[str, RateWindow] = {}

    async def check(self, action: Action, actor: Actor, snapshot: PaneSnapshot | None) -> PolicyDecision:
        """Run the hooks and return the verdict. An action that is not denied counts towards the rate limits."""
        policy = self.file.get_current()
        if policy is None:
            return PolicyDecision(action=action, verdict=_build_deny_all(self.file.problem), actor=actor)
        place = build_policy_place(snapshot, self._clock.now())
        # Run hooks first, because their answers are among the reasons for the verdict.
        hooks = await run_hooks(policy.hooks, action, actor, place)
        request = self._build_request(action, actor, snapshot, hooks.answers)
        verdict = self._add_file_problem(evaluate_request(policy, request), action)
        if verdict.answer != "deny":
            # Denied actions do not count, or a loop of denials would keep its own limit exhausted.
            self._windows |= count_in_windows(policy, request)
        decision = _build_decision(hooks.action, actor, place, policy, verdict)
        return replace(decision, capabilities=_list_capabilities(request, verdict))

    async def preview(self, action: Action, actor: Actor, snapshot: PaneSnapshot | None) -> PolicyDecision:
        """Return the verdict without running hooks or counting towards rate limits."""
        policy = self.file.get_current()
        if policy is None:
            return PolicyDecision(action=action, verdict=_build_deny_all(self.file.problem), actor=actor)
        request = self._build_request(action, actor, snapshot, _assume_hook_answers(policy, action))
        verdict = self._add_file_problem(evaluate_request(policy, request), action)
        decision = _build_decision(action, actor, request.place, policy, verdict)
        return replace(decision, capabilities=_list_capabilities(request, verdict))

    def explain(self, action: Action, actor: Actor, snapshot: PaneSnapshot | None) -> list[str]:
        """Return the trace of the evaluation, one line per step."""
        policy = self.file.get_current()
        if policy is None:
            return [self.file.problem]
        request = self._build_request(action, actor, snapshot, _assume_hook_answers(policy, action))
        return [*explain_verdict(policy, request), *filter(None, (self.file.problem,))]

    async def report_outcome(self, decision: PolicyDecision, status: str, why: str) -> None:
        """Report the outcome to the hooks that asked for it. They cannot change it."""
        policy = self.file.get_current()
        if policy is None or decision.actor is None:
            return
        hook_input = HookInput(
            stage="after",
            kind=get_action_kind(decision.action),
            action=decision.action,
            actor=decision.actor,
            place=decision.place,
            outcome=status,
            why=why,
        )
        await notify_hooks(policy.hooks, hook_input)

    def _add_file_problem(self, verdict: Verdict, action: Action) -> Verdict:
        """Require approval while the policy file is broken, except for what changes nothing."""
        if not self.file.problem or assess_risk(action) == "look":
            return verdict
        reason = VerdictReason("default", "broken_policy", "ask", self.file.problem)
        return combine_reasons((*verdict.reasons, reason), verdict.retry_at)

    def _build_request(
        self, action: Action, actor: Actor, snapshot: PaneSnapshot | None, answers: tuple[HookAnswer, ...]
    ) -> PolicyRequest:
        now = self._clock.now()
        place, cwd = build_policy_place(snapshot, now), "" if snapshot is None else snapshot.view.facts.cwd
        # Use the agent's own folder for its request, because the pane's shell may be elsewhere.
        if isinstance(action, AnswerAgent):
            place, cwd = replace(place, agent=action.agent), action.cwd or cwd
        return PolicyRequest(
            action=action,
            actor=actor,
            place=place,
            is_command=_is_command(action, place),
            standing=_read_typed_command(action, snapshot),
            at=now,
            local=LocalTime(*compute_local_time(now)),
            hooks=answers,
            spent=self._windows,
            scope=PathScope(home=self._scope.home, cwd=cwd, own_paths=self._scope.own_paths),
        )


def build_policy_place(snapshot: PaneSnapshot | None, now: int) -> PaneContext:
    """Return the pane's attributes that policy rules can match."""
    if snapshot is None:
        return PaneContext()
    view, facts, pane_state = snapshot.view, snapshot.view.facts, snapshot.pane_state
    return PaneContext(
        target=view.instance.server.target,
        session=facts.session_name,
        window=facts.window_name,
        pane=view.id,
        pane_index=facts.pane_index,
        title=facts.title,
        foreground=pane_state.command,
        is_alternate=pane_state.alternate,
        activity=view.activity.kind,
        is_proven=view.activity.is_proven,
        is_shell=snapshot.foreground.is_shell,
        is_human_typing=bool(list_typing_clients(pane_state, now)),
    )


def _is_command(action: Action, place: PaneContext) -> bool:
    """Return True if a shell may run the input: one reads it, or the program is unknown and may be a shell."""
    if isinstance(action, SendText | SendJobInput) and not action.enter:
        return False
    if isinstance(action, SendKeys) and action.keys == CLEAR_INPUT_KEYS:
        return False  # these keys delete the typed command and run nothing
    if isinstance(action, SendJobInput):
        # A shell executes no secret: it is typed only where the terminal takes a line without echo.
        return place.is_shell and not action.secret
    is_shell = place.is_shell or place.activity in ("prompt", "unknown", "gap")
    return isinstance(action, SendText | SendKeys) and is_shell


def _read_typed_command(action: Action, snapshot: PaneSnapshot | None) -> str | None:
    """Return the command already typed at the prompt, because keys may run it; None if unknown."""
    if isinstance(action, SendText | SendJobInput):
        return ""
    typed = None if snapshot is None else snapshot.typed_input
    return None if typed is None else typed.before + typed.behind


def _assume_hook_answers(policy: Policy, action: Action) -> tuple[HookAnswer, ...]:
    hooks = (hook for hook in policy.hooks if is_hook_applicable(hook, get_action_kind(action), "before"))
    return tuple(HookAnswer(hook.id, "allow", "the hook is not run in a preview") for hook in hooks)


def _build_decision(
    action: Action, actor: Actor, place: PaneContext, policy: Policy, verdict: Verdict
) -> PolicyDecision:
    return PolicyDecision(
        action=action,
        verdict=verdict,
        actor=actor,
        place=place,
        needs=2 if verdict.needs_two else 1,
        expires_for=policy.approval.expiry,
        allows_unproven=policy.unproven_prompt,
        allows_typing_beside_people=policy.human_typing_override,
    )


def _list_capabilities(request: PolicyRequest, verdict: Verdict) -> tuple[str, ...]:
    # Analyzed again only for actions that ask, which wait for a person anyway.
    if verdict.answer != "ask":
        return ()
    return list_capabilities(request, analyze_request(request), verdict, os.path.realpath)


def _build_deny_all(why: str) -> Verdict:
    return combine_reasons((VerdictReason("default", "no_policy", "deny", why),))


class HookAnswers(Struct, frozen=True):
    """The answers of all hooks, and the action with the hooks' changes applied."""

    answers: tuple[HookAnswer, ...]
    action: Action


def is_hook_applicable(hook: PolicyHook, kind: str, stage: str) -> bool:
    return hook.runs in (stage, "both") and (not hook.kinds or kind in hook.kinds)


async def run_hooks(hooks: Sequence[PolicyHook], action: Action, actor: Actor, place: PaneContext) -> HookAnswers:
    """Run the hooks in order. Stop after one that changes the action, because the gate then checks it again."""
    answers: list[HookAnswer] = []
    for hook in hooks:
        if not is_hook_applicable(hook, get_action_kind(action), "before"):
            continue
        hook_input = HookInput(stage="before", kind=get_action_kind(action), action=action, actor=actor, place=place)
        answer, changed = await _run_hook(hook, hook_input)
        answers.append(answer)
        if changed is not None:
            return HookAnswers(tuple(answers), changed)
    return HookAnswers(tuple(answers), action)


async def notify_hooks(hooks: Sequence[PolicyHook], hook_input: HookInput) -> None:
    """Report an outcome to the hooks, ignoring their answers and failures."""
    for hook in hooks:
        if is_hook_applicable(hook, hook_input.kind, "after"):
            await _run_hook(hook, hook_input)


async def _run_hook(hook: PolicyHook, hook_input: HookInput) -> tuple[HookAnswer, Action | None]:
    data = msgspec.json.encode(hook_input)
    # More output than this is an error for the hook, and what it printed is no answer.
    status, out, errors = await run_isolated(
        hook.program, stdin=data, timeout_s=hook.timeout, max_kept_bytes=_MAX_ANSWER_BYTES
    )
    if status != 0:
        why = f"it exited with status {status}: {errors.decode('utf-8', 'replace')[-200:]}"
        return _build_failed_answer(hook, why), None
    try:
        reply = msgspec.json.decode(out, type=HookReply)
    except (msgspec.MsgspecError, ValueError) as error:
        return _build_failed_answer(hook, f"its answer is invalid: {error}"), None
    if reply.decision != "modify":
        return HookAnswer(hook.id, reply.decision, redact(reply.reason)), None
    # A hook that is satisfied with the action it gets may repeat it.
    if reply.action == hook_input.action:
        return HookAnswer(hook.id, "allow", redact(reply.reason)), None
    # A hook may change the fields of an action, but not its kind.
    if not isinstance(reply.action, type(hook_input.action)):
        return _build_failed_answer(hook, "its answer modify has no action of the same kind"), None
    return HookAnswer(hook.id, "modify", redact(reply.reason)), reply.action


def _build_failed_answer(hook: PolicyHook, why: str) -> HookAnswer:
    hook_log.warning("hook %s: %s", hook.id, redact(why))
    return HookAnswer(hook.id, "failed", redact(why))
