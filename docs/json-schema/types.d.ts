// Generated from the operations' declarations. Do not edit.

/** A candidate account and why it was or was not chosen. */
export interface AccountCandidate {
  ref?: string;
  verdict: "chosen" | "excluded" | "fits" | "not_active" | "scarce" | "unknown";
  why?: string;
  remaining?: number | null;
}

/** ``percent_remaining`` and ``resets_at`` are those of the limit with the least left. ``credentials`` is where they
    are stored. */
export interface AccountItem {
  service: "anthropic" | "google" | "openai";
  name?: string;
  email?: string;
  active?: boolean;
  in_use?: boolean;
  priority: number;
  percent_remaining?: number | null;
  resets_at?: string | null;
  last_check?: string | null;
  last_used?: string | null;
  browser_profile?: string;
  credentials?: string;
  trouble?: string;
  usage?: Array<AllowanceItem>;
}

/** Accounts, in the order of the config file. */
export interface AccountListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: AccountsSummary;
  items?: Array<AccountItem>;
}

/** Choose the accounts. */
export interface AccountsListArgs {
  /** Only accounts of this service: `openai`, `anthropic` or `google`. */
  service?: "anthropic" | "google" | "openai" | null;
}

/** Choose the service. */
export interface AccountsPickArgs {
  /** The service. */
  service: "anthropic" | "google" | "openai";
  /** Show for every account why it was picked or not. */
  explain?: boolean;
}

/** ``account`` is `service/name`; null if none qualifies. ``candidates`` are all accounts, best first. */
export interface AccountsPickResult {
  account?: string | null;
  why?: string;
  candidates?: Array<AccountCandidate>;
}

/** Choose the accounts. */
export interface AccountsRefreshArgs {
  /** Only accounts of this service: `openai`, `anthropic` or `google`. */
  service?: "anthropic" | "google" | "openai" | null;
}

/** ``told`` is the reason if the tracker returned nothing; the accounts are then unchanged. */
export interface AccountsRefreshResult {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: AccountsSummary;
  items?: Array<AccountItem>;
  told?: string;
}

/** Choose the account. */
export interface AccountsShowArgs {
  /** Account: `name` or `service/name`. */
  account: string;
}

export interface AccountsShowResult {
  account: AccountItem;
}

export interface AccountsSummary {
  accounts: number;
  by_service?: Record<string, number>;
}

/** Choose the account. */
export interface AccountsUseArgs {
  /** Account: `name` or `service/name`. */
  account: string;
}

export interface AccountsUseResult {
  account: AccountItem;
}

/** Outcome of an action. ``why`` is a stable code; ``correlation`` identifies the action in the audit log.
    ``foreseen`` is set only by a dry run. */
export interface ActionResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
}

/** The pane to activate. */
export interface ActivateArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
}

/** Activity of a pane, from shell marks and its output. ``is_proven``: the marks carried our nonce. */
export interface ActivityItem {
  kind?: "alt_screen" | "command" | "gap" | "prompt" | "unknown";
  /** Only with `--full` or `--fields`. */
  since?: string | null;
  age?: number | null;
  command_line?: string | null;
  last_exit?: number | null;
  is_proven?: boolean;
}

/** ``channel`` is `native` if the agent's own server was used, `keys` if keys were pressed in its terminal, null if
    nothing was executed. */
export interface AgentCommandResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  agent?: string;
  channel?: "keys" | "native" | null;
}

/** Totals of the agents that share ``name``. */
export interface AgentGroupItem {
  agents?: number;
  top_state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  /** Only with `--full` or `--fields`. */
  waiting?: number;
  /** Only with `--full` or `--fields`. */
  running?: number;
  needs_action?: number;
  by_state?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_agent?: Record<string, number>;
  name?: string;
  panes?: Array<number>;
}

/** ``version`` is the adapter's contract version; ``sources`` are its evidence sources, best first; ``panes`` are
    those in which it is running, ``alive`` the program versions found there, and ``recorded`` the versions whose
    states were checked with the real program; without any, ``states`` is `unproven`. ``unseen`` are those of ``alive``
    that are older or newer than every recorded one. ``start`` is the command that starts a conversation, if it is
    described. ``failures`` counts errors raised by the adapter itself. */
export interface AgentProgramItem {
  name?: string;
  version?: string;
  is_enabled?: boolean;
  capabilities?: Array<string>;
  sources?: Array<string>;
  panes?: Array<number>;
  alive?: Array<string>;
  recorded?: Array<string>;
  unseen?: Array<string>;
  failures: number;
  states?: "proven" | "unproven";
  start?: Array<string>;
}

/** Agent programs, in the order in which their adapters are tried on a process. ``troubles`` are the problems with
    files that describe agents. */
export interface AgentProgramListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: AgentProgramsSummary;
  items?: Array<AgentProgramItem>;
  troubles?: Array<string>;
}

export interface AgentProgramsSummary {
  known: number;
  enabled: number;
  by_agent?: Record<string, number>;
}

/** A pane and the agent in it. Without one, ``agent`` and ``state`` are null and ``presence`` is `unmanaged`.

    ``evidence_mode`` is the tier of the evidence for the state; `deterministic` means reported by the agent itself.
    ``reason`` says why a state is `unknown`. ``cost`` is US dollars as the agent reports it or, if
    ``cost_is_estimated``, computed from the setting `agent_prices`; null if unknown. ``signature_*`` say why the pane
    was or was not recognized as an agent: which agent its process, command, screen and title point to.
    ``agent_version`` is the version of the running program, empty if unknown; ``agent_version_status`` says whether its
    screens were recorded: `unseen` is older or newer than every recorded version. */
export interface AgentRow {
  identity: PaneIdentity;
  /** Only with `--full` or `--fields`. */
  presence?: "managed" | "unmanaged";
  agent?: string | null;
  /** Only with `--full` or `--fields`. */
  runtime?: number | null;
  state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  reason?: "gap" | "no_signal" | "stale_signal" | "target_unreachable" | "unknown_screen" | "unseen_version" | "unsupported_signal" | null;
  /** Only with `--full` or `--fields`. */
  evidence_mode?: "deterministic" | "heuristic" | "none";
  /** Only with `--full` or `--fields`. */
  source?: string;
  /** Only with `--full` or `--fields`. */
  confidence?: "high" | "low" | "medium" | null;
  /** Only with `--full` or `--fields`. */
  state_since?: string | null;
  state_age?: number | null;
  /** Only with `--full` or `--fields`. */
  state_version?: number;
  /** Only with `--full` or `--fields`. */
  last_event?: string | null;
  needs?: "answer" | "approve" | "log_in" | "look" | "review" | "see_error" | "wait_for_limit" | null;
  /** Only with `--full` or `--fields`. */
  needs_action?: boolean;
  flags?: FlagItem;
  agent_title?: string;
  /** Only with `--full` or `--fields`. */
  agent_version?: string;
  /** Only with `--full` or `--fields`. */
  agent_version_status?: "between_recorded" | "no_recordings" | "recorded" | "unknown" | "unseen" | null;
  /** Only with `--full` or `--fields`. */
  model?: string;
  /** Only with `--full` or `--fields`. */
  tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  cost?: number | null;
  /** Only with `--full` or `--fields`. */
  cost_is_estimated?: boolean;
  /** Only with `--full` or `--fields`. */
  context_used?: number | null;
  /** Only with `--full` or `--fields`. */
  context_tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  signature_class?: "deterministic" | "heuristic" | "none";
  /** Only with `--full` or `--fields`. */
  signature_reason?: "cmd_match" | "handshake" | "poller_match" | "provider_hint" | "signature_guard_rejected" | "signature_inconclusive";
  /** Only with `--full` or `--fields`. */
  signature_confidence?: number;
  /** Only with `--full` or `--fields`. */
  signature_inputs?: SignatureInputs;
}

/** One session. ``external_id`` is the agent's own session id. ``tokens``, ``cost`` (US dollars) and the rest of
    ``usage`` are null if the agent did not report them; ``usage.is_estimated`` means that the cost was computed from
    the setting `agent_prices`. ``by_model`` is the usage per model, if the agent reports it. ``resume`` is the command
    that resumes the session; empty if none is known. */
export interface AgentSessionItem {
  id: number;
  identity: PaneIdentity;
  agent?: string;
  external_id?: string;
  title?: string;
  model?: string;
  version?: string;
  cwd?: string;
  started_at?: string;
  ended_at?: string | null;
  end_reason?: "completed" | "error" | "limit_reached" | "manual" | "pane_gone" | null;
  seconds: number;
  tokens?: number | null;
  cost?: number | null;
  usage: TokenUsage;
  by_model?: Record<string, TokenCounts>;
  resume?: string;
  history?: CassHistory | null;
}

/** Sessions, oldest first. */
export interface AgentSessionListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: AgentSessionsSummary;
  items?: Array<AgentSessionItem>;
}

/** ``tokens`` and ``cost`` are sums over the sessions that report them, null if none does; ``without_cost`` counts
    the sessions without a reported cost. */
export interface AgentSessionsSummary {
  sessions: number;
  by_agent?: Record<string, number>;
  tokens?: number | null;
  cost?: number | null;
  without_cost: number;
}

/** Totals over agents. ``top_state`` is the state with the highest precedence; null without agents. ``waiting``
    counts agents that wait for a permission or an answer, ``needs_action`` all that need a person. */
export interface AgentTotals {
  agents?: number;
  top_state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  /** Only with `--full` or `--fields`. */
  waiting?: number;
  /** Only with `--full` or `--fields`. */
  running?: number;
  needs_action?: number;
  by_state?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_agent?: Record<string, number>;
}

/** One version of an agent and the panes in which it runs; ``screens`` are those of all these panes. */
export interface AgentVersionItem {
  version?: string;
  status?: "between_recorded" | "no_recordings" | "recorded" | "unknown" | "unseen";
  recorded?: Array<string>;
  unproven?: Array<string>;
  screens?: number;
  strange_screens?: number;
  agent?: string;
  panes?: Array<number>;
}

/** Takes no arguments. */
export interface AgentsListArgs {
}

/** Choose the sessions to list. */
export interface AgentsSessionsArgs {
  /** Maximum number of sessions. */
  limit?: number;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only sessions of this agent. */
  agent?: string | null;
  /** Only sessions active after this: ISO 8601, today, or an age such as 2h. */
  since?: string | null;
  /** Also look up each session in `cass`, if it is installed. */
  history?: boolean;
}

/** The file. */
export interface AgentsTestArgs {
  /** The file that describes the agent (.toml), or a recording. */
  path: string;
}

/** One usage limit. ``percent_remaining`` is what is left now; null if unknown. */
export interface AllowanceItem {
  span?: string;
  usage_type: "credits" | "rate";
  limit?: number | null;
  current?: number | null;
  percent_remaining?: number | null;
  resets_at?: string | null;
  checked_at?: string;
  source?: string;
}

/** The pane of the agent, and the choice. */
export interface AnswerDialogArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** `allow` (once), `deny`, or a choice as shown: its label or number. */
  choice: string;
}

/** ``what`` describes the action, ``action`` has its fields, ``place`` its pane, ``folder`` its working folder.
    ``answers`` of the ``needs`` required people approved it. ``left`` is the seconds until it expires, which denies it;
    null once it is closed, and for a request that stays open as long as the agent's dialog is shown. ``count`` is how
    often it was asked while open. ``outcome`` is the status of the executed action, or `elsewhere` if the agent got its
    answer without this request; empty as long as nothing is known. */
export interface ApprovalItem {
  id: number;
  state: "allowed" | "denied" | "edited" | "expired" | "open" | "used" | "withdrawn";
  kind?: string;
  risk: "destructive" | "input" | "look" | "outside" | "process" | "reversible";
  what?: string;
  /** Only with `--full` or `--fields`. */
  action?: Record<string, unknown>;
  by?: string;
  pane?: number | null;
  place?: string;
  folder?: string;
  why?: Array<string>;
  answers?: number;
  needs?: number;
  count?: number;
  /** Only with `--full` or `--fields`. */
  asked_at?: string;
  age: number;
  /** Only with `--full` or `--fields`. */
  expires_at?: string | null;
  left?: number | null;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  grants?: Array<string>;
  after?: number | null;
  reason?: string;
  outcome?: string;
  outcome_why?: string;
  outcome_text?: string;
}

/** Choose the approval requests and how to answer them. Without a number: the only open one. */
export interface ApproveArgs {
  /** Numbers in `visor inbox`; with --edit one, then the text. */
  requests?: string;
  /** The number, for programs. */
  id?: number | null;
  /** With --edit: the text to send instead, for programs. */
  text?: string;
  /** All open requests that concern this pane. */
  pane?: string;
  /** All open requests; lists them and asks first. */
  all?: boolean;
  /** With --all: the requests up to this number, without asking. */
  up_to?: number | null;
  /** With --all: do not ask. */
  yes?: boolean;
  /** Also grant the caller what the request names: its programs, folders and hosts. */
  session?: boolean;
  /** Like --session, but grant the whole categories: shell, filesystem, network, … */
  category?: boolean;
  /** With --session or --category: how long, such as 30m or 2h. */
  lasting?: string;
  /** Allow it only after this approved request was executed: a plan, in order. */
  after?: number | null;
  /** Send another text instead: the words that follow, or the text from your editor. */
  edit?: boolean;
}

/** ``instead`` is the outcome of the edited text, ``granted`` the permit that was given, in words. ``more`` are the
    other requests that were answered by the same call. */
export interface ApproveResult {
  id: number;
  state: "allowed" | "denied" | "edited" | "expired" | "open" | "used" | "withdrawn";
  kind?: string;
  risk: "destructive" | "input" | "look" | "outside" | "process" | "reversible";
  what?: string;
  /** Only with `--full` or `--fields`. */
  action?: Record<string, unknown>;
  by?: string;
  pane?: number | null;
  place?: string;
  folder?: string;
  why?: Array<string>;
  answers?: number;
  needs?: number;
  count?: number;
  /** Only with `--full` or `--fields`. */
  asked_at?: string;
  age: number;
  /** Only with `--full` or `--fields`. */
  expires_at?: string | null;
  left?: number | null;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  grants?: Array<string>;
  after?: number | null;
  reason?: string;
  outcome?: string;
  outcome_why?: string;
  outcome_text?: string;
  instead?: ActionResult | null;
  granted?: string;
  permit_id?: number | null;
  more?: Array<ApproveResult>;
}

