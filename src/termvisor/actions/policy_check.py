"""How an action comes to its verdict: hooks are asked, rates are counted, the policy is read anew when it changed."""

import os
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.actions.preconditions import HUMAN_FOR, Belief
from termvisor.actions.user_hooks import Told, ask_hooks, concerns, tell_hooks
from termvisor.clock import NS, Clock, local_time
from termvisor.errors import ConfigError
from termvisor.log import logger
from termvisor.model.action.action import CLEARS_INPUT, Action, Actor, AnswerAgent, SendKeys, SendText, kind_of
from termvisor.model.action.policy import Policy
from termvisor.model.action.verdict import Reason, Verdict, strictest
from termvisor.policy.evaluator import judge, spend
from termvisor.policy.explain import explain
from termvisor.policy.path_rules import Scope
from termvisor.policy.policy_file import parse
from termvisor.policy.request import HookAnswer, LocalTime, Place, Request
from termvisor.policy.token_bucket import Bucket
from termvisor.system.regular_file import plain

log = logger("policy")


class Judged(Struct, frozen=True, kw_only=True):
    """A verdict, and what the policy says about carrying it out. ``action`` differs when a hook changed it."""

    action: Action
    verdict: Verdict
    actor: Actor | None = None
    place: Place = Place()
    needs: int = 1
    """How many people must allow it, where it is asked."""
    expires_for: float = 600.0
    """Seconds that a question stands."""
    allows_unproven: bool = False
    allows_typing_beside_people: bool = False


class Judge(Protocol):
    async def judge(self, action: Action, actor: Actor, belief: Belief | None) -> Judged:
        """The verdict; it counts against the rates."""

    async def look(self, action: Action, actor: Actor, belief: Belief | None) -> Judged:
        """What the verdict would be; nothing is counted, no hook is run."""

    def explain(self, action: Action, actor: Actor, belief: Belief | None) -> list[str]:
        """The way to the verdict, line by line."""

    async def after(self, judged: Judged, status: str, why: str) -> None:
        """Hooks are told what came of it; they cannot change it."""


