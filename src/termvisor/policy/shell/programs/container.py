"""Analyze container, cluster and cloud tools: commands run inside them, and changes of resources."""

import re

from msgspec.structs import replace

from termvisor.policy.shell import getopt
from termvisor.policy.shell.call import ProgramCall
from termvisor.policy.shell.effect import NO_EFFECT, CommandEffect, EffectAnalyzer, merge_effects
from termvisor.policy.shell.word import ShellWord

_INFRASTRUCTURE = CommandEffect(classes=("infrastructure",))
_ENGINE_OPTIONS = (
    "-H -c -l --host --context --config --log-level -f --file -p --project-name --project-directory --env-file"
)
_RUN_OPTIONS = (
    "-e -v -w -u -p -h -l -m -a --env --env-file --volume --workdir --user --publish --name --network --net --mount"
    " --entrypoint --cpus --memory --label --device --add-host --hostname --platform --restart --pull --detach-keys"
    " --cap-add --security-opt --gpus --shm-size --ulimit --dns --index --tmpfs --pid --ipc"
)
_CLUSTER_OPTIONS = (
    "-n -c --namespace --context --kubeconfig --container -f --filename -l --selector -o --output --cluster"
)
_REMOVING_VERBS = ("rm", "rmi", "prune", "kill", "remove", "stop", "restart", "pause", "down")
_KUBE_VERBS = (
    "delete apply drain cordon scale replace patch edit create rollout set taint label annotate uncordon expose"
)
_VERBS_BY_PROGRAM: dict[str, str] = {
    "terraform": "destroy apply import taint untaint state force-unlock",
    "tofu": "destroy apply import taint untaint state force-unlock",
    "terragrunt": "destroy apply run-all",
    "pulumi": "destroy up refresh cancel",
    "helm": "uninstall delete install upgrade rollback",
    "ansible-playbook": "",
    "vagrant": "destroy halt up",
    "heroku": "apps:destroy pg:reset ps:scale",
    "fly": "destroy deploy apps",
    "vercel": "rm remove deploy",
    "virsh": "destroy undefine shutdown",
}
_CLOUD_VERB = re.compile(
    r"^(?:delete|terminate|remove|rm|rb|destroy|purge|stop|deregister|detach|revoke|put|update)(?:-|$)"
)
_VOLUME_OPTIONS = ("-v", "--volume", "--mount")
_ENGINE_GROUPS = ("compose", "container", "image", "volume", "network", "system", "builder", "machine")


def _analyze_engine(call: ProgramCall) -> CommandEffect:
    """Analyze docker and podman: the words after the container or image are the program that runs inside."""
    options = getopt.parse_options(call.arguments, _ENGINE_OPTIONS, stops_at_operand=True)
    words = list(options.rest)
    if words and words[0].text in _ENGINE_GROUPS:
        words = list(getopt.parse_options(words[1:], _ENGINE_OPTIONS, stops_at_operand=True).rest)
    if not words:
        return NO_EFFECT
    if not words[0].is_known:
        return CommandEffect(classes=("dynamic",))
    verb, rest = words[0].text, tuple(words[1:])
    if verb in ("exec", "run"):
        return _analyze_inside(call, rest)
    return _INFRASTRUCTURE if verb in _REMOVING_VERBS else NO_EFFECT


def _analyze_inside(call: ProgramCall, words: tuple[ShellWord, ...]) -> CommandEffect:
    options = getopt.parse_options(words, _RUN_OPTIONS, stops_at_operand=True)
    inner = options.rest[1:]
    entry = options.find_value("--entrypoint")
    inner = (entry, *inner) if entry else inner
    is_privileged = options.has("--privileged", "--cap-add") or any(
        volume.text.startswith(("/:", "/var/run/docker.sock", "type=bind,source=/,", "~:", "/etc:", "/root:"))
        for volume in options.find_values(*_VOLUME_OPTIONS)
    )
    is_privileged = is_privileged or any(value.text == "host" for value in options.find_values("--pid", "--ipc"))
    classes = ("privilege",) if is_privileged else ()
    return CommandEffect(classes=classes, calls=(replace(call, words=inner),) if inner else ())


def _analyze_cluster(call: ProgramCall) -> CommandEffect:
    texts = [word.text for word in call.arguments]
    options = getopt.parse_options(call.arguments, _CLUSTER_OPTIONS, stops_at_operand=True)
    verb = options.rest[0].text if options.rest else ""
    if options.rest and not options.rest[0].is_known:
        return CommandEffect(classes=("dynamic",))
    secret = CommandEffect(classes=("credential_read",)) if verb == "get" and _has_secret_name(texts) else NO_EFFECT
    if verb in ("exec", "run", "debug"):
        cut = texts.index("--") + 1 if "--" in texts else len(texts)
        inner = call.arguments[cut:] or _find_pod_command(options.rest[1:])
        return CommandEffect(calls=(replace(call, words=tuple(inner)),) if inner else ())
    return merge_effects(
        secret, _INFRASTRUCTURE if verb in _KUBE_VERBS.split() and "--dry-run=client" not in texts else NO_EFFECT
    )


def _find_pod_command(words: tuple[ShellWord, ...]) -> tuple[ShellWord, ...]:
    return getopt.parse_options(words, _CLUSTER_OPTIONS, stops_at_operand=True).rest[1:]


def _has_secret_name(texts: list[str]) -> bool:
    return any(text.partition("/")[0] in ("secret", "secrets") for text in texts)


def _analyze_verb(call: ProgramCall) -> CommandEffect:
    words = getopt.parse_options(call.arguments, "-chdir -n -s --namespace --stack").operands
    verb = words[0].text if words else ""
    if call.name == "ansible-playbook":
        return _INFRASTRUCTURE if "--check" not in [word.text for word in call.arguments] else NO_EFFECT
    is_flag = call.name in ("terraform", "tofu") and any("destroy" in word.text for word in call.arguments)
    return _INFRASTRUCTURE if verb in _VERBS_BY_PROGRAM[call.name].split() or is_flag else NO_EFFECT


def _analyze_cloud(call: ProgramCall) -> CommandEffect:
    """Analyze aws, gcloud, az, gh and doctl, whose first words contain the verb."""
    words = [
        word.text for word in getopt.parse_options(call.arguments, "--profile --region --project -R --repo").operands
    ]
    secret = CommandEffect(classes=("credential_read",)) if _TOKEN_COMMAND.search(" ".join(words[:4])) else NO_EFFECT
    is_gist = call.name == "gh" and words[:2] == ["gist", "create"]
    upload = CommandEffect(classes=("network_exfiltration",)) if is_gist else NO_EFFECT
    return merge_effects(
        secret, upload, _INFRASTRUCTURE if any(_CLOUD_VERB.match(word) for word in words[:5]) else NO_EFFECT
    )


_TOKEN_COMMAND = re.compile(
    r"^(?:auth token|auth print-|auth application-default print-|secrets? (?:versions )?access|account get-access-token"
    r"|secretsmanager get-secret|ssm get-parameter|configure get|keyvault secret show|sts get-session)"
)

ANALYZERS: dict[str, EffectAnalyzer] = {}
ANALYZERS |= dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "lxc"), _analyze_engine)
ANALYZERS |= dict.fromkeys(("kubectl", "oc", "k", "k3s", "microk8s"), _analyze_cluster) | dict.fromkeys(
    _VERBS_BY_PROGRAM, _analyze_verb
)
ANALYZERS |= dict.fromkeys(
    ("aws", "gcloud", "az", "gh", "glab", "doctl", "hcloud", "linode-cli", "oci"), _analyze_cloud
)