/** The pane to attach to, and preconditions. */
export interface AttachArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
}

/** ``outside`` is the command for a plain terminal, ``inside`` for a terminal inside the same server. */
export interface AttachResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  socket?: string;
  outside?: Array<string>;
  inside?: Array<string>;
}

/** Choose the entries. */
export interface AuditArgs {
  /** Maximum number to list. */
  limit?: number;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only this kind of action, for example send_text. */
  kind?: string | null;
  /** Only this caller: human, robot, …, its name, or its interface. */
  actor?: string | null;
  /** Only entries with this outcome. */
  outcome?: "allow" | "delivered" | "denied" | "deny" | "done" | "edit" | "failed" | "modified" | "queued" | "refused" | "suppressed" | "typed_not_submitted" | "unknown" | null;
  /** Only entries of this action, workflow run or event. */
  correlation?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Not newer than this: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** List the first entries after this cursor, not the newest. */
  after?: number | null;
  /** Keep printing new entries. */
  follow?: boolean;
}

/** Choose the output. */
export interface AuditExportArgs {
  /** Write to this private file (mode 0600). */
  output?: string | null;
}

/** One entry. An action has several: `judged` or `asked`, `answered`, `intent`, `outcome`, joined by
    ``correlation``. ``undoes`` is the correlation of the action that this one undoes. ``hash`` covers this entry and
    all before it. */
export interface AuditItem {
  id: number;
  at?: string;
  correlation?: string;
  stage: "answered" | "asked" | "intent" | "judged" | "outcome";
  kind?: string;
  by?: string;
  face?: string;
  doubt?: string;
  pane?: number | null;
  place?: string;
  what?: string;
  /** Only with `--full` or `--fields`. */
  action?: Record<string, unknown>;
  verdict?: "allow" | "ask" | "deny" | null;
  verdict_why?: string;
  observed?: Record<string, string | number | number | boolean | null>;
  outcome?: string;
  why?: string;
  undoes?: string;
  /** Only with `--full` or `--fields`. */
  hash?: string;
}

/** One entry: ``entry`` is its exact text (itself JSON), ``hash`` the BLAKE2b-256 of ``previous``, a newline and
    that text; the first has no ``previous``. ``is_masked``: redaction changed it, so only its position can be proven.
    The last line has no entry, only the number of ``entries`` and the newest ``hash``. */
export interface AuditLine {
  id?: number;
  previous?: string;
  hash?: string;
  entry?: string | null;
  is_masked?: boolean;
  entries?: number | null;
}

/** Entries, oldest first. Pass ``cursor`` as `--after` to continue. ``is_continued`` is true for all but the first
    listing of a `--follow`. */
export interface AuditListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: AuditSummary;
  items?: Array<AuditItem>;
  cursor: number;
  is_continued?: boolean;
}

export interface AuditSummary {
  entries: number;
  by_stage?: Record<string, number>;
}

/** Choose what to verify. */
export interface AuditVerifyArgs {
  /** Verify a file from `audit export`; needs no daemon. */
  file?: string | null;
  /** A `hash` that you saved elsewhere; it must be in the log. */
  kept?: string;
}

/** ``entry`` is the first one that breaks the chain, ``what`` the reason. ``entries`` is the number of verified
    entries, ``hash`` the newest of them. In a file, the content of ``masked`` entries cannot be verified. */
export interface AuditVerifyResult {
  is_whole?: boolean;
  entry?: number | null;
  what?: string;
  entries?: number | null;
  hash?: string;
  masked?: number;
  is_file?: boolean;
}

/** An invalid workflow file and its error. */
export interface BrokenWorkflowFile {
  file?: string;
  why?: string;
}

/** ``key`` is the key that the session was looked up by; ``answer`` is the output of `cass`, redacted; ``detail`` is
    the error. */
export interface CassHistory {
  status: "failed" | "found" | "not_asked" | "not_installed" | "nothing";
  key?: "" | "path" | "session_id";
  answer?: unknown;
  detail?: string;
}

/** Result of a check. ``skip`` means that it could not run; ``hint`` explains how to fix a `warn` or `fail`. */
export interface CheckFinding {
  name?: string;
  status: "fail" | "ok" | "skip" | "warn";
  message?: string;
  hint?: string;
}

/** One command. ``seconds`` is its duration so far; null for a `lost` command, whose end was never reported.

    Its output is the lines ``first_line`` to ``last_line``; without output ``last_line`` is ``first_line`` - 1.
    ``is_proven``: the marks carried our nonce. */
export interface CommandFacts {
  id: number;
  status: "finished" | "lost" | "running";
  command?: string | null;
  cwd?: string | null;
  exit_code?: number | null;
  started_at?: string;
  ended_at?: string | null;
  seconds?: number | null;
  first_line: number;
  last_line?: number | null;
  is_proven?: boolean;
}

export interface CommandHelp {
  command?: string;
  /** Only with `--full` or `--fields`. */
  chapter?: string;
  /** Only with `--full` or `--fields`. */
  aliases?: Array<string>;
  robot?: string | null;
  usage?: string;
  summary?: string;
  effect?: string;
  examples?: Array<string>;
  options?: Array<OptionHelp>;
  exit_statuses?: Record<string, string>;
}

/** A command and its pane; ``age`` is the number of seconds since it started. */
export interface CommandItem {
  id: number;
  status: "finished" | "lost" | "running";
  command?: string | null;
  cwd?: string | null;
  exit_code?: number | null;
  started_at?: string;
  ended_at?: string | null;
  seconds?: number | null;
  first_line: number;
  last_line?: number | null;
  is_proven?: boolean;
  identity: PaneIdentity;
  age: number;
}

/** Commands, oldest first. */
export interface CommandListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: CommandsSummary;
  items?: Array<CommandItem>;
}

export interface CommandsSummary {
  commands: number;
  failed: number;
  by_status?: Record<string, number>;
}

/** Choose the shell; the scripts themselves call `panes`. */
export interface CompletionArgs {
  /** Your shell; `panes` lists panes for completion. */
  shell: "bash" | "fish" | "panes" | "zsh";
}

export interface CompletionScript {
  shell?: string;
  script?: string;
}

/** ``value`` is the value in the file, null if it is no longer there. */
export interface ConfigChangeResult {
  path?: string;
  name?: string;
  value?: string | null;
  changed?: boolean;
  overridden_by?: string | null;
  needs_restart?: boolean;
  warnings?: Array<string>;
}

/** Takes no arguments. */
export interface ConfigEditArgs {
}

export interface ConfigEditResult {
  path?: string;
}

/** Choose the setting. */
export interface ConfigGetArgs {
  /** The setting. */
  name: string;
}

/** ``value`` is formatted as in the config file, `unset` for none; ``origin`` as in `config show`. */
export interface ConfigGetResult {
  name?: string;
  value?: string;
  origin?: string;
}

/** Choose whether to replace an existing file. */
export interface ConfigInitArgs {
  /** Replace an existing file; it is kept as config.toml.old. */
  force?: boolean;
}

export interface ConfigInitResult {
  path?: string;
  kept?: string | null;
}

/** Takes no arguments. */
export interface ConfigPathArgs {
}

export interface ConfigPathResult {
  config_file?: string;
  data_dir?: string;
  runtime_dir?: string;
  database?: string;
  raw_dir?: string;
  log_file?: string;
  daemon_socket?: string;
}

/** Takes no arguments. */
export interface ConfigReloadArgs {
}

/** ``applied`` settings are active now; ``needs_restart`` have changed but need the command in ``restart_with``.

    ``rules`` is the number of active rules, null if none changed. ``rule_troubles`` are errors in rule files; with any,
    the previous rules stay active. ``agents`` are those whose description file is new, different or gone;
    ``agent_troubles`` are errors in such files, which are left out. */
export interface ConfigReloadResult {
  applied?: Array<string>;
  needs_restart?: Array<string>;
  restart_with?: Record<string, string>;
  rules?: number | null;
  rule_troubles?: Array<string>;
  agents?: Array<string>;
  agent_troubles?: Array<string>;
}

/** The setting and its new value. */
export interface ConfigSetArgs {
  /** The setting. */
  name: string;
  /** The value, also with a unit (`7d`, `20GB`); a list is separated by commas (patterns: by newlines) or `["a", "b"]`. */
  value: string;
}

/** Choose the settings to show. */
export interface ConfigShowArgs {
  /** Include settings at their default. */
  effective?: boolean;
}

export interface ConfigShowResult {
  path?: string;
  settings?: Array<SettingItem>;
}

/** Choose the setting. */
export interface ConfigUnsetArgs {
  /** The setting. */
  name: string;
}

/** Takes no arguments. */
export interface ConfigValidateArgs {
}

/** ``warnings`` are valid but suspicious settings; invalid ones are an error. */
export interface ConfigValidateResult {
  path?: string;
  exists?: boolean;
  settings_in_file?: Array<string>;
  warnings?: Array<string>;
}

/** ``by`` is the source that has shown ``state`` since the time ``since``. */
export interface ContradictionItem {
  /** Only with `--full` or `--fields`. */
  since?: string;
  age: number;
  by?: string;
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input";
}

/** The id of the rule, and its pack. */
export interface CreateRuleArgs {
  /** The rule's id: words joined by dots: `deploy.rollout.stuck`. */
  id: string;
  /** The pack of the rule; created if it does not exist. */
  pack?: string;
  /** Only in panes of this agent. */
  agent?: string;
}

export interface CreateRuleResult {
  path?: string;
  pack?: string;
}

/** The name of the workflow, and the event that starts it. */
export interface CreateWorkflowArgs {
  /** Name: lower-case letters, digits, - and _. */
  name: string;
  /** The event type that starts it; default: only `workflow run` does. */
  event?: string;
  /** Only for this agent. */
  agent?: string;
}

export interface CreateWorkflowResult {
  path?: string;
}

/** ``version`` is the version of the schema, ``newest_at`` the time of the newest event. */
export interface DatabaseContentsItem {
  version: number;
  panes: number;
  lines: number;
  events: number;
  newest_at?: string | null;
}

/** Choose the backup file. */
export interface DbBackupArgs {
  /** Path of the new file. */
  file: string;
}

/** ``version`` is the schema version. The backup has all tables, but not the raw log. */
export interface DbBackupResult {
  path?: string;
  bytes: number;
  taken_at?: string;
  version: number;
  panes: number;
  lines: number;
  events: number;
}

/** Choose how thorough the check is. */
export interface DbCheckArgs {
  /** Read every row and compare the search index with the text; needs space for a copy. */
  thorough?: boolean;
}

/** ``wrong`` is the problem; empty if the database is intact. */
export interface DbCheckResult {
  path?: string;
  is_fine?: boolean;
  is_thorough?: boolean;
  wrong?: string;
  duration_secs: number;
}

/** Choose a dry run. */
export interface DbPruneArgs {
  /** Show what would be done without doing it. */
  dry_run?: boolean;
}

/** Takes no arguments. */
export interface DbReindexArgs {
}

/** Choose the backup. */
export interface DbRestoreArgs {
  /** A file from `visor db backup`; default: the last snapshot in the data directory. */
  file?: string | null;
  /** Show what would be replaced without changing anything. */
  dry_run?: boolean;
  /** Do not ask for confirmation. */
  yes?: boolean;
}

/** ``present`` are the contents of the replaced database, ``kept`` its new path; both null if there was none. */
export interface DbRestoreResult {
  path?: string;
  restored_from?: string;
  bytes: number;
  backup?: DatabaseContentsItem | null;
  present?: DatabaseContentsItem | null;
  kept?: string | null;
  is_dry_run?: boolean;
}

/** Takes no arguments. */
export interface DbStatusArgs {
}

/** ``maintenance`` are the latest runs that changed something, newest first. */
export interface DbStatusResult {
  path?: string;
  is_writable?: boolean;
  db_bytes: number;
  wal_pages: number;
  last_checkpoint_at?: string | null;
  checkpoint_age_secs?: number | null;
  raw_bytes: number;
  maintenance?: Array<MaintenanceStep>;
}

/** Takes no arguments. */
export interface DbVacuumArgs {
}

/** Choose the approval requests. Without a number: the only open one. */
export interface DenyArgs {
  /** Numbers in `visor inbox`. */
  requests?: string;
  /** The number, for programs. */
  id?: number | null;
  /** Why, for the caller: an agent reads it. */
  reason?: string;
  /** All open requests that concern this pane. */
  pane?: string;
  /** All open requests; lists them and asks first. */
  all?: boolean;
  /** With --all: the requests up to this number, without asking. */
  up_to?: number | null;
  /** With --all: do not ask. */
  yes?: boolean;
  /** Close it as edited: you run another command yourself. */
  edited?: boolean;
}

/** ``told`` is how the reason reached the agent, empty if it did not. ``more`` are the other denied requests. */
export interface DenyResult {
  id: number;
  state: "allowed" | "denied" | "edited" | "expired" | "open" | "used" | "withdrawn";
  kind?: string;
  risk: "destructive" | "input" | "look" | "outside" | "process" | "reversible";
  what?: string;
  /** Only with `--full` or `--fields`. */
  action?: Record<string, unknown>;
  by?: string;
  pane?: number | null;
  place?: string;
  folder?: string;
  why?: Array<string>;
  answers?: number;
  needs?: number;
  count?: number;
  /** Only with `--full` or `--fields`. */
  asked_at?: string;
  age: number;
  /** Only with `--full` or `--fields`. */
  expires_at?: string | null;
  left?: number | null;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  grants?: Array<string>;
  after?: number | null;
  reason?: string;
  outcome?: string;
  outcome_why?: string;
  outcome_text?: string;
  told?: string;
  more?: Array<DenyResult>;
}

/** The name of the agent, its pane, and the state that the pane shows now. */
export interface DescribeAgentArgs {
  /** A name of your choice: a-z, 0-9 and _. */
  name: string;
  /** The pane in which the agent runs; any reference. */
  pane: string;
  /** The state that its screen shows now; saves the screen as an example. */
  shows?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
}

/** ``rows`` is the screen; ``problem`` is what the check of the file found; ``is_new``: the file was created. */
export interface DescribeAgentResult {
  path?: string;
  is_new?: boolean;
  rows?: Array<string>;
  saved?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  problem?: string;
}

/** The result of checking a file that describes an agent. ``problem`` is empty if the file can be used. */
export interface DescriptionCheck {
  name?: string;
  problem?: string;
  examples?: Array<string>;
}