class PolicyFile:
    """The user's policy, read again whenever its file changed. A file that is wrong changes nothing but is told."""

    def __init__(self, path: str):
        self.path = path
        self._stamp: tuple[int, int] | None = None
        self._policy: Policy | None = None
        self.trouble = ""

    def current(self) -> Policy | None:
        """None when the file is wrong and there was none before it: then nothing is allowed."""
        stamp = self._look()
        if stamp != self._stamp or self._policy is None:
            self._stamp = stamp
            self._read()
        return self._policy

    def _look(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_size

    def _read(self) -> None:
        try:
            with open(self.path, encoding="utf-8", opener=plain) as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            self._refuse(f"{self.path} cannot be read: {error}")
            return
        try:
            self._policy, self.trouble = parse(text, self.path), ""
        except ConfigError as error:
            self._refuse(error.message)

    def _refuse(self, why: str) -> None:
        self.trouble = f"the policy is not taken over: {why}"
        log.error(self.trouble)


class PolicyJudge:
    def __init__(self, file: PolicyFile, scope: Scope, clock: Clock):
        self.file, self._scope, self._clock = file, scope, clock
        self._spent: dict[str, Bucket] = {}

    async def judge(self, action: Action, actor: Actor, belief: Belief | None) -> Judged:
        policy = self.file.current()
        if policy is None:
            return Judged(action=action, verdict=_closed(self.file.trouble), actor=actor)
        place = place_of(belief, self._clock.now())
        heard = await ask_hooks(policy.hooks, action, actor, place)
        request = self._request(action, actor, belief, heard.answers)
        verdict = judge(policy, request)
        if verdict.answer != "deny":
            self._spent |= spend(policy, request)
        return _judged(heard.action, actor, place, policy, verdict)

    async def look(self, action: Action, actor: Actor, belief: Belief | None) -> Judged:
        policy = self.file.current()
        if policy is None:
            return Judged(action=action, verdict=_closed(self.file.trouble), actor=actor)
        request = self._request(action, actor, belief, _unasked(policy, action))
        return _judged(action, actor, request.place, policy, judge(policy, request))

    def explain(self, action: Action, actor: Actor, belief: Belief | None) -> list[str]:
        """The way to the verdict, line by line."""
        policy = self.file.current()
        if policy is None:
            return [self.file.trouble]
        return explain(policy, self._request(action, actor, belief, _unasked(policy, action)))

    async def after(self, judged: Judged, status: str, why: str) -> None:
        policy = self.file.current()
        if policy is None or judged.actor is None:
            return
        told = Told(
            stage="after",
            kind=kind_of(judged.action),
            action=judged.action,
            actor=judged.actor,
            place=judged.place,
            outcome=status,
            why=why,
        )
        await tell_hooks(policy.hooks, told)

    def _request(self, action: Action, actor: Actor, belief: Belief | None, answers: tuple[HookAnswer, ...]) -> Request:
        now = self._clock.now()
        place, cwd = place_of(belief, now), "" if belief is None else belief.view.facts.cwd
        if isinstance(action, AnswerAgent):
            place, cwd = replace(place, agent=action.agent), action.cwd or cwd
        return Request(
            action=action,
            actor=actor,
            place=place,
            is_command=_is_command(action, place),
            standing=_standing(action, belief),
            at=now,
            local=LocalTime(*local_time(now)),
            hooks=answers,
            spent=self._spent,
            scope=Scope(home=self._scope.home, cwd=cwd, own=self._scope.own),
        )


def place_of(belief: Belief | None, now: int) -> Place:
    """The pane as the policy sees it."""
    if belief is None:
        return Place()
    view, facts, sight = belief.view, belief.view.facts, belief.sight
    return Place(
        target=view.instance.server.target,
        session=facts.session_name,
        window=facts.window_name,
        pane=view.id,
        pane_index=facts.pane_index,
        title=facts.title,
        foreground=sight.command,
        is_alternate=sight.alternate,
        activity=view.activity.kind,
        is_proven=view.activity.is_proven,
        is_human_typing=any((now - person.typed_at) / NS < HUMAN_FOR for person in sight.people),
    )


def _is_command(action: Action, place: Place) -> bool:
    """Whether a shell would run it; where nothing is known, it may be one."""
    if isinstance(action, SendText) and not action.enter:
        return False
    if isinstance(action, SendKeys) and action.keys == CLEARS_INPUT:
        return False  # what stands at the prompt goes, whatever it would have done
    return isinstance(action, SendText | SendKeys) and place.activity in ("prompt", "unknown", "gap")


def _standing(action: Action, belief: Belief | None) -> str | None:
    """What stands at the prompt already: keys may run it."""
    if isinstance(action, SendText):
        return ""
    typed = None if belief is None else belief.typed
    return None if typed is None else typed.before + typed.behind


def _unasked(policy: Policy, action: Action) -> tuple[HookAnswer, ...]:
    hooks = (hook for hook in policy.hooks if concerns(hook, kind_of(action), "before"))
    return tuple(HookAnswer(hook.id, "allow", "it would be asked") for hook in hooks)


def _judged(action: Action, actor: Actor, place: Place, policy: Policy, verdict: Verdict) -> Judged:
    return Judged(
        action=action,
        verdict=verdict,
        actor=actor,
        place=place,
        needs=2 if verdict.needs_two else 1,
        expires_for=policy.approval.expiry,
        allows_unproven=policy.unproven_prompt,
        allows_typing_beside_people=policy.human_typing_override,
    )


def _closed(why: str) -> Verdict:
    """A policy that cannot be read allows nothing."""
    return strictest((Reason(source="default", id="no_policy", answer="deny", text=why),))
