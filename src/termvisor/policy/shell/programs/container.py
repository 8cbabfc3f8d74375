"""Analyze container, cluster and cloud tools: commands run inside them, and changes to resources."""

import re

from msgspec.structs import replace

from termvisor.policy.shell.call import NO_EFFECT, CommandEffect, ProgramCall, classify, merge_effects, parse_options
from termvisor.policy.shell.programs.program_table import ProgramEffectRule, build_analyzers
from termvisor.policy.shell.word import ShellWord

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
_VERBS_BY_PROGRAM = {
    "terragrunt": "destroy apply run-all",
    "pulumi": "destroy up refresh cancel",
    "helm": "uninstall delete install upgrade rollback",
    "vagrant": "destroy halt up",
    "heroku": "apps:destroy pg:reset ps:scale",
    "fly": "destroy deploy apps",
    "vercel": "rm remove deploy",
    "virsh": "destroy undefine shutdown",
}
_VERB_OPTIONS = "-chdir -n -s --namespace --stack"
_CLOUD_VERB = re.compile(
    r"^(?:delete|terminate|remove|rm|rb|destroy|purge|stop|deregister|detach|revoke|put|update)(?:-|$)"
)
_TOKEN_COMMAND = re.compile(
    r"^(?:auth token|auth print-|auth application-default print-|secrets? (?:versions )?access|account get-access-token"
    r"|secretsmanager get-secret|ssm get-parameter|configure get|keyvault secret show|sts get-session)"
)
_VOLUME_OPTIONS = ("-v", "--volume", "--mount")
_ENGINE_GROUPS = ("compose", "container", "image", "volume", "network", "system", "builder", "machine")


def _analyze_engine(call: ProgramCall) -> CommandEffect:
    """Analyze docker and podman. The words after the container or image are the program that runs inside."""
    options = parse_options(call.arguments, _ENGINE_OPTIONS, stops_at_operand=True)
    words = list(options.rest)
    if words and words[0].text in _ENGINE_GROUPS:
        words = list(parse_options(words[1:], _ENGINE_OPTIONS, stops_at_operand=True).rest)
    if not words:
        return NO_EFFECT
    if not words[0].is_known:
        return classify("dynamic")
    verb, rest = words[0].text, tuple(words[1:])
    if verb in ("exec", "run"):
        return _analyze_inside(call, rest)
    return classify("infrastructure", when=verb in _REMOVING_VERBS)


def _analyze_inside(call: ProgramCall, words: tuple[ShellWord, ...]) -> CommandEffect:
    options = parse_options(words, _RUN_OPTIONS, stops_at_operand=True)
    inner = options.rest[1:]
    # The entry point is the program; the words after the image are its arguments.
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
    options = parse_options(call.arguments, _CLUSTER_OPTIONS, stops_at_operand=True)
    verb = options.rest[0].text if options.rest else ""
    if options.rest and not options.rest[0].is_known:
        return classify("dynamic")
    if verb in ("exec", "run", "debug"):
        cut = texts.index("--") + 1 if "--" in texts else len(texts)
        # Without `--`, the first operand is the pod and the words after it are the command.
        inner = (
            call.arguments[cut:] or parse_options(options.rest[1:], _CLUSTER_OPTIONS, stops_at_operand=True).rest[1:]
        )
        return CommandEffect(calls=(replace(call, words=tuple(inner)),) if inner else ())
    if verb == "get":
        names = [text.partition("/")[0] for text in texts]
        return classify("credential_read", when="secret" in names or "secrets" in names)
    return classify("infrastructure", when=verb in _KUBE_VERBS.split() and "--dry-run=client" not in texts)


def _analyze_cloud(call: ProgramCall) -> CommandEffect:
    """Analyze aws, gcloud, az, gh and doctl, whose first words contain the verb."""
    words = [word.text for word in parse_options(call.arguments, "--profile --region --project -R --repo").operands]
    return merge_effects(
        classify("credential_read", when=_TOKEN_COMMAND.search(" ".join(words[:4]))),
        classify("network_exfiltration", when=call.name == "gh" and words[:2] == ["gist", "create"]),
        classify("infrastructure", when=any(map(_CLOUD_VERB.match, words[:5]))),
    )


def _analyze_terraform(call: ProgramCall) -> CommandEffect:
    """Analyze terraform and tofu, which can also destroy through options such as `plan -destroy`."""
    verbs = [word.text for word in parse_options(call.arguments, _VERB_OPTIONS).operands[:1]]
    changes = ("destroy", "apply", "import", "taint", "untaint", "state", "force-unlock")
    has_destroy = any("destroy" in word.text for word in call.arguments)
    return classify("infrastructure", when=has_destroy or any(verb in changes for verb in verbs))


_VERB_RULES = {
    name: ProgramEffectRule(classes=("infrastructure",), options_with_value=_VERB_OPTIONS, verbs=verbs)
    for name, verbs in _VERBS_BY_PROGRAM.items()
}
ANALYZERS = build_analyzers(
    {
        "docker podman nerdctl docker-compose lxc": _analyze_engine,
        "kubectl oc k k3s microk8s": _analyze_cluster,
        "terraform tofu": _analyze_terraform,
        "ansible-playbook": ProgramEffectRule(classes=("infrastructure",), harmless_words="--check"),
        "aws gcloud az gh glab doctl hcloud linode-cli oci": _analyze_cloud,
        **_VERB_RULES,
    }
)