/** The part of an event that comes from a rule match or an agent signal. ``proven`` is false if any program could
    have printed it: it never starts a workflow. ``remedy`` is the workflow that would handle it now. */
export interface DetectionItem {
  /** Only with `--full` or `--fields`. */
  rule?: string;
  /** Only with `--full` or `--fields`. */
  agent?: string;
  /** Only with `--full` or `--fields`. */
  runtime?: number | null;
  /** Only with `--full` or `--fields`. */
  severity?: "critical" | "error" | "info" | "warning";
  /** Only with `--full` or `--fields`. */
  captures?: Record<string, string>;
  /** Only with `--full` or `--fields`. */
  source?: string;
  /** Only with `--full` or `--fields`. */
  confidence?: number;
  context?: string;
  seen_again?: number;
  /** Only with `--full` or `--fields`. */
  last_seen?: string | null;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  proven?: boolean;
  handled?: HandlingItem | null;
  remedy?: string | null;
}

/** The current rule; ``is_in_force`` is false if it was removed or disabled since the detection. */
export interface DetectionRuleItem {
  id?: string;
  is_in_force?: boolean;
  why?: string;
  pack?: string;
  scope?: string;
  agent?: string;
  pattern?: string;
  cooldown?: number;
  remedy?: string;
}

/** Takes no arguments. */
export interface DoctorArgs {
}

/** ``is_fine`` is false if a check failed; warnings and skipped checks do not count. */
export interface DoctorResult {
  is_fine?: boolean;
  summary?: Record<string, number>;
  items?: Array<CheckFinding>;
}

/** The policy's ``answer`` with its trace (``path``), and in ``refused`` the first failed precondition, or "".

    ``code`` is the error that the call would end with, and ``hint`` what to do then; empty if it would be executed. */
export interface DryRunResult {
  what?: string;
  by?: string;
  answer: "allow" | "ask" | "deny";
  why?: string;
  path?: Array<string>;
  refused?: string;
  refused_why?: string;
  code?: string;
  hint?: string;
}

/** ``verdict`` is the policy's current verdict on an action, and ``why``; ``refused`` is a failed precondition of
    the pane, and ``ends_run`` tells that it will fail in the run too. ``assumed`` is what the dry run assumed: an
    answer, a text that appears, a time that passes. */
export interface DryRunStepItem {
  number: number;
  kind?: string;
  name?: string;
  given: unknown;
  verdict?: "allow" | "ask" | "deny" | null;
  why?: string;
  refused?: string;
  assumed?: string;
  ends_run?: boolean;
}

/** The answer: ``data`` if ``ok``, else ``error``. ``hint`` says what to do next: about an error always. */
export interface Envelope {
  ok: boolean;
  data?: unknown;
  error?: ErrorBody | null;
  hint?: string | null;
  elapsed_ms: number;
  version?: string;
  schema_version?: number;
  now: string;
}

/** ``code`` is stable, for programs; ``message`` is for users. */
export interface ErrorBody {
  code: string;
  message: string;
  details?: Record<string, string | number | number | boolean | Array<string> | null>;
}

/** ``status`` is `already` if it was handled before; the first handling is kept. */
export interface EventAckItem {
  cursor?: string;
  kind?: string;
  status: "already" | "handled" | "would_be";
  detection: DetectionItem;
}

/** ``cursor`` identifies the event; pass it back to get the events after it. ``detection`` is null if the event
    comes from neither a rule nor an agent. */
export interface EventItem {
  cursor?: string;
  at?: string;
  kind?: string;
  pane?: number | null;
  data?: Record<string, string | number | number | boolean | null>;
  detection?: DetectionItem | null;
}

/** Events, oldest first. ``cursor`` is where the next call, or `watch-events`, continues; it is beyond all events
    that the filters skipped. */
export interface EventListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: EventsSummary;
  items?: Array<EventItem>;
  cursor?: string | null;
}

/** Choose the events, and add a note. */
export interface EventsAckArgs {
  /** Cursors of the events, as in `visor events`. */
  ids: Array<string>;
  /** What you did about it. */
  note?: string;
  /** Only show what would be marked. */
  dry_run?: boolean;
}

export interface EventsAckResult {
  items?: Array<EventAckItem>;
}

/** Choose what to mute, where and for how long. */
export interface EventsMuteArgs {
  /** A rule, an event type, or a glob: codex.usage.*, usage.warning. */
  what: string;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Duration, such as 2h or 7d; default: until `events unmute`. */
  lasting?: string | null;
}

/** Takes no arguments. */
export interface EventsMutesArgs {
}

export interface EventsSummary {
  events: number;
  by_kind?: Record<string, number>;
}

/** Choose the mute. */
export interface EventsUnmuteArgs {
  /** The mute's ID in `visor events mutes`. */
  id: number;
}

export interface EventsUnmuteResult {
  mute_id: number;
}

/** One stored signal. ``event_at`` is the time that the source reported, ``heard_at`` the time of capture;
    ``payload`` is its content, redacted. */
export interface EvidenceItem {
  signal: number;
  source?: string;
  tier: "deterministic" | "heuristic";
  kind: "exited" | "heartbeat" | "no_agent" | "note" | "source_down" | "state" | "task_began" | "task_ended";
  state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  session?: string;
  event_id?: string;
  event_at?: string;
  heard_at?: string;
  age: number;
  title?: string;
  payload?: Record<string, string | number | number | boolean | null>;
}

/** A stored line around the match; ``is_it`` marks the matching one. */
export interface EvidenceLineItem {
  number: number;
  text?: string;
  is_it?: boolean;
}

/** Choose a pane or a recording. */
export interface ExplainArgs {
  /** The pane; any reference. */
  pane?: string | null;
  /** Explain this recording instead of a pane; needs no daemon. */
  file?: string | null;
  /** With --file: the instant, as time since its start (90s) or ISO 8601; default: its end. */
  at?: string | null;
  /** With --file: the agent, if the recording does not name it. */
  agent?: string | null;
}

/** Choose the event. */
export interface ExplainEventArgs {
  /** The event's cursor in `visor events`: 120 or event:120. */
  event: string;
}

/** ``evidence`` locates the match, ``lines`` are the lines stored there now; a repeated match with the same ``key``
    within the cooldown is counted instead of stored. */
export interface ExplainEventResult {
  event: EventItem;
  rule: DetectionRuleItem;
  key?: string;
  cooldown: number;
  evidence?: Record<string, string | number | number | boolean | null>;
  lines?: Array<EvidenceLineItem>;
  match_trace?: MatchTrace | null;
}

/** ``evidence`` is the deciding signal; null if there is none or it is no longer stored. ``doubts`` are observations
    that could not be attributed to this agent and were ignored. ``program`` says whether the version of the program was
    recorded, what is unproven if not, and how many of its screens no rule recognized. ``recording`` is null for a live
    agent. */
export interface ExplainResult {
  agent: AgentRow;
  reference?: string;
  evidence?: EvidenceItem | null;
  witnesses?: Array<SourceReadingItem>;
  would_change?: Array<PossibleChangeItem>;
  doubts?: Array<string>;
  program?: ProgramVersion;
  recording?: RecordingItem | null;
}

/** What to export, and the format; text by default. */
export interface ExportArgs {
  /** The pane: id, %id or session:window.pane. Default: all panes. */
  pane?: string | null;
  /** Plain lines (the default). */
  text?: boolean;
  /** One JSON object per line, with pane, line number and time. */
  jsonl?: boolean;
  /** Raw bytes of one pane, with escape sequences. */
  raw?: boolean;
  /** Recording of one pane as an asciicast, for asciinema. */
  cast?: boolean;
  /** With --cast: 2, which every player reads, or 3, for asciinema 3 and newer. */
  cast_version?: "2" | "3";
  /** Markdown report of panes, commands, events and gaps. */
  report?: boolean;
  /** Consistent copy of the database; requires --output with a new file. */
  snapshot?: boolean;
  /** Only data since this time: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Only data until this time: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** With --raw: do not redact secrets. This is logged. */
  unredacted?: boolean;
  /** Write to this file (mode 0600) instead of stdout. */
  output?: string | null;
}

/** A line, raw bytes (base64 in JSON), a line of an asciicast, a report, or the path of a snapshot. */
export interface ExportChunk {
  form: "cast" | "jsonl" | "raw" | "report" | "snapshot" | "text";
  pane?: number | null;
  at?: string;
  number?: number | null;
  text?: string | null;
  epoch?: number | null;
  data?: string | null;
}

/** Conditions beside the state. ``resets_in`` is seconds until the usage limit resets. ``ambiguous``: a signal may
    belong to this agent or to another one in its directory and was ignored; `explain` gives details. */
export interface FlagItem {
  usage_limited?: boolean;
  resets_at?: string | null;
  resets_in?: number | null;
  compacting?: boolean;
  auth_needed?: boolean;
  subtasks?: number;
  contradicted?: ContradictionItem | null;
  ambiguous?: boolean;
}

/** ``rows`` contain only text and SGR colours; ``note`` reports what is not visible, for example a gap. */
export interface FrameItem {
  pane: number;
  at?: string;
  width: number;
  height: number;
  rows?: Array<string>;
  cursor_x: number;
  cursor_y: number;
  is_cursor_shown?: boolean;
  is_alternate?: boolean;
  epoch: number;
  offset: number;
  note?: string;
}

/** ``after_epoch`` and ``before_epoch`` are the epochs (periods of continuous capture) around the gap. */
export interface GapItem {
  identity: PaneIdentity;
  cause: "client_paused" | "cursor_jump" | "descriptors_exhausted" | "disk_full" | "link_down" | "log_truncated" | "pane_reset" | "pipe_closed" | "pipe_stolen" | "recorder_restart" | "scrollback_truncated" | "server_gone" | "tail_uncertain";
  start_at?: string;
  end_at?: string | null;
  seconds?: number | null;
  after_epoch?: number | null;
  before_epoch?: number | null;
  detail?: string;
}

/** Gaps, oldest first. */
export interface GapListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: GapsSummary;
  items?: Array<GapItem>;
}

/** Output is missing after ``position`` lines of the text. */
export interface GapNote {
  position: number;
  cause: "client_paused" | "cursor_jump" | "descriptors_exhausted" | "disk_full" | "link_down" | "log_truncated" | "pane_reset" | "pipe_closed" | "pipe_stolen" | "recorder_restart" | "scrollback_truncated" | "server_gone" | "tail_uncertain";
  start_at?: string;
  end_at?: string | null;
}

/** ``by_cause`` counts the listed items; an uncertain tail does not count as a gap. */
export interface GapsSummary {
  gaps: number;
  open: number;
  uncertain_tails: number;
  by_cause?: Record<string, number>;
}

/** The pane, and optionally which stored screen. */
export interface GetScreenArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Keep colours (SGR escape sequences). */
  escapes?: boolean;
  /** Show a stored screen: its id (from a search hit), ISO 8601, today, or an age such as 10m. */
  at?: string | null;
}

/** The pane, which part of its text, and conditions on the pane. */
export interface GetTextArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Number of lines from the end; --if-tail checks as many. */
  tail?: number;
  /** Only lines after this cursor (from an earlier result). */
  since?: string | null;
  /** Maximum number of lines with --since or --command. */
  limit?: number;
  /** Only the output of one command: `last` or an id from list-commands. */
  command?: string | null;
  /** Also return each line with its number and time. */
  numbers?: boolean;
  /** Keep colours: the last lines as tmux shows them, because stored text has none. */
  escapes?: boolean;
  /** Print lines as they are completed, until the pane closes. */
  follow?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
}

/** ``by`` is who handled it: `person:1000`, `workflow:handle_compaction`, `mute:usage.*`. */
export interface HandlingItem {
  at?: string;
  by?: string;
  action?: string;
  run?: number | null;
}

/** Consecutive output from ``start`` to ``cursor``. ``is_incomplete``: bytes before ``start`` were deleted. */
export interface HarvestPage {
  job: number;
  mode: "jsonl" | "lines" | "raw";
  start: number;
  cursor: number;
  lines?: Array<TextLineItem>;
  pending?: string;
  data?: string | null;
  has_more?: boolean;
  is_over?: boolean;
  is_incomplete?: boolean;
}

/** Takes no arguments. */
export interface HealthArgs {
}

/** ``ingest_lag_*`` are seconds between a byte in the raw log and its stored text; ``forks`` counts started child
    processes; ``looks_per_minute`` is the current number of screen captures of full-screen programs, over all panes. */
export interface HealthReport {
  version?: string;
  servers?: Array<ServerHealth>;
  panes_tracked: number;
  ingest_lag_max: number;
  ingest_lag_avg: number;
  ingest_backlog_bytes: number;
  queue_depth: number;
  db_writable?: boolean;
  db_bytes: number;
  wal_pages: number;
  raw_bytes: number;
  gaps: number;
  restarts?: Record<string, number>;
  corrections: number;
  forks: number;
  looks_per_minute?: number;
  daemon: ProcessUsage;
  recorder?: ProcessUsage | null;
  workflows_active?: number;
  oldest_run_secs?: number | null;
  clock_jump_secs?: number;
  alerts?: Array<string>;
  is_ok?: boolean;
  started_at?: string;
  uptime_secs: number;
  last_checkpoint_at?: string | null;
  last_maintenance?: MaintenanceStep | null;
}

/** The command to explain; without it all commands are listed. */
export interface HelpArgs {
  /** The command to explain. */
  topic?: string | null;
  /** Include examples. */
  examples?: boolean;
}

/** ``summaries`` has a sentence per robot command, ``more`` the names of those for setup and maintenance;
    ``command`` is the single command that was asked for, and ``page`` its help page for people. */
export interface HelpText {
  summaries?: Record<string, string>;
  more?: Array<string>;
  command?: CommandHelp | null;
  examples?: Array<string>;
  /** Only with `--full` or `--fields`. */
  commands?: Array<CommandHelp>;
  /** Only with `--full` or `--fields`. */
  page?: string;
}

/** ``spans`` are the (start, end) offsets of the matches in ``text``; ``number`` is the line number.

    A row of a full-screen program has no number: it was first seen ``at`` and last at ``last_at``, in the stored
    ``screen`` that `get-screen --at` shows; ``before`` and ``after`` are the rows around it. A line of a transcript has
    no number either; ``role`` is its author, ``agent`` the agent of the conversation. */
export interface HitItem {
  identity: PaneIdentity;
  source?: "screen" | "stream" | "transcript";
  number?: number | null;
  at?: string;
  /** Only with `--full` or `--fields`. */
  age?: number | null;
  text?: string;
  /** Only with `--full` or `--fields`. */
  spans?: Array<[number, number]>;
  before?: Array<string>;
  after?: Array<string>;
  screen?: number | null;
  last_at?: string | null;
  role?: "assistant" | "user" | null;
  agent?: string | null;
}

/** Hits, newest first or best match first. */
export interface HitListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: HitsSummary;
  items?: Array<HitItem>;
}

/** ``is_complete`` is false if there are more hits, or may be: ``more`` says how to get them. */
export interface HitsSummary {
  hits: number;
  panes: number;
  is_complete?: boolean;
  more?: string;
}

/** The input of the agent's hook, and where it runs. */
export interface HookPermissionArgs {
  /** The agent that runs the hook. */
  agent: "claude_code" | "codex" | "copilot";
  /** The request as JSON; the command line reads it from stdin. */
  text?: string;
  /** The agent's TMUX variable. */
  tmux?: string;
  /** The agent's TMUX_PANE variable. */
  tmux_pane?: string;
  /** Seconds to wait for a person. */
  wait_secs?: number;
}

/** ``kept`` is the path of the backup, ``change`` the diff of a dry run. */
export interface HookSetupItem {
  agent: "claude_code" | "codex" | "copilot" | "gemini" | "opencode";
  part?: "hooks" | "mcp";
  path?: string;
  outcome: "foreseen" | "installed" | "removed" | "skipped" | "unchanged" | "updated";
  note?: string;
  kept?: string | null;
  change?: string;
}

/** Choose the requests, and whether to wait for one. */
export interface InboxArgs {
  /** The approval request's number in `visor inbox`. */
  id?: number | null;
  /** Include closed requests. */
  all?: boolean;
  /** If there is no open request, wait up to this many seconds for one. */
  wait?: number;
  /** Maximum number of requests. */
  limit?: number;
}

/** Approval requests, oldest first. ``policy_problem`` is the error in the policy file; then everything is asked. */
export interface InboxListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: InboxSummary;
  items?: Array<ApprovalItem>;
  policy_problem?: string;
}

export interface InboxSummary {
  questions: number;
  open: number;
}

/** ``items`` are all open requests in the first item of a stream (``is_snapshot``), later those that changed: a
    closed one with its answer, and once more with its outcome. ``waiting`` are the panes whose agent waits for a person
    without an open request. */
export interface InboxUpdate {
  is_snapshot?: boolean;
  at?: string;
  open: number;
  items?: Array<ApprovalItem>;
  waiting?: Array<number>;
}

/** The pane of the agent. */
export interface InterruptArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
}

/** The job, and preconditions. */
export interface JobAttachArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The job: its id, or its name for the newest of it. */
  job: string;
}

/** The job. */
export interface JobDetachArgs {
  /** The job: its id, or its name for the newest of it. */
  job: string;
}

/** The job, and the extractor. */
export interface JobExtractArgs {
  /** The job: its id, or its name for the newest of it. */
  job: string;
  /** Name of the extractor. */
  extractor: string;
  /** Write secret values to this new file, one `name=value` a line. */
  secret_file?: string;
}

/** ``values`` by name. Secret ones are only in ``secret_file``; ``secrets`` names them. */
export interface JobExtractResult {
  job: number;
  extractor?: string;
  values?: Record<string, string>;
  secrets?: Array<string>;
  secret_file?: string;
}

/** The job, where to begin, and the form. */
export interface JobHarvestArgs {
  /** The job: its id, or its name for the newest of it. */
  job: string;
  /** Begin at this byte; default: the first one. */
  cursor?: number | null;
  /** Begin where the last harvest of this job ended. */
  new?: boolean;
  /** Maximum number of lines, without --follow. */
  limit?: number;
  /** Return the bytes, with their escape sequences. */
  raw?: boolean;
  /** Print output as it arrives, until the job has ended. */
  follow?: boolean;
  /** Print each line as JSON: at, offset, text. */
  jsonl?: boolean;
  /** With --raw: do not mask secrets (a program needs approval). */
  unredacted?: boolean;
}

/** ``state`` is `starting`, `running`, `waiting_for_input` (``evidence`` says why, ``prompt`` what it asks),
    `finished` (``code``, or -1 with ``signal``) or `lost` (``why``).

    ``cursor`` is the end of the last harvest; ``output_bytes`` the length of the output, once it is known. */
export interface JobItem {
  id: number;
  name?: string;
  command?: string;
  state: "finished" | "lost" | "running" | "starting" | "waiting_for_input";
  evidence?: string;
  prompt?: string;
  code?: number | null;
  signal?: number | null;
  why?: string;
  duration_secs?: number | null;
  cpu_secs?: number | null;
  place: "pty" | "session" | "tmux";
  session?: string;
  pane?: number | null;
  /** Only with `--full` or `--fields`. */
  mux_pane?: string;
  /** Only with `--full` or `--fields`. */
  server?: string;
  /** Only with `--full` or `--fields`. */
  pid?: number;
  started_at?: string | null;
  finished_at?: string | null;
  output_bytes?: number | null;
  /** Only with `--full` or `--fields`. */
  cursor?: number;
  /** Only with `--full` or `--fields`. */
  errno?: number;
  /** Only with `--full` or `--fields`. */
  max_rss?: number;
  attempt?: number;
  retry_of?: number | null;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
}

/** Which jobs to list. */
export interface JobListArgs {
  /** Only these states, separated by commas. */
  state?: string | null;
  /** Only jobs of this name. */
  name?: string | null;
  /** Only jobs created since this time. */
  since?: string | null;
  /** Maximum number of jobs, newest first. */
  limit?: number;
  /** Show durations, success rate and prompts by name instead. */
  summary?: boolean;
}

/** Jobs, oldest first. */
export interface JobListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: JobsSummary;
  items?: Array<JobItem>;
}

/** What to keep; without options, what the settings say. */
export interface JobPruneArgs {
  /** Keep at most this many ended jobs. */
  keep?: number | null;
  /** Say what would be deleted; delete nothing. */
  dry_run?: boolean;
}

/** What was deleted, or would be: ended jobs, bytes of their output, and what was left of dead ones. */
export interface JobPruneResult {
  jobs: number;
  freed_bytes?: number;
  orphans?: number;
}

/** The job, and what to type. */
export interface JobSendArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The job: its id, or its name for the newest of it. */
  job: string;
  /** Text to type; `-` reads stdin. */
  text?: string;
  /** Read the text from stdin; same as `-` as text. */
  stdin?: boolean;
  /** Read the text from this file; `-` for stdin. */
  file?: string | null;
  /** The text is a secret: from --file, stdin, or asked for without echo; never an argument. */
  secret?: boolean;
  /** The text names keys: Up, C-c, Enter, a, … */
  keys?: boolean;
  /** Do not press Enter. */
  no_enter?: boolean;
  /** Type although it is not proven to wait for input. */
  force?: boolean;
}

/** ``status`` is `delivered` once the program has read what was typed. */
export interface JobSendResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  job?: number;
  bytes_sent?: number;
}

/** The job. */
export interface JobStatusArgs {
  /** The job: its id, or its name for the newest of it. */
  job: string;
}

/** The job. */
export interface JobStopArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The job: its id, or its name for the newest of it. */
  job: string;
}

export interface JobStopResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  job?: JobItem | null;
}

/** Figures about the jobs of one name; durations in seconds. */
export interface JobSummary {
  name?: string;
  jobs: number;
  running: number;
  succeeded: number;
  failed: number;
  lost: number;
  median_s?: number | null;
  longest_s?: number | null;
  prompts?: Array<string>;
}

/** The job, and the states to wait for. */
export interface JobWaitArgs {
  /** The job: its id, or its name for the newest of it. */
  job: string;
  /** States to wait for, separated by commas; default: its end, or a prompt. */
  state?: string;
  /** Wait for its end only, also beyond prompts. */
  ended?: boolean;
  /** Time out after this many seconds. */
  timeout_secs?: number;
}

/** ``groups`` are the figures by name, with --summary. */
export interface JobsSummary {
  jobs: number;
  by_state?: Record<string, number>;
  groups?: Array<JobSummary>;
}

/** The pane, and the signal or --close. */
export interface KillArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Signal for the foreground program. */
  signal?: "HUP" | "INT" | "KILL" | "QUIT" | "TERM";
  /** Close the pane and everything in it. */
  close?: boolean;
}

/** Filters on commands. */
export interface ListCommandsArgs {
  /** Maximum number of commands, newest first. */
  limit?: number;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only commands with a nonzero exit status. */
  failed?: boolean;
  /** Only commands started since: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Only commands that contain this text (ignores case). */
  text?: string | null;
}

/** Choose the events to list. */
export interface ListEventsArgs {
  /** Maximum number of events. */
  limit?: number;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only this kind, for example gap_recorded. */
  kind?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** List the first events after this cursor. */
  since_cursor?: string | null;
  /** Only detections that have not been handled. */
  unhandled?: boolean;
  /** Only detections of this type, such as usage.reached, or a glob such as usage.*. */
  type?: string | null;
  /** Only detections of this rule, or a glob. */
  rule?: string | null;
  /** Only detections about this agent, such as codex. */
  agent?: string | null;
  /** Only detections of at least this severity. */
  severity?: "critical" | "error" | "info" | "warning" | null;
  /** Only detections, each with the workflow that would handle it now. */
  would_handle?: boolean;
  /** If no event matches, wait up to this many seconds for one. */
  wait?: number;
  /** With --would-handle: no effect; listing never starts a workflow. */
  dry_run?: boolean;
}

/** Filters on gaps. */
export interface ListGapsArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only gaps since this time: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Also list exits of programs whose last bytes may be missing (tail_uncertain). */
  tails?: boolean;
}

/** Filters on panes. */
export interface ListPanesArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in these states, comma-separated: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need you. */
  needs_action?: boolean;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Also list closed panes. */
  gone?: boolean;
}

/** Takes no arguments. */
export interface ListPermitsArgs {
}

/** Takes no arguments. */
export interface ListReservationsArgs {
}

/** Filters, and how sessions are grouped. */
export interface ListSessionsArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in these states, comma-separated: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need you. */
  needs_action?: boolean;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Group sessions per server, or merge those of the same name. */
  group_by?: "session-name" | "target-session";
  /** Show the states of each kind of agent. */
  agent_summary?: boolean;
}

/** Choose the sources to list. */
export interface ListSourcesArgs {
  /** Only sources of this agent. */
  agent?: string | null;
  /** Only sources with this status. */
  status?: "absent" | "down" | "quiet" | "well" | null;
}

/** Filters on windows. */
export interface ListWindowsArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in these states, comma-separated: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need you. */
  needs_action?: boolean;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Show the state of each agent. */
  with_agent_status?: boolean;
}

export interface LogLines {
  path?: string;
  level?: "debug" | "error" | "info" | "warning" | null;
  lines?: Array<string>;
}

/** Which part of the log to show. */
export interface LogsArgs {
  /** Number of lines from the end. */
  tail?: number;
  /** Minimum level. */
  level?: "debug" | "error" | "info" | "warning" | null;
  /** Keep printing new lines. */
  follow?: boolean;
}

/** ``rows`` and ``bytes`` are the amounts that ``operation`` deleted, sealed or freed. */
export interface MaintenanceStep {
  operation?: string;
  started_at?: string;
  duration_secs: number;
  rows: number;
  bytes: number;
  detail?: string;
  is_done?: boolean;
  is_foretold?: boolean;
}

export interface MatchTrace {
  rule_id?: string;
  spans?: Array<TraceSpan>;
  extracted_keys?: Array<string>;
  confidence?: number | null;
  eval_path?: Array<TraceStage>;
  bounds?: TraceBounds;
  redaction?: TraceRedaction;
}

/** A text that the rule must match, and its captures. */
export interface MatchingExample {
  text?: string;
  captures?: Record<string, string>;
  version?: string;
}

/** ``pane`` is null for all panes, ``until`` is null without an end. */
export interface MuteItem {
  id: number;
  what?: string;
  pane?: number | null;
  since?: string;
  until?: string | null;
  by?: string;
}

/** Active mutes, oldest first. */
export interface MuteListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: MutesSummary;
  items?: Array<MuteItem>;
}

export interface MutesSummary {
  mutes: number;
}

/** Choose among the waiting agents, and whether to attach. */
export interface NextArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Only in this session. */
  session?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Skip this many of the most urgent ones. */
  skip?: number;
  /** Attach to its pane in this terminal, like `attach`. */
  go?: boolean;
}

/** ``found`` is null if no agent needs a person; ``waiting`` counts all that do. ``attached`` is set by `--go`.
    ``requests`` are the numbers of its open requests in the inbox. */
export interface NextResult {
  found?: AgentRow | null;
  waiting: number;
  attached?: AttachResult | null;
  requests?: Array<number>;
}

/** A similar text that the rule must not match. */
export interface NonMatchingExample {
  text?: string;
  why?: string;
}

/** The notification, and the channels to send it over. */
export interface NotifyArgs {
  /** Title of the notification. */
  title: string;
  /** Body; all further words. */
  text?: string;
  /** The pane that it is about; not sent to a person who is looking at it. */
  pane?: string | null;
  /** Channel: terminal, desktop, webhook or command; repeatable. Default: setting `notify_ways`. */
  way?: Array<"command" | "desktop" | "terminal" | "webhook">;
  /** Show the decision without sending anything. */
  dry_run?: boolean;
}

/** The outcome of one channel. ``why`` is a stable code; ``correlation`` finds it in the audit log. */
export interface NotifyChannelResult {
  way: "command" | "desktop" | "terminal" | "webhook";
  status: "denied" | "done" | "failed" | "foreseen" | "suppressed" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  foreseen?: DryRunResult | null;
}

/** ``ways`` are the channels in the given order. */
export interface NotifyResult {
  pane?: PaneIdentity | null;
  ways?: Array<NotifyChannelResult>;
}

/** An open request in the inbox that concerns a pane; `visor approve <id>` answers it. */
export interface OpenRequestItem {
  id: number;
  pane: number;
}

/** One argument. ``name`` has a leading `--` unless it is given by its place; ``default`` is null if it has none. */
export interface OptionHelp {
  name?: string;
  type?: string;
  default?: unknown;
  is_required?: boolean;
  values?: Array<string>;
  about?: string;
}

/** One pane as a live view lists it.

    ``since`` is when the agent came into its state or, without an agent, the pane into its activity. ``flags`` are
    conditions beside the state. ``requests`` are the numbers of the open approval requests about it. */
export interface PaneBrief {
  id: number;
  target?: string;
  session?: string;
  window_id?: string;
  window?: string;
  pane_id?: string;
  agent?: string | null;
  state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  reason?: "gap" | "no_signal" | "stale_signal" | "target_unreachable" | "unknown_screen" | "unseen_version" | "unsupported_signal" | null;
  evidence_mode?: "deterministic" | "heuristic" | "none";
  source?: string;
  needs?: "answer" | "approve" | "log_in" | "look" | "review" | "see_error" | "wait_for_limit" | null;
  needs_action?: boolean;
  flags?: Array<string>;
  requests?: Array<number>;
  activity?: "alt_screen" | "command" | "gap" | "prompt" | "unknown";
  command_line?: string;
  last_exit?: number | null;
  is_dead?: boolean;
  since?: string | null;
  title?: string;
  command?: string;
  cwd?: string;
  model?: string;
  tokens?: number | null;
  cost?: number | null;
  context_used?: number | null;
}

/** ``id`` is assigned by Termvisor and never reused; ``pane_id`` is the multiplexer's id, such as `%5`. */
export interface PaneIdentity {
  target?: string;
  session_name?: string;
  /** Only with `--full` or `--fields`. */
  window_id?: string;
  pane_id?: string;
  id: number;
}

export interface PaneItem {
  identity: PaneIdentity;
  /** Only with `--full` or `--fields`. */
  presence?: "managed" | "unmanaged";
  agent?: string | null;
  /** Only with `--full` or `--fields`. */
  runtime?: number | null;
  state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  reason?: "gap" | "no_signal" | "stale_signal" | "target_unreachable" | "unknown_screen" | "unseen_version" | "unsupported_signal" | null;
  /** Only with `--full` or `--fields`. */
  evidence_mode?: "deterministic" | "heuristic" | "none";
  /** Only with `--full` or `--fields`. */
  source?: string;
  /** Only with `--full` or `--fields`. */
  confidence?: "high" | "low" | "medium" | null;
  /** Only with `--full` or `--fields`. */
  state_since?: string | null;
  state_age?: number | null;
  /** Only with `--full` or `--fields`. */
  state_version?: number;
  /** Only with `--full` or `--fields`. */
  last_event?: string | null;
  needs?: "answer" | "approve" | "log_in" | "look" | "review" | "see_error" | "wait_for_limit" | null;
  /** Only with `--full` or `--fields`. */
  needs_action?: boolean;
  flags?: FlagItem;
  agent_title?: string;
  /** Only with `--full` or `--fields`. */
  agent_version?: string;
  /** Only with `--full` or `--fields`. */
  agent_version_status?: "between_recorded" | "no_recordings" | "recorded" | "unknown" | "unseen" | null;
  /** Only with `--full` or `--fields`. */
  model?: string;
  /** Only with `--full` or `--fields`. */
  tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  cost?: number | null;
  /** Only with `--full` or `--fields`. */
  cost_is_estimated?: boolean;
  /** Only with `--full` or `--fields`. */
  context_used?: number | null;
  /** Only with `--full` or `--fields`. */
  context_tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  signature_class?: "deterministic" | "heuristic" | "none";
  /** Only with `--full` or `--fields`. */
  signature_reason?: "cmd_match" | "handshake" | "poller_match" | "provider_hint" | "signature_guard_rejected" | "signature_inconclusive";
  /** Only with `--full` or `--fields`. */
  signature_confidence?: number;
  /** Only with `--full` or `--fields`. */
  signature_inputs?: SignatureInputs;
  /** Only with `--full` or `--fields`. */
  reference?: string;
  /** Only with `--full` or `--fields`. */
  server?: string;
  /** Only with `--full` or `--fields`. */
  window_name?: string;
  /** Only with `--full` or `--fields`. */
  window_index?: number;
  /** Only with `--full` or `--fields`. */
  pane_index?: number;
  /** Only with `--full` or `--fields`. */
  is_active?: boolean;
  command?: string;
  cwd?: string;
  /** Only with `--full` or `--fields`. */
  title?: string;
  /** Only with `--full` or `--fields`. */
  width?: number;
  /** Only with `--full` or `--fields`. */
  height?: number;
  activity?: ActivityItem;
  heard_by?: "control" | "none" | "pipe" | "polled" | "pty";
  gap_cause?: "client_paused" | "cursor_jump" | "descriptors_exhausted" | "disk_full" | "link_down" | "log_truncated" | "pane_reset" | "pipe_closed" | "pipe_stolen" | "recorder_restart" | "scrollback_truncated" | "server_gone" | "tail_uncertain" | null;
  /** Only with `--full` or `--fields`. */
  first_seen_at?: string;
  /** Only with `--full` or `--fields`. */
  last_output_at?: string | null;
  /** Only with `--full` or `--fields`. */
  last_output_age?: number | null;
  gone_at?: string | null;
  is_dead?: boolean;
  exit_status?: number | null;
  exit_signal?: number | null;
  /** Only with `--full` or `--fields`. */
  bytes_heard?: number;
  /** Only with `--full` or `--fields`. */
  bytes_per_second?: number;
  /** Only with `--full` or `--fields`. */
  lines?: number;
  gaps?: number;
}

/** Panes, by id. */
export interface PaneListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: PanesSummary;
  items?: Array<PaneItem>;
  notes?: Array<string>;
}

/** A `state` line starts a part of the recording: the state that the user saw, and how the agent ran. Then follow
    the screens of that part, each when it had changed, and its output: raw bytes (base64), redacted like the screens. */
export interface PaneRecordingLine {
  kind: "output" | "screen" | "state";
  at?: string;
  state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  agent?: string;
  agent_version?: string;
  width?: number;
  height?: number;
  rows?: Array<string>;
  cursor_x?: number;
  cursor_y?: number;
  is_alternate?: boolean;
  data?: string;
}

/** ``panes`` are all rows in the first item of a stream (``is_snapshot``), later those that are new or changed.
    ``gone`` are the ids of panes that were closed. */
export interface PaneRowsUpdate {
  is_snapshot?: boolean;
  at?: string;
  panes?: Array<PaneBrief>;
  gone?: Array<number>;
}

/** ``text`` has the complete lines, ``pending`` the incomplete last one. Continue reading at ``cursor``. */
export interface PaneText {
  identity: PaneIdentity;
  source?: "screen" | "stream";
  text?: string;
  pending?: string;
  cursor?: string;
  /** Only with `--full` or `--fields`. */
  first_at?: string | null;
  last_at?: string | null;
  is_complete?: boolean;
  command?: CommandFacts | null;
  lines_gone?: number;
  rewritten?: number;
  is_repainting?: boolean;
  screen?: string;
  gaps?: Array<GapNote>;
  lines?: Array<TextLine>;
}

/** ``by_state`` are the seconds in each state. Nothing is known of the time between two spans. */
export interface PaneTimeline {
  identity: PaneIdentity;
  agent?: string;
  spans?: Array<StateSpan>;
  by_state?: Record<string, number>;
}

export interface PanesSummary {
  panes: number;
  /** Only with `--full` or `--fields`. */
  by_activity?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_target?: Record<string, number>;
  gaps?: number;
  agents: AgentTotals;
}

/** ``text`` is the output of the hook in the agent's format. ``correlation`` finds the request in the audit log. */
export interface PermissionAnswer {
  decision: "allow" | "deny";
  text?: string;
  correlation?: string;
}

/** ``caller`` may do what ``grants`` names, by actions of this ``kind`` in ``pane`` (null: in all).

    ``left`` is the seconds until it expires. */
export interface PermitItem {
  id: number;
  caller?: string;
  kind?: string;
  grants?: Array<string>;
  pane?: number | null;
  given_by?: string;
  given_at?: string;
  expires_at?: string;
  left: number;
}

/** Permits in force, oldest first. ``once`` are requests that were approved once and not executed yet, in order. */
export interface PermitListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: PermitsSummary;
  items?: Array<PermitItem>;
  once?: Array<ApprovalItem>;
}

export interface PermitsSummary {
  permits: number;
}

/** The command line of an operation that executes an action. */
export interface PolicyExplainArgs {
  /** A command that acts: send, send-keys, kill, spawn, … */
  command: string;
  /** Its arguments; put options after --. */
  words?: Array<string>;
}

/** Choose the values to show. */
export interface PolicyShowArgs {
  /** Only values that differ from the defaults. */
  changed?: boolean;
}

/** ``policy`` is null if the file is invalid and no policy was active before: then nothing is allowed. ``trouble``
    is the error in the file; the policy is then the previous one. */
export interface PolicyShowResult {
  path?: string;
  policy?: Record<string, unknown> | null;
  trouble?: string;
}

/** Choose the file. */
export interface PolicyTestArgs {
  /** The file; default: `policy.toml` in the config directory. */
  file?: string | null;
}

/** ``exists`` is false if there is no file and the defaults apply; an invalid file is an error. */
export interface PolicyTestResult {
  path?: string;
  exists?: boolean;
}

/** ``at`` is when a timeout will cause the change; null if an event is needed. */
export interface PossibleChangeItem {
  what?: string;
  at?: string | null;
  in_secs?: number | null;
}

/** ``cpu_percent`` refers to one core over the last minute, ``cpu_seconds`` to the time since the start. */
export interface ProcessUsage {
  pid: number;
  rss_bytes: number;
  cpu_seconds: number;
  cpu_percent: number;
  free_descriptors?: number | null;
}

/** The version of a running agent, and how far its states are backed by recordings. */
export interface ProgramVersion {
  version?: string;
  status?: "between_recorded" | "no_recordings" | "recorded" | "unknown" | "unseen";
  recorded?: Array<string>;
  unproven?: Array<string>;
  screens?: number;
  strange_screens?: number;
}

/** Takes no arguments. */
export interface QuickStartArgs {
}

/** ``robots`` has the commands for programs and agents, ``people`` those for users. */
export interface QuickStartResult {
  what?: string;
  robots?: Array<QuickStartStep>;
  /** Only with `--full` or `--fields`. */
  people?: Array<QuickStartStep>;
  notes?: Array<string>;
}

export interface QuickStartStep {
  run?: string;
  does?: string;
}

/** The pane of the agent. */
export interface QuitAgentArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
}

/** The pane, and the state of its agent. */
export interface RecordAgentArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** The state that the pane shows, as you see it. */
  shows: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input";
  /** Record this many seconds; 0 records one screen. */
  secs?: number;
  /** The agent, if the pane's agent is not recognized. */
  agent?: string;
}

/** ``moments`` counts the recorded moments up to ``at``, the explained instant. A `cast` holds screens only,
    `scenes` also the signals of the agent. */
export interface RecordingItem {
  path?: string;
  kind: "cast" | "scenes";
  version?: string;
  began_at?: string;
  ended_at?: string;
  at?: string;
  moments: number;
}

/** The reservation to end. */
export interface ReleaseArgs {
  /** Id of the reservation, from `reserve`. */
  id: number;
}

export interface ReleaseResult {
  reservation_id: number;
}

/** The pane, the period and the speed. */
export interface ReplayArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Start time: ISO 8601, today, or an age such as 10m. Default: the beginning. */
  at?: string | null;
  /** End time: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** Speed factor; 0 (the default for programs) means as fast as possible. */
  speed?: number;
}

/** The user variable and its pane. */
export interface ReportEventArgs {
  /** The pane; any reference. */
  pane: string;
  /** The variable's name: visor-ready, visor-checkpoint, visor-… */
  name: string;
  /** Its value: JSON, or JSON in base64, at most 4 KB. */
  value: string;
  /** Report a user variable; required. */
  from_uservar?: boolean;
}

/** ``event`` is the stored event; null if the pane exceeds its rate limit; its next event counts these reports. */
export interface ReportEventResult {
  identity: PaneIdentity;
  event?: EventItem | null;
}

/** ``left`` is the number of seconds until it expires. ``is_own``: the caller may act without `--owner`. */
export interface ReservationItem {
  reservation_id: number;
  pane: number;
  owner?: string;
  /** Only with `--full` or `--fields`. */
  reserved_at?: string;
  /** Only with `--full` or `--fields`. */
  expires_at?: string;
  left: number;
  is_own?: boolean;
}

/** Active reservations, oldest first. */
export interface ReservationListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: ReservationsSummary;
  items?: Array<ReservationItem>;
}

export interface ReservationsSummary {
  reservations: number;
}

/** The pane, the owner and the duration. */
export interface ReserveArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Name of the owner, to pass as `--owner` to actions. Default: the caller. */
  owner?: string;
  /** Duration in seconds. */
  ttl_secs?: number;
}

/** Choose the session to resume. */
export interface ResumeSessionArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The session: its ID in `visor agents sessions`, or the agent's own session id. */
  session: string;
  /** Name of the new window. */
  name?: string;
  /** Run under this account: `name` or `service/name`. */
  account?: string;
}

/** Choose the sessions to revive. */
export interface ReviveArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The session: its ID in `visor agents sessions`, or the agent's own session id. */
  session?: string;
  /** All interrupted sessions: the pane went away, or the agent crashed. */
  all?: boolean;
  /** With --all: only sessions that ended after this: ISO 8601, today, or an age such as 2h. */
  since?: string;
  /** Seconds to wait for the agent to come up with its session. */
  verify_secs?: number;
}

/** Sessions, oldest first; then the interrupted ones that cannot be resumed, as `skipped`. */
export interface ReviveResult {
  items?: Array<RevivedSessionItem>;
}

/** One session. ``status``: `revived` (the agent came up with this session), `started` (not verified in time),
    `planned`, `skipped` or `failed`; ``why`` gives the reason. ``where`` is `pane` (the shell that the agent left),
    `window` or `session`; ``pane`` is the pane it runs in now. ``verdict`` is the policy's verdict on a planned one. */
export interface RevivedSessionItem {
  session: number;
  agent?: string;
  external_id?: string;
  cwd?: string;
  command?: string;
  status: "failed" | "planned" | "revived" | "skipped" | "started";
  where?: "" | "pane" | "session" | "window";
  pane?: number | null;
  why?: string;
  verdict?: string;
  correlation?: string;
}

/** Choose the permit. */
export interface RevokePermitArgs {
  /** The permit's ID in `visor permits`. */
  id: number;
}

export interface RevokePermitResult {
  permit_id: number;
}

/** ``agent`` is empty for a rule that applies to every pane; ``is_disabled``: disabled in the settings. */
export interface RuleItem {
  id?: string;
  pack?: string;
  agent?: string;
  scope?: string;
  severity?: string;
  event?: string;
  remedy?: string;
  why?: string;
  is_disabled?: boolean;
}

/** ``packs`` are in load order; ``troubles`` are the errors of rules that could not be loaded. */
export interface RuleListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: RulesSummary;
  packs?: Array<RulePackItem>;
  troubles?: Array<string>;
  items?: Array<RuleItem>;
}

/** ``rules`` counts the active ones. */
export interface RulePackItem {
  name?: string;
  version?: string;
  origin?: string;
  folder?: string;
  rules: number;
}

/** A problem with one file. Its rule is not active; all others are. */
export interface RuleProblem {
  file?: string;
  line?: number | null;
  key?: string;
  rule?: string;
  why?: string;
}

/** ``line`` is the line where the match ends, from 1; null if the rule does not match. */
export interface RuleTestItem {
  rule?: string;
  pack?: string;
  matched?: boolean;
  line?: number | null;
  event?: string;
  severity?: string;
  captures?: Record<string, string>;
  is_disabled?: boolean;
  match_trace?: MatchTrace | null;
}

/** Choose the rules. */
export interface RulesLintArgs {
  /** A rule file, a pack, or a directory of packs; default: all packs of this instance. */
  path?: string | null;
}

/** ``rules`` counts the valid rules; ``troubles`` are the errors of the others. ``doubts`` are warnings about valid
    ones, such as a probably misspelled agent or workflow. */
export interface RulesLintResult {
  rules: number;
  packs?: Array<string>;
  troubles?: Array<RuleProblem>;
  doubts?: Array<RuleProblem>;
}

/** Choose the rules. */
export interface RulesListArgs {
  /** Only rules of this pack, such as `core.shell`. */
  pack?: string | null;
  /** Only rules for this agent. */
  agent?: string | null;
  /** Only rules with this scope. */
  scope?: "line" | "mark" | "screen" | "stream" | "transcript" | null;
}

/** Choose the rule. */
export interface RulesShowArgs {
  /** The rule's id, such as `codex.usage.reached`. */
  id: string;
}

/** ``replaces`` are the packs whose rule with this id it replaces. */
export interface RulesShowResult {
  id?: string;
  pack?: string;
  since?: string;
  agent?: string;
  versions?: string;
  scope?: string;
  part?: string;
  anchors?: Array<string>;
  pattern?: string;
  severity?: string;
  event?: string;
  state?: string | null;
  flag?: string | null;
  confidence: number;
  cooldown: number;
  remedy?: string;
  why?: string;
  hits?: Array<MatchingExample>;
  misses?: Array<NonMatchingExample>;
  is_disabled?: boolean;
  replaces?: Array<string>;
}

export interface RulesSummary {
  rules: number;
  disabled: number;
  by_pack?: Record<string, number>;
}

/** The text, and the rules to test. */
export interface RulesTestArgs {
  /** The text; all further words. `-` reads it from stdin. */
  text?: string;
  /** Read the text from stdin; same as `-` as text. */
  stdin?: boolean;
  /** Read the text from this file; `-` for stdin. */
  file?: string | null;
  /** As if this agent were running in the pane; default: rules for all agents. */
  agent?: string | null;
  /** Only rules with this scope. */
  scope?: "line" | "mark" | "screen" | "stream" | "transcript" | null;
  /** Only this rule, even if it does not match. */
  rule?: string | null;
  /** Add a trace of each match. */
  trace?: boolean;
}

/** ``tried`` is the number of tested rules. */
export interface RulesTestResult {
  tried: number;
  matched: number;
  items?: Array<RuleTestItem>;
}

/** The command, where to run it, and how to watch it. */
export interface RunArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Program and arguments after --, or one shell line. */
  command: Array<string>;
  /** Its terminal: an own PTY, the private tmux server, or a window of a session. */
  place?: "pty" | "session" | "tmux" | null;
  /** Session for --place session, made if it is missing. */
  session?: string;
  /** tmux server of that session, if there are several. */
  server?: string;
  /** Working directory; default: yours. */
  cwd?: string;
  /** Environment variable NAME=value; may be repeated. */
  env?: Array<string>;
  /** Name of the job, for lists and statistics. */
  name?: string;
  /** Run the words as one line of `bash -lc` with pipefail. */
  shell?: boolean;
  /** Run a single word as a program; `--` implies it. */
  exact?: boolean;
  /** Keep a shell in the terminal afterwards. */
  interactive?: boolean;
  /** Close the window afterwards, also in --place session. */
  no_interactive?: boolean;
  /** Stop it after this many seconds. 0: never. */
  timeout?: number | null;
  /** Pattern of a prompt at which it waits; may be repeated. */
  detect?: Array<string>;
  /** Pattern of a secret in its output; may be repeated. */
  redact?: Array<string>;
  /** Use the prompts and secrets of this extractor. */
  extractor?: string;
  /** Report it as waiting after this many idle seconds (a guess). 0: never. */
  quiet_after?: number;
  /** Wait until it has ended or waits for input. */
  wait?: boolean;
  /** Give up --wait after this many seconds. */
  timeout_secs?: number;
}

/** The run right after the request; the effect may take a moment. */
export interface RunChangeResult {
  run: RunItem;
}

/** ``why`` is how it ended or what it waits for; ``plan`` is what a paused run does next, at ``due_at``. */
export interface RunItem {
  id: number;
  workflow?: string;
  /** Only with `--full` or `--fields`. */
  version?: number;
  status: "cancelled" | "completed" | "failed" | "paused" | "running" | "waiting";
  why?: string;
  plan?: string;
  /** Only with `--full` or `--fields`. */
  origin?: string;
  event?: number | null;
  pane?: number | null;
  agent?: string;
  /** Only with `--full` or `--fields`. */
  mode?: "ask" | "off" | "on";
  /** Only with `--full` or `--fields`. */
  began_at?: string;
  ended_at?: string | null;
  due_at?: string | null;
  age: number;
  facts?: Record<string, unknown>;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
}

/** The newest runs, oldest first. */
export interface RunListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: RunsSummary;
  items?: Array<RunItem>;
}

/** ``job`` is the started job; its ``pane`` has the log. With --wait it is what the job came to. */
export interface RunResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  job?: JobItem | null;
}

export interface RunsSummary {
  runs: number;
  by_status?: Record<string, number>;
}

/** ``row`` counts from 0 at the top. */
export interface ScreenRowUpdate {
  row: number;
  text?: string;
}

/** ``cursor_x`` and ``cursor_y`` count from 0 at the top left.

    ``screen`` is the id of a stored screen; the rows in ``left_out`` were not stored, because users type there. */
export interface ScreenText {
  identity: PaneIdentity;
  at?: string;
  rows?: Array<string>;
  /** Only with `--full` or `--fields`. */
  width?: number;
  /** Only with `--full` or `--fields`. */
  height?: number;
  cursor_x: number;
  cursor_y: number;
  is_alternate?: boolean;
  screen?: number | null;
  left_out?: Array<number>;
}

/** ``rows`` are all rows if ``is_full``, else those that changed. A pane that changes its size starts with all
    rows again. */
export interface ScreenUpdate {
  pane: number;
  at?: string;
  is_full?: boolean;
  width: number;
  height: number;
  cursor_x: number;
  cursor_y: number;
  is_alternate?: boolean;
  rows?: Array<ScreenRowUpdate>;
}

/** The query and its filters. */
export interface SearchHistoryArgs {
  /** Words, "phrases", prefix*, AND OR NOT, and filters such as pane:7 session:work since:10m. */
  text: string;
  /** Maximum number of hits. */
  limit?: number;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only hits since this time: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Only hits until this time. */
  until?: string | null;
  /** Show an excerpt around the match instead of the whole line. */
  snippets?: boolean;
  /** Newest first, or best match first. */
  rank?: "recency" | "relevance";
  /** Lines of context before and after each hit. */
  context?: number;
}

/** The pane, the keys and preconditions. */
export interface SendKeysArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Keys by tmux name: C-c, Escape, Up, Enter, a, … */
  keys: Array<string>;
}

/** The pane, the text and preconditions. */
export interface SendTextArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Require this agent process: `runtime` of `visor status` and events. */
  if_runtime?: number | null;
  /** Require one of these agent states (idle,completed) or activities (prompt, alt_screen). */
  if_state?: string | null;
  /** Require output within this many seconds. */
  if_updated_within?: number | null;
  /** Require this text, or /pattern/ between slashes, on the screen. */
  if_screen?: string | null;
  /** Require a shell at its prompt. */
  if_prompt?: boolean;
  /** Require that the program reported `ready` since its last command began. */
  if_ready?: boolean;
  /** Require that the last lines match this pattern. */
  if_tail?: string | null;
  /** Number of last lines that --if-tail checks. */
  lines?: number;
  /** Require that they have not changed for this many seconds. */
  stable?: number;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** The text (all remaining words); `-` reads it from stdin. */
  text?: string;
  /** Read the text from stdin; same as `-` as text. */
  stdin?: boolean;
  /** Read the text from this file; `-` for stdin. */
  file?: string | null;
  /** Type it without pressing Enter. */
  no_newline?: boolean;
  /** Idempotency key: a repeat types nothing. */
  key?: string;
  /** Send to the program that reads input, not to a prompt. */
  program?: boolean;
  /** With --program: also to a full-screen program. */
  into_screen?: boolean;
  /** You see an empty prompt; for shells without marks. */
  at_prompt?: boolean;
  /** After delivery, wait until a line contains this text. */
  wait_for?: string | null;
  /** --wait-for is a regular expression (RE2 syntax). */
  wait_for_regex?: boolean;
  /** Maximum seconds to wait. */
  timeout_secs?: number;
}

/** ``status`` is `delivered` (accepted by the program), `queued` (shown in the queue of a working agent),
    `typed_not_submitted` (still in the input), `unknown` (could not be verified; not retried), or `foreseen` (dry run).
    ``is_repeated``: the ``key`` was used before, and this is the outcome of that call. ``would_type`` is the text of a
    dry run as a Python literal, null if it would not be typed.

    ``pattern_matched`` is null without `--wait-for`; ``wait_ended`` says how the wait ended. */
export interface SendTextResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  key?: string;
  channel?: "keys" | "native" | null;
  bytes_sent?: number;
  is_repeated?: boolean;
  would_type?: string | null;
  cursor?: string | null;
  pattern_matched?: boolean | null;
  wait_ended?: "matched" | "pane_gone" | "timeout" | null;
  waited?: WaitForResult | null;
}

/** A multiplexer server. ``client`` is how commands are sent: native, plain (one process each), or none. */
export interface ServerHealth {
  target?: string;
  socket?: string;
  mux_ok?: boolean;
  client?: string;
  panes: number;
  attached_sessions?: number;
  detail?: string;
  corrections?: number;
}

export interface SessionIdentity {
  target?: string;
  session_name?: string;
}

/** ``agent_states`` is set with `--agent-summary`. Sessions merged by name may have several targets; then
    ``identity.target`` is empty. */
export interface SessionItem {
  agents?: number;
  top_state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  /** Only with `--full` or `--fields`. */
  waiting?: number;
  /** Only with `--full` or `--fields`. */
  running?: number;
  needs_action?: number;
  by_state?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_agent?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  server?: string;
  panes?: Array<number>;
  /** Only with `--full` or `--fields`. */
  representative?: number;
  title?: string;
  state_age?: number | null;
  /** Only with `--full` or `--fields`. */
  tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  cost?: number | null;
  /** Only with `--full` or `--fields`. */
  cost_is_estimated?: boolean;
  /** Only with `--full` or `--fields`. */
  context_used?: number | null;
  /** Only with `--full` or `--fields`. */
  by_activity?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  last_output_at?: string | null;
  /** Only with `--full` or `--fields`. */
  last_output_age?: number | null;
  gaps?: number;
  identity: SessionIdentity;
  attached: number;
  windows: number;
  by_target?: Record<string, number>;
  agent_states?: Record<string, Record<string, number>>;
}

/** Sessions, by server and name. */
export interface SessionListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: SessionsSummary;
  items?: Array<SessionItem>;
}

export interface SessionsSummary {
  sessions: number;
  windows: number;
  panes: number;
  by_target?: Record<string, number>;
}

/** The pane and its new title. */
export interface SetTitleArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** The title (all remaining words). */
  title: string;
}

/** ``origin`` is `default`, `file` or `environment`; ``value`` is formatted as in the config file. */
export interface SettingItem {
  name?: string;
  key?: string;
  value?: string;
  origin?: string;
  env?: string;
  doc?: string;
}

/** Choose agents, scope and direction. */
export interface SetupAgentsArgs {
  /** Only this agent; repeatable. Default: all installed agents. */
  agent?: Array<"claude_code" | "codex" | "copilot" | "gemini" | "opencode">;
  /** Your user settings, or the project in this directory. */
  scope?: "project" | "user";
  /** Remove our hooks and the MCP server. */
  remove?: boolean;
  /** Also register `visor mcp`, so that the agents can call our tools. */
  mcp?: boolean;
  /** Also add an empty status line to Claude Code that reports cost and context. */
  status_line?: boolean;
  /** Do not ask for confirmation. */
  yes?: boolean;
  /** Only show the change to each file. */
  dry_run?: boolean;
}

/** ``script`` is the path of the script that all hooks run. */
export interface SetupAgentsResult {
  script?: string;
  items?: Array<HookSetupItem>;
  searched?: Record<string, string>;
}

/** Choose the shell and the direction. */
export interface SetupShellArgs {
  /** The shell; default: $SHELL. */
  shell?: "bash" | "fish" | "zsh" | null;
  /** Remove the integration; the files are as before. */
  remove?: boolean;
  /** Only print the shell code, to be added by hand. */
  print?: boolean;
  /** Leave the file that login shells read as it is. */
  no_login?: boolean;
  /** Do not ask for confirmation. */
  yes?: boolean;
}

/** ``kept`` is the path of the backup, ``snippet`` the shell code of `--print`, ``script`` the file that holds it.

    ``login_path`` is the file of login shells, if it was changed too. */
export interface SetupShellResult {
  shell: "bash" | "fish" | "zsh";
  path?: string;
  outcome: "installed" | "printed" | "removed" | "unchanged" | "updated";
  kept?: string | null;
  warning?: string | null;
  snippet?: string;
  script?: string;
  login_path?: string | null;
}

/** Takes no arguments. */
export interface SetupTmuxArgs {
}

/** ``is_seen`` is false without a daemon that knows the servers' options. */
export interface SetupTmuxResult {
  is_seen?: boolean;
  items?: Array<TmuxAdviceItem>;
}

/** The agent suggested by each trace; empty if none. */
export interface SignatureInputs {
  provider_hint?: string;
  cmd_match?: string;
  poller_match?: string;
  title_match?: string;
}

/** ``status``: `well` delivers signals, `quiet` has none that are new, `absent` does not exist (yet), `down` cannot
    be read.

    ``heard_at`` is the time of its last signal. ``lag`` is seconds from the time that the agent reported to ours.
    ``dropped`` counts signals that changed nothing. */
export interface SourceItem {
  agent?: string;
  source?: string;
  where?: string;
  status: "absent" | "down" | "quiet" | "well";
  detail?: string;
  heard_at?: string | null;
  heard_age?: number | null;
  records?: number;
  signals?: number;
  dropped?: number;
  lag?: number | null;
}

/** Sources, by agent. */
export interface SourceListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: SourcesSummary;
  items?: Array<SourceItem>;
}

/** One source: the state that it last reported (``said``), since when, and its role in the decision. */
export interface SourceReadingItem {
  source?: string;
  tier: "deterministic" | "heuristic";
  rank: number;
  role: "agrees" | "contradicts" | "decides" | "down" | "gap" | "overtaken" | "silent" | "stale" | "suppressed" | "unsettled";
  meaning?: string;
  said?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  since?: string | null;
  age: number;
  evidence?: EvidenceItem | null;
}

export interface SourcesSummary {
  sources: number;
  by_status?: Record<string, number>;
  by_agent?: Record<string, number>;
}

/** The program, and where to start it. */
export interface SpawnArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Working directory; default: yours. */
  cwd?: string;
  /** Environment variable NAME=value; may be repeated. */
  env?: Array<string>;
  /** Name of the new window. */
  name?: string;
  /** Account to start it with: name or `service/name`. */
  account?: string;
  /** Program and arguments, after --. Default: your shell. */
  command?: Array<string>;
  /** What to create for it; default: a window of --session or of your session, else a session. */
  where?: "pane" | "session" | "window" | null;
  /** The session for the new window; a new one if there is none. */
  session?: string;
  /** The pane to split, or whose session is used. */
  beside?: string | null;
  /** Place the panes side by side. */
  horizontal?: boolean;
  /** Start it in a terminal of its own, without tmux. */
  pty?: boolean;
  /** Name or path of the tmux server's socket, if there are several. */
  server?: string;
}

/** ``pane`` is the pane given by --beside; ``new`` is the new pane, null if it was not discovered in time. */
export interface SpawnResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  new?: PaneIdentity | null;
  mux_pane?: string;
  pid?: number;
}

/** The pane to split, and the program to start. */
export interface SplitArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** Working directory. */
  cwd?: string;
  /** Environment variable NAME=value; may be repeated. */
  env?: Array<string>;
  /** Name of the new window. */
  name?: string;
  /** Account to start it with: name or `service/name`. */
  account?: string;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Program and arguments, after --. Default: your shell. */
  command?: Array<string>;
  /** Place the panes side by side instead of one above the other. */
  horizontal?: boolean;
}

/** The agent was in ``state`` from ``start`` to ``end``. */
export interface StateSpan {
  start?: string;
  end?: string;
  seconds: number;
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input";
}

/** Choose agents and how to group them. */
export interface StatusArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in these states, comma-separated: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need you. */
  needs_action?: boolean;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Sum up agents by this. */
  group_by?: "agent" | "session-name" | "target" | "target-session" | "window";
}

/** ``items`` are the agents that need a person, most urgent first, then longest waiting, or with `--pane` the agent
    of that pane; those with ``needs_action`` cannot continue without one.
    ``requests`` are the open requests in the inbox. ``down`` are the sources that cannot
    be read. ``versions`` are the running programs. */
export interface StatusReport {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: StatusSummary;
  items?: Array<AgentRow>;
  /** Only with `--full` or `--fields`. */
  groups?: Array<AgentGroupItem>;
  down?: Array<SourceItem>;
  /** Only with `--full` or `--fields`. */
  versions?: Array<AgentVersionItem>;
  requests?: Array<OpenRequestItem>;
}

export interface StatusSummary {
  agents?: number;
  top_state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  /** Only with `--full` or `--fields`. */
  waiting?: number;
  /** Only with `--full` or `--fields`. */
  running?: number;
  needs_action?: number;
  by_state?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_agent?: Record<string, number>;
  panes: number;
  /** Only with `--full` or `--fields`. */
  by_target?: Record<string, number>;
}

/** ``given`` is the input of the step, ``came`` its output; both redacted. */
export interface StepItem {
  number: number;
  kind?: string;
  name?: string;
  status: "completed" | "failed" | "retry" | "running" | "skipped";
  attempt: number;
  began_at?: string;
  ended_at?: string | null;
  why?: string;
  given: unknown;
  came: unknown;
}

export interface TextLine {
  number: number;
  at?: string;
  text?: string;
}

/** One line of output: when it was printed, the byte where it begins, and its text. */
export interface TextLineItem {
  at?: string;
  offset: number;
  text?: string;
}

/** The span, and optionally one pane. */
export interface TimelineArgs {
  /** Start of the span: ISO 8601, today, or an age such as 10m. */
  since?: string;
  /** End of the span; default: now. */
  until?: string | null;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
}

/** Panes with an agent in the span, by id. ``start`` and ``end`` are those of the span. */
export interface TimelineListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  start?: string;
  end?: string;
  summary: TimelineSummary;
  items?: Array<PaneTimeline>;
}

/** ``is_complete`` is false if the span has more changes than were read; then its start is missing. */
export interface TimelineSummary {
  panes: number;
  by_state?: Record<string, number>;
  is_complete?: boolean;
}

/** One line for tmux.conf. ``now`` is the current state; ``is_followed`` is null if that is unknown. */
export interface TmuxAdviceItem {
  line?: string;
  why?: string;
  now?: string;
  is_followed?: boolean | null;
}

/** Choose the template and the session. */
export interface TmuxStatusArgs {
  /** Template with fields in braces: agents waiting needs_action limited error waiting_approval waiting_input running completed idle unknown. Default: non-zero counts. */
  template?: string | null;
  /** Only panes of this session. */
  session?: string | null;
}

/** ``text`` is empty without agents or without a daemon. */
export interface TmuxStatusLine {
  text?: string;
  numbers?: Record<string, number>;
}

/** Tokens by price class. ``cached`` were read from the prompt cache, ``written`` were written to it. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cached?: number;
  written?: number;
}

/** Tokens and cost as reported by the agent. None means not reported. */
export interface TokenUsage {
  total?: number | null;
  input?: number | null;
  output?: number | null;
  cached?: number | null;
  reasoning?: number | null;
  cost?: number | null;
  is_estimated?: boolean;
  context_used?: number | null;
  context_tokens?: number | null;
}

export interface TraceBounds {
  max_spans?: number;
  max_bytes?: number;
  truncated?: boolean;
  truncated_fields?: Array<string>;
}

/** What the trace omits. Captured values are always omitted. */
export interface TraceRedaction {
  enabled?: boolean;
  policy?: "omit_values";
  redacted_fields?: Array<string>;
}

/** Character positions in the matched text. ``capture_keys`` are the captures at these positions. */
export interface TraceSpan {
  start: number;
  end: number;
  kind: "anchor" | "context" | "regex";
  capture_keys?: Array<string>;
}

/** One stage of matching. ``hits`` are labels within the rule, such as `anchors[0]`. */
export interface TraceStage {
  stage: "agent" | "anchor" | "captures" | "regex";
  matched?: boolean;
  hits?: Array<string>;
}

/** Choose the action. */
export interface UndoArgs {
  /** Say what the call would do, and its exit status; execute nothing. */
  dry_run?: boolean;
  /** Approve the action, if it requires approval (terminal only). */
  yes?: boolean;
  /** Like --yes, and for eight hours also what the request names: programs, folders, hosts. */
  yes_for_session?: boolean;
  /** Owner of the reservation to act under; default: you. */
  owner?: string;
  /** Act although another caller reserved the pane (terminal only); logged. */
  override_reservation?: boolean;
  /** Wait this many seconds for approval, if required. */
  wait_answer_secs?: number;
  /** Execute even if the pane's state is outdated or incomplete; logged. */
  force_stale?: boolean;
  /** The action's ID in `visor audit`, its `correlation`, or `last`: your own last action. */
  which?: string;
}

/** ``undoes`` is the correlation of the undone action, ``what`` describes the inverse action. */
export interface UndoResult {
  status: "delivered" | "done" | "failed" | "foreseen" | "queued" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  /** Only with `--full` or `--fields`. */
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: DryRunResult | null;
  undoes?: string;
  what?: string;
}

/** How many days, and optionally one agent. */
export interface UsageDailyArgs {
  /** How many days, with today. */
  days?: number;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
}

/** ``day`` is a date of the daemon's time zone; ``by_agent`` are the tokens of each agent. */
export interface UsageDay {
  sessions?: number;
  unknown?: number;
  tokens?: number | null;
  cost?: number | null;
  cost_is_estimated?: boolean;
  day?: string;
  by_agent?: Record<string, number>;
}

/** Days with sessions, oldest first. */
export interface UsageListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: UsageTotals;
  items?: Array<UsageDay>;
}

/** ``tokens`` and ``cost`` (US dollars) are null if no session reports them. ``unknown`` counts the sessions without
    token counts. */
export interface UsageTotals {
  sessions?: number;
  unknown?: number;
  tokens?: number | null;
  cost?: number | null;
  cost_is_estimated?: boolean;
}

/** Takes no arguments. */
export interface VersionArgs {
}

/** ``schema_version`` is the version of the JSON envelope. */
export interface VersionResult {
  version?: string;
  schema_version: number;
  python?: string;
  platform?: string;
}

/** Exactly one condition: a pattern, `--command-finished`, `--state`, `--gone` or `--quiet-for`. */
export interface WaitForArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Text that a line must contain. */
  pattern?: string | null;
  /** The pattern is a regular expression (RE2 syntax). */
  regex?: boolean;
  /** Time out after this many seconds. */
  timeout_secs?: number;
  /** Search this many past lines first. */
  tail?: number;
  /** Search the output after this cursor instead of --tail; with --state: the cursor of a send. */
  since?: string | null;
  /** Wait until a command ends: the running one, or the first one started after --since. */
  command_finished?: boolean;
  /** Wait until the agent is in one of these states, for example waiting,completed,idle. */
  state?: string | null;
  /** Wait until the pane closes or its program exits. */
  gone?: boolean;
  /** Wait until the pane printed nothing for this many seconds. */
  quiet_for?: number | null;
}

/** The match is in ``line``, in ``pending`` if the line is incomplete, or in ``shown`` if it is a row of the
    alternate screen. ``command`` is the command that ended; ``agent`` the agent that reached the state. Continue
    reading at ``cursor``. */
export interface WaitForResult {
  identity: PaneIdentity;
  outcome: "died" | "finished" | "gone" | "lost" | "matched" | "quiet" | "state";
  waited_secs: number;
  cursor?: string;
  line?: TextLine | null;
  pending?: string | null;
  shown?: string | null;
  command?: CommandFacts | null;
  agent?: AgentRow | null;
  exit_status?: number | null;
}

/** Choose agents, scope and start of the stream. */
export interface WatchArgs {
  /** Only panes of this session. */
  session?: string | null;
  /** Only panes of this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in these states, comma-separated: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need you. */
  needs_action?: boolean;
  /** Report each agent (panes), or only the totals of windows or sessions. */
  scope?: "panes" | "sessions" | "windows";
  /** Start after this cursor; default: start with the current state. */
  since_cursor?: string | null;
  /** Start with the first change since this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Print what is stored, then exit. */
  once?: boolean;
  /** Minimum seconds between two batches; no change is omitted. */
  interval?: number;
}

/** Choose the start of the stream and the events. */
export interface WatchEventsArgs {
  /** Start after this cursor; default: now. */
  since_cursor?: string | null;
  /** Start with the first event since this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Only this kind, for example gap_recorded. */
  kind?: string | null;
  /** Print the stored events, then exit. */
  once?: boolean;
  /** Exit after this many events; 0: no limit. */
  limit?: number;
  /** Exit after this many seconds; 0: never. */
  timeout_secs?: number;
  /** Only detections that have not been handled. */
  unhandled?: boolean;
  /** Only detections of this type, such as usage.reached, or a glob such as usage.*. */
  type?: string | null;
  /** Only detections of this rule, or a glob. */
  rule?: string | null;
  /** Only detections about this agent, such as codex. */
  agent?: string | null;
  /** Only detections of at least this severity. */
  severity?: "critical" | "error" | "info" | "warning" | null;
}

/** Choose between the stream and one snapshot. */
export interface WatchInboxArgs {
  /** Print the open requests, then exit. */
  once?: boolean;
}

/** One line. `state`: an agent at the start of the stream. `state_changed`, `agent_began`, `agent_ended`: a stored
    event, with ``agent`` as it is now (null once it has ended; ``name`` stays). `summary_changed`: the totals of all
    agents or of one ``place``. ``cursor`` is where to resume. */
export interface WatchItem {
  kind: "agent_began" | "agent_ended" | "state" | "state_changed" | "summary_changed";
  at?: string;
  cursor?: string;
  pane?: number | null;
  name?: string;
  agent?: AgentRow | null;
  before?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  after?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  place?: string;
  summary?: AgentTotals | null;
}

/** Choose between the stream and one snapshot. */
export interface WatchPanesArgs {
  /** Print the current rows, then exit. */
  once?: boolean;
}

/** The pane, and how to show it. */
export interface WatchScreenArgs {
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Keep colours (SGR escape sequences). */
  escapes?: boolean;
  /** Print the current screen, then exit. */
  once?: boolean;
}

export interface WindowIdentity {
  target?: string;
  session_name?: string;
  window_id?: string;
}

/** ``agent_rows`` is set with `--with-agent-status`. */
export interface WindowItem {
  agents?: number;
  top_state?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  /** Only with `--full` or `--fields`. */
  waiting?: number;
  /** Only with `--full` or `--fields`. */
  running?: number;
  needs_action?: number;
  by_state?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  by_agent?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  server?: string;
  panes?: Array<number>;
  /** Only with `--full` or `--fields`. */
  representative?: number;
  title?: string;
  state_age?: number | null;
  /** Only with `--full` or `--fields`. */
  tokens?: number | null;
  /** Only with `--full` or `--fields`. */
  cost?: number | null;
  /** Only with `--full` or `--fields`. */
  cost_is_estimated?: boolean;
  /** Only with `--full` or `--fields`. */
  context_used?: number | null;
  /** Only with `--full` or `--fields`. */
  by_activity?: Record<string, number>;
  /** Only with `--full` or `--fields`. */
  last_output_at?: string | null;
  /** Only with `--full` or `--fields`. */
  last_output_age?: number | null;
  gaps?: number;
  identity: WindowIdentity;
  index: number;
  name?: string;
  agent_rows?: Array<AgentRow>;
}

/** Windows, by server, session and index. */
export interface WindowListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: WindowsSummary;
  items?: Array<WindowItem>;
}

export interface WindowsSummary {
  windows: number;
  panes: number;
  /** Only with `--full` or `--fields`. */
  by_target?: Record<string, number>;
}

/** The workflow run, and the reason. */
export interface WorkflowCancelArgs {
  /** The run's number in `visor workflow status`. */
  run: number;
  /** The reason, shown in the run's history. */
  why?: string;
}

/** The workflow and the pane. */
export interface WorkflowDryRunArgs {
  /** The workflow's name. */
  name: string;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
}

/** ``ends`` is how the run would end. */
export interface WorkflowDryRunResult {
  workflow?: string;
  pane: number;
  steps?: Array<DryRunStepItem>;
  ends?: string;
}

/** Choose the run. */
export interface WorkflowHistoryArgs {
  /** The run's number in `visor workflow status`. */
  run: number;
}

/** The journal of a run; each step is stored before it is executed, and again with its result. */
export interface WorkflowHistoryResult {
  run: RunItem;
  steps?: Array<StepItem>;
}

/** ``mode`` is the effective mode. ``events`` start the workflow; without any, it is only started by command.
    ``doubts`` are warnings: unknown events, agents or rules in its file. */
export interface WorkflowItem {
  name?: string;
  mode: "ask" | "off" | "on";
  events?: Array<string>;
  agents?: Array<string>;
  priority: number;
  version: number;
  origin?: string;
  summary?: string;
  doubts?: Array<string>;
}

/** Takes no arguments. */
export interface WorkflowListArgs {
}

/** Workflows, in the order in which an event is offered to them. */
export interface WorkflowListing {
  schema_version?: number;
  /** Only with `--full` or `--fields`. */
  generated_at?: string;
  filters?: Record<string, string | number | boolean>;
  summary: WorkflowsSummary;
  items?: Array<WorkflowItem>;
  broken?: Array<BrokenWorkflowFile>;
}

/** The workflow run, and the reason. */
export interface WorkflowPauseArgs {
  /** The run's number in `visor workflow status`. */
  run: number;
  /** The reason, shown in the run's history. */
  why?: string;
}

/** Choose the run. */
export interface WorkflowResumeArgs {
  /** The run's number in `visor workflow status`. */
  run: number;
}

/** The workflow and the pane. */
export interface WorkflowRunArgs {
  /** The workflow's name. */
  name: string;
  /** The pane: id, %id or session:window.pane. */
  pane: string;
  /** Start even without an event to handle; policy, lock and guards still apply. */
  force?: boolean;
  /** Wait up to this many seconds for the run to end or to pause. */
  wait?: number;
  /** Show each step and its verdict without doing anything. */
  dry_run?: boolean;
}

/** ``run`` is the started run, ``rehearsal`` the steps of a dry run; the other one is null. ``happened`` says in a
    sentence how far the run is, ``changed`` lists the actions that it executed so far. */
export interface WorkflowRunResult {
  run?: RunItem | null;
  happened?: string;
  changed?: Array<string>;
  rehearsal?: WorkflowDryRunResult | null;
}

/** Choose the workflow. */
export interface WorkflowShowArgs {
  /** The workflow's name. */
  name: string;
}

/** It is started by ``events`` of at least this ``severity``, of these ``agents`` and ``rules`` (empty: all), not
    older than ``fresh_for`` seconds. ``steps`` are those of a workflow file; ``doubts`` are warnings: unknown events,
    agents or rules. */
export interface WorkflowShowResult {
  name?: string;
  version: number;
  summary?: string;
  origin?: string;
  mode: "ask" | "off" | "on";
  events?: Array<string>;
  agents?: Array<string>;
  rules?: Array<string>;
  severity: "critical" | "error" | "info" | "warning";
  fresh_for: number;
  priority: number;
  timeout: number;
  takes_pane?: boolean;
  steps?: Array<string>;
  doubts?: Array<string>;
}

/** The run and the signal. */
export interface WorkflowSignalArgs {
  /** The run's number in `visor workflow status`. */
  run: number;
  /** The signal's name, or a choice of the run's question. */
  word: string;
  /** A value for the run. */
  value?: string;
}

/** Choose the runs. */
export interface WorkflowStatusArgs {
  /** Only runs of this workflow. */
  workflow?: string | null;
  /** Only this pane: id, %id or session:window.pane. */
  pane?: string | null;
  /** Include ended runs. */
  all?: boolean;
  /** Maximum number of runs. */
  limit?: number;
}

export interface WorkflowsSummary {
  workflows: number;
  by_mode?: Record<string, number>;
  broken: number;
}

export interface Ops {
  list_panes: { input: ListPanesArgs; output: PaneListing };
  list_windows: { input: ListWindowsArgs; output: WindowListing };
  list_sessions: { input: ListSessionsArgs; output: SessionListing };
  status: { input: StatusArgs; output: StatusReport };
  next: { input: NextArgs; output: NextResult };
  explain: { input: ExplainArgs; output: ExplainResult };
  watch: { input: WatchArgs; items: WatchItem };
  watch_panes: { input: WatchPanesArgs; items: PaneRowsUpdate };
  timeline: { input: TimelineArgs; output: TimelineListing };
  usage_daily: { input: UsageDailyArgs; output: UsageListing };
  agents_list: { input: AgentsListArgs; output: AgentProgramListing };
  agents_sessions: { input: AgentsSessionsArgs; output: AgentSessionListing };
  agents_new: { input: DescribeAgentArgs; output: DescribeAgentResult };
  agents_record: { input: RecordAgentArgs; items: PaneRecordingLine };
  agents_test: { input: AgentsTestArgs; output: DescriptionCheck };
  list_sources: { input: ListSourcesArgs; output: SourceListing };
  tmux_status: { input: TmuxStatusArgs; output: TmuxStatusLine };
  get_text: { input: GetTextArgs; output: PaneText };
  get_screen: { input: GetScreenArgs; output: ScreenText };
  watch_screen: { input: WatchScreenArgs; items: ScreenUpdate };
  search_history: { input: SearchHistoryArgs; output: HitListing };
  wait_for: { input: WaitForArgs; output: WaitForResult };
  list_commands: { input: ListCommandsArgs; output: CommandListing };
  list_gaps: { input: ListGapsArgs; output: GapListing };
  export: { input: ExportArgs; items: ExportChunk };
  replay: { input: ReplayArgs; items: FrameItem };
  list_events: { input: ListEventsArgs; output: EventListing };
  watch_events: { input: WatchEventsArgs; items: EventItem };
  report_event: { input: ReportEventArgs; output: ReportEventResult };
  explain_event: { input: ExplainEventArgs; output: ExplainEventResult };
  events_ack: { input: EventsAckArgs; output: EventsAckResult };
  events_mute: { input: EventsMuteArgs; output: MuteItem };
  events_mutes: { input: EventsMutesArgs; output: MuteListing };
  events_unmute: { input: EventsUnmuteArgs; output: EventsUnmuteResult };
  send_text: { input: SendTextArgs; output: SendTextResult };
  send_keys: { input: SendKeysArgs; output: ActionResult };
  answer_dialog: { input: AnswerDialogArgs; output: AgentCommandResult };
  interrupt: { input: InterruptArgs; output: AgentCommandResult };
  quit_agent: { input: QuitAgentArgs; output: AgentCommandResult };
  resume_session: { input: ResumeSessionArgs; output: SpawnResult };
  revive: { input: ReviveArgs; output: ReviveResult };
  spawn: { input: SpawnArgs; output: SpawnResult };
  split: { input: SplitArgs; output: SpawnResult };
  kill: { input: KillArgs; output: ActionResult };
  activate: { input: ActivateArgs; output: ActionResult };
  attach: { input: AttachArgs; output: AttachResult };
  set_title: { input: SetTitleArgs; output: ActionResult };
  notify: { input: NotifyArgs; output: NotifyResult };
  undo: { input: UndoArgs; output: UndoResult };
  reserve: { input: ReserveArgs; output: ReservationItem };
  release: { input: ReleaseArgs; output: ReleaseResult };
  list_reservations: { input: ListReservationsArgs; output: ReservationListing };
  run: { input: RunArgs; output: RunResult };
  job_list: { input: JobListArgs; output: JobListing };
  job_status: { input: JobStatusArgs; output: JobItem };
  job_wait: { input: JobWaitArgs; output: JobItem };
  job_send: { input: JobSendArgs; output: JobSendResult };
  job_harvest: { input: JobHarvestArgs; output: HarvestPage };
  job_extract: { input: JobExtractArgs; output: JobExtractResult };
  job_stop: { input: JobStopArgs; output: JobStopResult };
  job_detach: { input: JobDetachArgs; output: JobItem };
  job_attach: { input: JobAttachArgs; output: AttachResult };
  job_prune: { input: JobPruneArgs; output: JobPruneResult };
  inbox: { input: InboxArgs; output: InboxListing };
  watch_inbox: { input: WatchInboxArgs; items: InboxUpdate };
  approve: { input: ApproveArgs; output: ApproveResult };
  deny: { input: DenyArgs; output: DenyResult };
  list_permits: { input: ListPermitsArgs; output: PermitListing };
  revoke_permit: { input: RevokePermitArgs; output: RevokePermitResult };
  audit: { input: AuditArgs; output: AuditListing };
  audit_verify: { input: AuditVerifyArgs; output: AuditVerifyResult };
  audit_export: { input: AuditExportArgs; items: AuditLine };
  policy_show: { input: PolicyShowArgs; output: PolicyShowResult };
  policy_explain: { input: PolicyExplainArgs; output: DryRunResult };
  policy_test: { input: PolicyTestArgs; output: PolicyTestResult };
  rules_list: { input: RulesListArgs; output: RuleListing };
  rules_show: { input: RulesShowArgs; output: RulesShowResult };
  rules_test: { input: RulesTestArgs; output: RulesTestResult };
  rules_lint: { input: RulesLintArgs; output: RulesLintResult };
  rules_new: { input: CreateRuleArgs; output: CreateRuleResult };
  workflow_list: { input: WorkflowListArgs; output: WorkflowListing };
  workflow_new: { input: CreateWorkflowArgs; output: CreateWorkflowResult };
  workflow_show: { input: WorkflowShowArgs; output: WorkflowShowResult };
  workflow_run: { input: WorkflowRunArgs; output: WorkflowRunResult };
  workflow_dry_run: { input: WorkflowDryRunArgs; output: WorkflowDryRunResult };
  workflow_status: { input: WorkflowStatusArgs; output: RunListing };
  workflow_history: { input: WorkflowHistoryArgs; output: WorkflowHistoryResult };
  workflow_signal: { input: WorkflowSignalArgs; output: RunChangeResult };
  workflow_pause: { input: WorkflowPauseArgs; output: RunChangeResult };
  workflow_resume: { input: WorkflowResumeArgs; output: RunChangeResult };
  workflow_cancel: { input: WorkflowCancelArgs; output: RunChangeResult };
  accounts_list: { input: AccountsListArgs; output: AccountListing };
  accounts_show: { input: AccountsShowArgs; output: AccountsShowResult };
  accounts_pick: { input: AccountsPickArgs; output: AccountsPickResult };
  accounts_use: { input: AccountsUseArgs; output: AccountsUseResult };
  accounts_refresh: { input: AccountsRefreshArgs; output: AccountsRefreshResult };
  setup_shell: { input: SetupShellArgs; output: SetupShellResult };
  setup_tmux: { input: SetupTmuxArgs; output: SetupTmuxResult };
  setup_agents: { input: SetupAgentsArgs; output: SetupAgentsResult };
  hook_permission: { input: HookPermissionArgs; output: PermissionAnswer };
  config_init: { input: ConfigInitArgs; output: ConfigInitResult };
  config_show: { input: ConfigShowArgs; output: ConfigShowResult };
  config_get: { input: ConfigGetArgs; output: ConfigGetResult };
  config_set: { input: ConfigSetArgs; output: ConfigChangeResult };
  config_unset: { input: ConfigUnsetArgs; output: ConfigChangeResult };
  config_edit: { input: ConfigEditArgs; output: ConfigEditResult };
  config_reload: { input: ConfigReloadArgs; output: ConfigReloadResult };
  config_validate: { input: ConfigValidateArgs; output: ConfigValidateResult };
  config_path: { input: ConfigPathArgs; output: ConfigPathResult };
  health: { input: HealthArgs; output: HealthReport };
  doctor: { input: DoctorArgs; output: DoctorResult };
  logs: { input: LogsArgs; output: LogLines };
  db_status: { input: DbStatusArgs; output: DbStatusResult };
  db_prune: { input: DbPruneArgs; items: MaintenanceStep };
  db_vacuum: { input: DbVacuumArgs; items: MaintenanceStep };
  db_reindex: { input: DbReindexArgs; items: MaintenanceStep };
  db_check: { input: DbCheckArgs; output: DbCheckResult };
  db_backup: { input: DbBackupArgs; output: DbBackupResult };
  db_restore: { input: DbRestoreArgs; output: DbRestoreResult };
  completion: { input: CompletionArgs; output: CompletionScript };
  version: { input: VersionArgs; output: VersionResult };
  quick_start: { input: QuickStartArgs; output: QuickStartResult };
  help: { input: HelpArgs; output: HelpText };
}
