// Generated from the operations' declarations. Do not edit.

/** ``percent_remaining`` and ``resets_at`` are those of its scarcest limit. ``credentials`` says where they are. */
export interface AccountItem {
  service: "anthropic" | "google" | "openai";
  name: string;
  email: string;
  active: boolean;
  in_use: boolean;
  priority: number;
  percent_remaining: number | null;
  resets_at: string | null;
  last_check: string | null;
  last_used: string | null;
  browser_profile: string;
  credentials: string;
  trouble: string;
  usage: Array<AllowanceItem>;
}

/** In the order of the config file. */
export interface AccountListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: AccountsSummary;
  items: Array<AccountItem>;
}

/** ``account`` is `service/name`; null where none fits. ``candidates`` are the accounts, the best first. */
export interface AccountPicked {
  account: string | null;
  why: string;
  candidates?: Array<Judged>;
}

export interface AccountShown {
  account: AccountItem;
}

export interface AccountUsed {
  account: AccountItem;
}

/** ``told`` says why the tracker told nothing; then all is as it was known before. */
export interface AccountsRefreshed {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: AccountsSummary;
  items: Array<AccountItem>;
  told?: string;
}

export interface AccountsSummary {
  accounts: number;
  by_service: Record<string, number>;
}

/** ``status`` is `already` where somebody was faster; what they did stands. */
export interface AckItem {
  cursor: string;
  kind: string;
  status: "already" | "handled" | "would_be";
  detection: DetectionItem;
}

export interface Acked {
  items: Array<AckItem>;
}

/** Which pane. */
export interface Activate {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** The pane; any reference. */
  pane: string;
}

/** What a pane is doing, from marks and the stream. ``is_proven``: the marks carried our nonce. */
export interface ActivityItem {
  kind: "alt_screen" | "command" | "gap" | "prompt" | "unknown";
  since: string | null;
  age: number | null;
  command_line: string | null;
  last_exit: number | null;
  is_proven: boolean;
}

/** One line for tmux.conf. ``now`` is what was found; ``is_followed`` is None where nobody could look. */
export interface Advice {
  line: string;
  why: string;
  now?: string;
  is_followed?: boolean | null;
}

/** A pane and the agent in it. Without one, ``agent`` and ``state`` are null and ``presence`` is `unmanaged`.

    ``evidence_mode`` is the tier of what the state rests on; `deterministic` is the agent's own word. ``reason`` says
    why a state is `unknown`. ``cost`` is US dollars, by the agent's word or, where ``cost_is_estimated``, by the
    setting `agent_prices`; what nobody told is null. ``signature_*`` say why the pane is taken for an agent's, or why
    it is not: which agent its process, command, screen and title name. */
export interface AgentRow {
  identity: PaneIdentity;
  presence: "managed" | "unmanaged";
  agent: string | null;
  runtime: number | null;
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  reason: "gap" | "no_signal" | "stale_signal" | "target_unreachable" | "unknown_screen" | "unsupported_signal" | null;
  evidence_mode: "deterministic" | "heuristic" | "none";
  source: string;
  confidence: "high" | "low" | "medium" | null;
  state_since: string | null;
  state_age: number | null;
  state_version: number;
  last_event: string | null;
  needs: "answer" | "approve" | "log_in" | "look" | "review" | "see_error" | "wait_for_limit" | null;
  needs_action: boolean;
  flags: FlagItem | null;
  agent_title: string;
  model: string;
  tokens: number | null;
  cost: number | null;
  cost_is_estimated: boolean;
  context_used: number | null;
  context_tokens: number | null;
  signature_class: "deterministic" | "heuristic" | "none";
  signature_reason: "cmd_match" | "handshake" | "poller_match" | "provider_hint" | "signature_guard_rejected" | "signature_inconclusive";
  signature_confidence: number;
  signature_inputs: SignatureInputs;
}

/** Sessions, oldest first. */
export interface AgentSessionListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: SessionsUse;
  items: Array<SessionUse>;
}

/** Which sessions. */
export interface AgentsSessions {
  /** At most so many. */
  limit?: number;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Only those of this agent. */
  agent?: string | null;
  /** Only those that went on after this: ISO 8601, today, or an age such as 2h. */
  since?: string | null;
  /** Also what the program `cass` knows of each, where it is installed. */
  history?: boolean;
}

/** ``script`` is what all of the hooks run. */
export interface AgentsSetup {
  script: string;
  items: Array<HookSetup>;
}

/** One limit. ``percent_remaining`` is what is left now; null: nobody knows. */
export interface AllowanceItem {
  span: string;
  usage_type: "credits" | "rate";
  limit: number | null;
  current: number | null;
  percent_remaining: number | null;
  resets_at: string | null;
  checked_at: string;
  source: string;
}

/** Which dialog, and what to pick. */
export interface AnswerDialog {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
  /** `allow` (this once), `deny`, or the label of a choice, as it is shown. */
  choice: string;
}

/** Which question, and how. */
export interface Approve {
  /** The question's number in `visor inbox`. */
  id: number;
  /** With --edit: the text to type instead; all further words. */
  text?: string;
  /** And the same caller may do this kind of thing in this pane for eight hours. */
  session?: boolean;
  /** Type another text instead: the words that follow, or what your editor gives back. */
  edit?: boolean;
}

/** ``instead`` is what came of the edited text. */
export interface Approved {
  id: number;
  state: "allowed" | "denied" | "edited" | "expired" | "open" | "used" | "withdrawn";
  kind: string;
  risk: "destructive" | "input" | "look" | "outside" | "process" | "reversible";
  what: string;
  action: Record<string, unknown>;
  by: string;
  pane: number | null;
  place: string;
  why: Array<string>;
  answers: number;
  needs: number;
  asked_at: string;
  expires_at: string;
  left: number | null;
  correlation: string;
  instead?: Deed | null;
}

/** ``what`` is the action in words, ``action`` its fields, ``place`` where. ``answers`` of ``needs`` people allowed
    it. ``left`` are the seconds until it counts as a no; of a closed one there are none. */
export interface Asked {
  id: number;
  state: "allowed" | "denied" | "edited" | "expired" | "open" | "used" | "withdrawn";
  kind: string;
  risk: "destructive" | "input" | "look" | "outside" | "process" | "reversible";
  what: string;
  action: Record<string, unknown>;
  by: string;
  pane: number | null;
  place: string;
  why: Array<string>;
  answers: number;
  needs: number;
  asked_at: string;
  expires_at: string;
  left: number | null;
  correlation: string;
}

/** Which pane, and what must hold. */
export interface Attach {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
}

/** ``outside`` is the program to run in a terminal of its own, ``inside`` in one that shows the same tmux server. */
export interface Attached {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
  socket?: string;
  outside?: Array<string>;
  inside?: Array<string>;
}

/** Which entries. */
export interface Audit {
  /** At most so many. */
  limit?: number;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Only this kind of action, for example send_text. */
  kind?: string | null;
  /** Only this caller: human, robot, …, or the name it gave. */
  actor?: string | null;
  /** Only what came to this. */
  outcome?: "allow" | "delivered" | "denied" | "deny" | "done" | "edit" | "failed" | "refused" | "suppressed" | "typed_not_submitted" | "unknown" | null;
  /** Only the story of this action. */
  correlation?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Not newer than this: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** The first ones after this cursor, not the newest. */
  after?: number | null;
  /** Go on with what is put on record. */
  follow?: boolean;
}

/** Where to. */
export interface AuditExport {
  /** Write to this file (made private) instead. */
  output?: string | null;
}

/** One entry. An action has several: `judged` or `asked`, `answered`, `intent`, `outcome`, joined by
    ``correlation``. ``undoes`` is the correlation of the action that this one takes back. ``hash`` covers this entry
    and all before it. */
export interface AuditItem {
  id: number;
  at: string;
  correlation: string;
  stage: "answered" | "asked" | "intent" | "judged" | "outcome";
  kind: string;
  by: string;
  pane: number | null;
  place: string;
  what: string;
  action: Record<string, unknown>;
  verdict: "allow" | "ask" | "deny" | null;
  verdict_why: string;
  observed: Record<string, string | number | number | boolean | null>;
  outcome: string;
  why: string;
  undoes: string;
  hash: string;
}

/** One entry: ``entry`` is its text to the byte (JSON in itself), ``hash`` the BLAKE2b-256 of ``previous``, a
    newline and that text; the first one has no ``previous``. ``is_masked``: a secret was taken out of it now, so only
    its place can be proven. The last line has no entry but ``entries``, how many there are, and ``hash``, the newest. */
export interface AuditLine {
  id?: number;
  previous?: string;
  hash?: string;
  entry?: string | null;
  is_masked?: boolean;
  entries?: number | null;
}

/** Entries, oldest first. ``cursor`` is where the next call goes on, as `--after`. ``is_continued``: these came
    after the first piece of a `--follow`. */
export interface AuditListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: AuditSummary;
  items: Array<AuditItem>;
  cursor: number;
  is_continued?: boolean;
}

/** ``entry`` is the first one that does not fit those before it, ``what`` is wrong with it. Of a file: how many
    ``entries`` are proven, the newest ``hash``, and how many are ``masked``, whose content cannot be proven. */
export interface AuditState {
  is_whole: boolean;
  entry?: number | null;
  what?: string;
  entries?: number | null;
  hash?: string;
  masked?: number;
}

export interface AuditSummary {
  entries: number;
  by_stage: Record<string, number>;
}

/** What to check. */
export interface AuditVerify {
  /** A file that `audit export` wrote; no daemon is needed. */
  file?: string | null;
  /** A `hash` that you kept elsewhere; it must be in the record. */
  kept?: string;
}

/** ``version`` is the schema's. The copy holds text, events and all else, but no raw bytes. */
export interface BackupMade {
  path: string;
  bytes: number;
  taken_at: string;
  version: number;
  panes: number;
  lines: number;
  events: number;
}

export interface Bounds {
  max_spans?: number;
  max_bytes?: number;
  truncated?: boolean;
  truncated_fields?: Array<string>;
}

/** A file that is no workflow: where and why. */
export interface BrokenFile {
  file: string;
  why: string;
}

/** Which run, and why. */
export interface CancelRun {
  /** The run's number. */
  run: number;
  /** The reason, for the record. */
  why?: string;
}

/** The run as it stands right after; what follows from the change may take a moment. */
export interface ChangedRun {
  run: RunItem;
}

/** ``wrong`` says what was found; empty when the database is whole. */
export interface CheckReport {
  path: string;
  is_fine: boolean;
  is_thorough: boolean;
  wrong: string;
  duration_secs: number;
}

/** One command. ``seconds`` is how long it ran, or has run until now; of a lost one it is not known.

    Its output are the lines ``first_line`` to ``last_line``; ``last_line`` is one less than ``first_line`` where there
    is none. ``is_proven``: the marks carried our nonce. A lost command is one whose end was never told. */
export interface CommandFacts {
  id: number;
  status: "finished" | "lost" | "running";
  command: string | null;
  cwd: string | null;
  exit_code: number | null;
  started_at: string;
  ended_at: string | null;
  seconds: number | null;
  first_line: number;
  last_line: number | null;
  is_proven: boolean;
}

/** A command and its pane; ``age`` are the seconds since it started. */
export interface CommandItem {
  id: number;
  status: "finished" | "lost" | "running";
  command: string | null;
  cwd: string | null;
  exit_code: number | null;
  started_at: string;
  ended_at: string | null;
  seconds: number | null;
  first_line: number;
  last_line: number | null;
  is_proven: boolean;
  identity: PaneIdentity;
  age: number;
}

export interface CommandLine {
  command: string;
  chapter: string;
  aliases: Array<string>;
  robot: string | null;
  usage: string;
  summary: string;
  effect: string;
  examples?: Array<string>;
}

/** Commands, oldest first. */
export interface CommandListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: CommandsSummary;
  items: Array<CommandItem>;
}

export interface CommandsSummary {
  commands: number;
  failed: number;
  by_status: Record<string, number>;
}

/** For which shell; `panes` is what the scripts themselves ask for. */
export interface Completion {
  /** Your shell; `panes` lists what a pane can be called. */
  shell: "bash" | "fish" | "panes" | "zsh";
}

export interface CompletionScript {
  shell: string;
  script: string;
}

/** ``value`` is what the file says now, None where it says nothing any more. */
export interface ConfigChanged {
  path: string;
  name: string;
  value: string | null;
  changed: boolean;
  overridden_by: string | null;
  needs_restart: boolean;
  warnings: Array<string>;
}

/** Whether an existing file may be replaced. */
export interface ConfigInit {
  /** Replace the file; the old one is kept as config.toml.old. */
  force?: boolean;
}

export interface ConfigMade {
  path: string;
  kept: string | null;
}

/** Nothing to choose. */
export interface ConfigPath {
}

export interface ConfigPlaces {
  config_file: string;
  data_dir: string;
  runtime_dir: string;
  database: string;
  raw_dir: string;
  log_file: string;
  daemon_socket: string;
}

/** Nothing to choose. */
export interface ConfigReload {
}

/** ``applied`` hold from now on; ``needs_restart`` differ and wait for what ``restart_with`` names for each.

    ``rules`` is how many are in force now, null where none changed. Because of ``rule_troubles``, the old ones stay. */
export interface ConfigReloaded {
  applied: Array<string>;
  needs_restart: Array<string>;
  restart_with: Record<string, string>;
  rules: number | null;
  rule_troubles: Array<string>;
}

/** Which setting, and its new value. */
export interface ConfigSet {
  /** The setting. */
  name: string;
  /** Its value; a list between commas (patterns: on lines) or as `["a", "b"]`. */
  value: string;
}

/** Which settings to show. */
export interface ConfigShow {
  /** All settings, also those at their default. */
  effective?: boolean;
}

export interface ConfigShown {
  path: string;
  settings: Array<SettingItem>;
}

/** Which setting. */
export interface ConfigUnset {
  /** The setting. */
  name: string;
}

/** Nothing to choose. */
export interface ConfigValidate {
}

/** A config that cannot be used is an error; ``warnings`` name what is allowed but hardly meant. */
export interface ConfigVerdict {
  path: string;
  exists: boolean;
  settings_in_file: Array<string>;
  warnings: Array<string>;
}

/** What a database file holds. ``lines`` counts the lines that are kept, ``newest_at`` is its newest event. */
export interface Contents {
  version: number;
  panes?: number;
  lines?: number;
  events?: number;
  newest_at?: number | null;
}

/** ``by`` is the source that has been seeing ``state`` since then. */
export interface ContradictionItem {
  since: string;
  age: number;
  by: string;
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input";
}

/** Where to. */
export interface DbBackup {
  /** The path of a new file. */
  file: string;
}

/** How closely to look. */
export interface DbCheck {
  /** Read every row and compare the search index with the text; needs room for a copy. */
  thorough?: boolean;
}

/** Whether only to tell. */
export interface DbPrune {
  /** Tell what would be done, and do nothing. */
  dry_run?: boolean;
}

/** Nothing to choose. */
export interface DbReindex {
}

/** Which copy, and whether to go through with it. */
export interface DbRestore {
  /** A file that `visor db backup` wrote; without it, the last snapshot in the data folder. */
  file?: string | null;
  /** Tell what would be replaced, and change nothing. */
  dry_run?: boolean;
  /** Do it without asking. */
  yes?: boolean;
}

/** Nothing to choose. */
export interface DbStatus {
}

/** Nothing to choose. */
export interface DbVacuum {
}

/** What came of it. ``why`` is a stable code; ``correlation`` finds the whole story in the audit. ``foreseen`` is
    all there is of a dry run. */
export interface Deed {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
}

/** Which question. */
export interface Deny {
  /** The question's number in `visor inbox`. */
  id: number;
  /** You do it in other words yourself; who asked is told so. */
  edited?: boolean;
}

/** What an event has beside the others where a rule found it or an agent told it. ``proven`` is false for what
    anybody could have said, which starts nothing; ``remedy`` is the workflow that would answer it now. */
export interface DetectionItem {
  rule: string;
  agent: string;
  runtime: number | null;
  severity: "critical" | "error" | "info" | "warning";
  captures: Record<string, string>;
  source: string;
  confidence: number;
  context: string;
  seen_again: number;
  last_seen: string | null;
  correlation: string;
  proven: boolean;
  handled: HandlingItem | null;
  remedy?: string | null;
}

/** ``is_fine`` is false when a check failed; warnings and skipped checks do not count. */
export interface Diagnosis {
  is_fine: boolean;
  summary: Record<string, number>;
  items: Array<Finding>;
}

/** Which workflow, where. */
export interface DryRun {
  /** The workflow's name. */
  name: string;
  /** The pane; any reference. */
  pane: string;
}

/** ``ok`` says whether ``data`` or ``error`` holds the answer; ``hint`` says what to do next. */
export interface Envelope {
  ok: boolean;
  data?: unknown;
  error?: Failure | null;
  hint?: string | null;
  elapsed_ms: number;
  version?: string;
  schema_version?: number;
  now: string;
}

/** ``cursor`` names this event; what comes after it is found by giving it back. ``detection`` is null for what no
    rule found and no agent told. */
export interface EventItem {
  cursor: string;
  at: string;
  kind: string;
  pane: number | null;
  data: Record<string, string | number | number | boolean | null>;
  detection?: DetectionItem | null;
}

/** Events, oldest first. ``cursor`` is where the next call, or `watch-events`, goes on: beyond all passed over. */
export interface EventListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: EventsSummary;
  items: Array<EventItem>;
  cursor: string | null;
}

/** The rule as it is now; ``is_in_force`` is false where it was removed or switched off since. */
export interface EventRule {
  id: string;
  is_in_force: boolean;
  why: string;
  pack?: string;
  scope?: string;
  agent?: string;
  pattern?: string;
  cooldown?: number;
  remedy?: string;
}

/** Which events, and what you did. */
export interface EventsAck {
  /** Their cursors, as `visor events` shows them. */
  ids: Array<string>;
  /** What you did, for those who ask later. */
  note?: string;
  /** Only say what would be marked. */
  dry_run?: boolean;
}

/** What, where and for how long. */
export interface EventsMute {
  /** A rule, a type, or a glob of either: codex.usage.*, usage.warning. */
  what: string;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** For so long, such as 2h or 7d; without it, until `events unmute`. */
  lasting?: string | null;
}

/** All that hold. */
export interface EventsMutes {
}

export interface EventsSummary {
  events: number;
  by_kind: Record<string, number>;
}

/** Which one. */
export interface EventsUnmute {
  /** Its number in `visor events mutes`. */
  id: number;
}

/** One stored signal. ``event_at`` is the source's own time, ``heard_at`` ours; ``payload`` is what it said, with
    secrets taken out. */
export interface EvidenceItem {
  signal: number;
  source: string;
  tier: "deterministic" | "heuristic";
  kind: "exited" | "heartbeat" | "no_agent" | "note" | "source_down" | "state" | "task_began" | "task_ended";
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  session: string;
  event_id: string;
  event_at: string;
  heard_at: string;
  age: number;
  title: string;
  payload: Record<string, string | number | number | boolean | null>;
}

/** Of which pane, or of which recording. */
export interface Explain {
  /** The pane; any reference. */
  pane?: string | null;
  /** A recording in place of a pane; read here, without a daemon. */
  file?: string | null;
  /** Of a recording: so long after its beginning (90s), or ISO 8601; else its end. */
  at?: string | null;
  /** Of a recording that does not say whose it is. */
  agent?: string | null;
}

/** Of which event. */
export interface ExplainEvent {
  /** Its cursor, as `visor events` shows it: 120 or event:120. */
  event: string;
}

/** ``evidence`` is the signal that decided; null when it aged away or nothing decided. ``doubts`` are what could not
    be proven of the agent, and was therefore left out. ``recording`` is null for an agent that lives. */
export interface Explained {
  agent: AgentRow;
  reference: string;
  evidence: EvidenceItem | null;
  witnesses: Array<WitnessItem>;
  would_change: Array<ProspectItem>;
  doubts?: Array<string>;
  recording?: RecordingItem | null;
}

/** ``evidence`` says where it stands, ``lines`` what is stored there now; ``key`` is what makes it the same thing
    when it is seen again. */
export interface ExplainedEvent {
  event: EventItem;
  rule: EventRule;
  key: string;
  cooldown: number;
  evidence: Record<string, string | number | number | boolean | null>;
  lines: Array<TextItem>;
  match_trace: MatchTrace | null;
}

/** What to export, and in which form; text where none is named. */
export interface Export {
  /** The pane; any reference. Without it: all panes. */
  pane?: string | null;
  /** Plain lines (the default). */
  text?: boolean;
  /** One JSON object a line, with pane, number and time. */
  jsonl?: boolean;
  /** The bytes of one pane, with escapes. */
  raw?: boolean;
  /** A film of one pane: asciicast 3, which asciinema plays. */
  cast?: boolean;
  /** Markdown: panes, commands, events and gaps. */
  report?: boolean;
  /** A consistent copy of the database; with --output, which must not exist yet. */
  snapshot?: boolean;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Not newer than this: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** With --raw: secrets stay in. This is logged. */
  unredacted?: boolean;
  /** Write to this file (made private) instead. */
  output?: string | null;
}

/** ``code`` is stable and meant for programs, ``message`` for people. */
export interface Failure {
  code: string;
  message: string;
  details?: Record<string, string | number | number | boolean | Array<string> | null>;
}

/** ``skip`` means that it could not be looked at; ``hint`` says what to do about a `warn` or `fail`. */
export interface Finding {
  name: string;
  status: "fail" | "ok" | "skip" | "warn";
  message: string;
  hint?: string;
}

/** What is true beside the state. ``resets_in`` is seconds until the usage limit ends. ``ambiguous``: something that
    was told may be about this agent or about another in its folder; it was left out, and `explain` says more. */
export interface FlagItem {
  usage_limited: boolean;
  resets_at: string | null;
  resets_in: number | null;
  compacting: boolean;
  auth_needed: boolean;
  subtasks: number;
  contradicted: ContradictionItem | null;
  ambiguous: boolean;
}

/** What would be said of it now: the policy's ``answer`` with its ``path``, and ``refused``, the first thing about
    the pane itself that speaks against it; empty when nothing does. */
export interface Foretold {
  what: string;
  by: string;
  answer: "allow" | "ask" | "deny";
  why: string;
  path: Array<string>;
  refused: string;
  refused_why: string;
}

/** ``rows`` hold text and SGR colours, nothing else; ``note`` says what cannot be seen, for example a gap. */
export interface FrameItem {
  pane: number;
  at: string;
  width: number;
  height: number;
  rows: Array<string>;
  cursor_x: number;
  cursor_y: number;
  is_cursor_shown: boolean;
  is_alternate: boolean;
  epoch: number;
  offset: number;
  note: string;
}

/** ``after_epoch`` and ``before_epoch`` are the unbroken stretches on both sides. */
export interface GapItem {
  identity: PaneIdentity;
  cause: "client_paused" | "cursor_jump" | "disk_full" | "link_down" | "log_truncated" | "pane_reset" | "pipe_closed" | "pipe_stolen" | "recorder_restart" | "scrollback_truncated" | "server_gone" | "tail_uncertain";
  start_at: string;
  end_at: string | null;
  seconds: number | null;
  after_epoch: number | null;
  before_epoch: number | null;
  detail: string;
}

/** Gaps, oldest first. */
export interface GapListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: GapsSummary;
  items: Array<GapItem>;
}

/** Something is missing after ``position`` lines of the text. */
export interface GapNote {
  position: number;
  cause: "client_paused" | "cursor_jump" | "disk_full" | "link_down" | "log_truncated" | "pane_reset" | "pipe_closed" | "pipe_stolen" | "recorder_restart" | "scrollback_truncated" | "server_gone" | "tail_uncertain";
  start_at: string;
  end_at: string | null;
}

export interface GapsSummary {
  gaps: number;
  open: number;
  by_cause: Record<string, number>;
}

/** Nothing to choose. */
export interface GetHealth {
}

/** Whose screen to take, and which one. */
export interface GetScreen {
  /** The pane; any reference. */
  pane: string;
  /** Keep colours (SGR sequences only). */
  escapes?: boolean;
  /** Not now, but as it was: the number of a stored screen (a search hit has one), or a time: ISO 8601, today, or an age such as 10m. */
  at?: string | null;
}

/** Which text to read. */
export interface GetText {
  /** The pane; any reference. */
  pane: string;
  /** How many of the last lines. */
  tail?: number;
  /** Only what follows this cursor (from an earlier answer). */
  since?: string | null;
  /** With --since: at most so many lines. */
  limit?: number;
  /** Only the output of one command: `last` (started last) or a number from list-commands. */
  command?: string | null;
  /** Also each line with its number and time. */
  numbers?: boolean;
  /** With colours: answered from the screen, since stored text has none. */
  escapes?: boolean;
}

/** Nothing to choose. */
export interface GetVersion {
}

/** ``name`` is what they have in common. */
export interface GroupItem {
  agents: number;
  top_state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  waiting: number;
  running: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
  name: string;
  panes: Array<number>;
}

/** Who saw to it: `person:1000`, `workflow:handle_compaction`, `mute:usage.*`. */
export interface HandlingItem {
  at: string;
  by: string;
  action: string;
  run: number | null;
}

/** ``ingest_lag_*`` are seconds between a byte in the raw log and its text; ``forks`` are programs we started.

    ``looks_per_minute`` is how often panes that repaint are looked at now, all together. */
export interface HealthReport {
  version: string;
  servers: Array<ServerHealth>;
  panes_tracked: number;
  ingest_lag_max: number;
  ingest_lag_avg: number;
  ingest_backlog_bytes: number;
  queue_depth: number;
  db_writable: boolean;
  db_bytes: number;
  wal_pages: number;
  raw_bytes: number;
  gaps: number;
  restarts: Record<string, number>;
  corrections: number;
  forks: number;
  looks_per_minute?: number;
  daemon: ProcessCost;
  recorder?: ProcessCost | null;
  workflows_active?: number;
  oldest_run_secs?: number | null;
  alerts?: Array<string>;
  is_ok: boolean;
  started_at: string;
  uptime_secs: number;
  last_checkpoint_at: string | null;
  last_maintenance: UpkeepStep | null;
}

/** Which command to explain; all of them, briefly, where none is named. */
export interface Help {
  /** A command. */
  topic?: string | null;
  /** With examples. */
  examples?: boolean;
}

/** ``page`` is the full text of one command, empty in a list. */
export interface HelpText {
  commands: Array<CommandLine>;
  page?: string;
}

/** A text that the rule must find, and what it takes from it. */
export interface Hit {
  text: string;
  captures?: Record<string, string>;
  version?: string;
}

/** ``spans`` are the (start, end) characters of ``text`` that matched; ``number`` is the line's number.

    A row that a repainting program showed has no number: it was first seen ``at`` and last at ``last_at``, and stood
    in the stored ``screen`` that `get-screen --at` shows; ``before`` and ``after`` are the rows around it there. Nor
    has a line of what was said in a conversation: by whom says its ``role``, with whom its ``agent``. */
export interface HitItem {
  identity: PaneIdentity;
  source: "screen" | "stream" | "transcript";
  number: number | null;
  at: string;
  age: number | null;
  text: string;
  spans: Array<[number, number]>;
  before: Array<string>;
  after: Array<string>;
  screen?: number | null;
  last_at?: string | null;
  role?: "assistant" | "user" | null;
  agent?: string | null;
}

/** What was found: newest first, or best first. */
export interface HitListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: HitsSummary;
  items: Array<HitItem>;
}

/** ``is_complete`` is false when there may be older hits that were not looked at. */
export interface HitsSummary {
  hits: number;
  panes: number;
  is_complete: boolean;
}

/** What the agent's hook was given, and from where it calls. */
export interface HookPermission {
  /** Whose hook this is. */
  agent: "claude_code" | "codex" | "copilot";
  /** The request, as JSON; the command line takes it from stdin. */
  text?: string;
  /** The agent's TMUX variable. */
  tmux?: string;
  /** The agent's TMUX_PANE variable. */
  tmux_pane?: string;
  /** Seconds to wait for a person. */
  wait_secs?: number;
}

/** ``kept`` is where the file as it was before is, ``change`` what a dry run foresees. */
export interface HookSetup {
  agent: "claude_code" | "codex" | "copilot" | "gemini" | "opencode";
  path: string;
  outcome: "foreseen" | "installed" | "removed" | "skipped" | "unchanged" | "updated";
  note?: string;
  kept?: string | null;
  change?: string;
}

/** Which questions, and whether to wait for one. */
export interface Inbox {
  /** Also those that are closed. */
  all?: boolean;
  /** While there is no open question, wait so many seconds. */
  wait?: number;
  /** At most so many. */
  limit?: number;
}

/** Questions, oldest first. */
export interface InboxListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: InboxSummary;
  items: Array<Asked>;
}

export interface InboxSummary {
  questions: number;
  open: number;
}

/** Whom to interrupt. */
export interface Interrupt {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
}

/** One candidate and why it is where it is. */
export interface Judged {
  ref: string;
  verdict: "chosen" | "excluded" | "fits" | "not_active" | "scarce" | "unknown";
  why: string;
  remaining?: number | null;
}

/** What to end, and how. */
export interface Kill {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
  /** The signal for the foreground program. */
  signal?: "HUP" | "INT" | "KILL" | "QUIT" | "TERM";
  /** Close the pane itself, with all that runs in it. */
  close?: boolean;
}

/** ``version`` is that of the contract which its adapter speaks; ``sources`` are where it speaks, the best first;
    ``panes`` are those in which it lives now, ``alive`` the versions of the program there, as far as it told them, and
    ``recorded`` those of which we have recordings. ``failures`` counts what went wrong in the adapter itself. */
export interface KindItem {
  name: string;
  version: string;
  is_enabled: boolean;
  capabilities: Array<string>;
  sources: Array<string>;
  panes: Array<number>;
  alive: Array<string>;
  recorded: Array<string>;
  failures: number;
}

/** In the order in which they are asked whether a process is theirs. */
export interface KindListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: KindsSummary;
  items: Array<KindItem>;
}

export interface KindsSummary {
  known: number;
  enabled: number;
  by_agent: Record<string, number>;
}

/** What to look at. */
export interface LintRules {
  /** A rule's file, a pack, or a folder of packs; without it, all packs of this instance. */
  path?: string | null;
}

/** Which ones. */
export interface ListAccounts {
  /** Only those of this service: `openai`, `anthropic` or `google`. */
  service?: "anthropic" | "google" | "openai" | null;
}

/** Which commands to list. */
export interface ListCommands {
  /** At most so many, the newest. */
  limit?: number;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Only those that ended with a status other than 0. */
  failed?: boolean;
  /** Only those started since: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Only those whose line holds this text, in any case. */
  text?: string | null;
}

/** Which events to list. */
export interface ListEvents {
  /** At most so many. */
  limit?: number;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Only this kind, for example gap_recorded. */
  kind?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** The first ones after this cursor. */
  since_cursor?: string | null;
  /** Only detections that nobody has seen to. */
  unhandled?: boolean;
  /** Only detections of this type, such as usage.reached; a glob such as usage.* too. */
  type?: string | null;
  /** Only what this rule found; a glob too. */
  rule?: string | null;
  /** Only what is about this agent, such as codex. */
  agent?: string | null;
  /** Only detections that are at least so severe. */
  severity?: "critical" | "error" | "info" | "warning" | null;
  /** Only detections, each with the workflow that would answer it now. */
  would_handle?: boolean;
  /** With --would-handle: only say it. Listing never starts anything. */
  dry_run?: boolean;
}

/** Which gaps to list. */
export interface ListGaps {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
}

/** Nothing to choose. */
export interface ListKinds {
}

/** Which panes to list. */
export interface ListPanes {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in this state or these: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need a person. */
  needs_action?: boolean;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Also panes that ended. */
  gone?: boolean;
}

/** Nothing to choose. */
export interface ListPermits {
}

/** Nothing to choose. */
export interface ListReservations {
}

/** Which rules. */
export interface ListRules {
  /** Only those of this pack, such as `core.shell`. */
  pack?: string | null;
  /** Only those about this agent. */
  agent?: string | null;
  /** Only those that look here. */
  scope?: "line" | "mark" | "screen" | "stream" | "transcript" | null;
}

/** Which sessions to list. */
export interface ListSessions {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in this state or these: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need a person. */
  needs_action?: boolean;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** What is one session: that of one server, or all of one name. */
  group_by?: "session-name" | "target-session";
  /** With the states of each kind of agent. */
  agent_summary?: boolean;
}

/** Which sources to list. */
export interface ListSources {
  /** Only those of this agent. */
  agent?: string | null;
  /** Only those that are doing so. */
  status?: "absent" | "down" | "quiet" | "well" | null;
}

/** Which windows to list. */
export interface ListWindows {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in this state or these: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need a person. */
  needs_action?: boolean;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** With a row for each agent in them. */
  with_agent_status?: boolean;
}

/** Nothing to choose. */
export interface ListWorkflows {
}

export interface LogLines {
  path: string;
  level: "debug" | "error" | "info" | "warning" | null;
  lines: Array<string>;
}

/** One stage. ``hits`` are labels of the rule, such as `anchors[0]`. */
export interface Look {
  stage: "agent" | "anchor" | "captures" | "regex";
  matched: boolean;
  hits?: Array<string>;
}

export interface MatchTrace {
  rule_id: string;
  spans?: Array<Span>;
  extracted_keys?: Array<string>;
  confidence?: number | null;
  eval_path?: Array<Look>;
  bounds?: Bounds;
  redaction?: Redaction;
}

/** A text that looks like it and is not. */
export interface Miss {
  text: string;
  why?: string;
}

/** ``pane`` is null where it holds for all, ``until`` where it holds until it is ended. */
export interface MuteItem {
  id: number;
  what: string;
  pane: number | null;
  since: string;
  until: string | null;
  by: string;
}

/** Mutes that hold, oldest first. */
export interface MuteListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: MutesSummary;
  items: Array<MuteItem>;
}

export interface MutesSummary {
  mutes: number;
}

/** Among which agents, and whether to go there. */
export interface Next {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only in this session. */
  session?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Pass over so many that come first. */
  skip?: number;
  /** Look at it in this terminal, as `attach` does. */
  go?: boolean;
}

/** ``found`` is null when nobody needs a person; ``waiting`` counts all that do. ``attached`` is there with
    `--go`. */
export interface NextUp {
  found: AgentRow | null;
  waiting: number;
  attached?: Attached | null;
}

/** ``ways`` in the order in which they were named. */
export interface Notified {
  pane: PaneIdentity | null;
  ways: Array<Telling>;
}

/** What is told, and how. */
export interface Notify {
  /** What it is about. */
  title: string;
  /** What there is to say; all further words. */
  text?: string;
  /** The pane that it is about; whoever looks at it is not told. */
  pane?: string | null;
  /** terminal, desktop, webhook or command; may be repeated. None: those of `notify_ways`. */
  way?: Array<"command" | "desktop" | "terminal" | "webhook">;
  /** Say what would be decided, and tell nobody. */
  dry_run?: boolean;
}

/** ``rules`` counts those that are in force. */
export interface PackItem {
  name: string;
  version: string;
  origin: string;
  folder: string;
  rules: number;
}

/** ``id`` is our number, never reused; ``pane_id`` is the multiplexer's own, such as `%5`. */
export interface PaneIdentity {
  target: string;
  session_name: string;
  window_id: string;
  pane_id: string;
  id: number;
}

export interface PaneItem {
  identity: PaneIdentity;
  presence: "managed" | "unmanaged";
  agent: string | null;
  runtime: number | null;
  state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  reason: "gap" | "no_signal" | "stale_signal" | "target_unreachable" | "unknown_screen" | "unsupported_signal" | null;
  evidence_mode: "deterministic" | "heuristic" | "none";
  source: string;
  confidence: "high" | "low" | "medium" | null;
  state_since: string | null;
  state_age: number | null;
  state_version: number;
  last_event: string | null;
  needs: "answer" | "approve" | "log_in" | "look" | "review" | "see_error" | "wait_for_limit" | null;
  needs_action: boolean;
  flags: FlagItem | null;
  agent_title: string;
  model: string;
  tokens: number | null;
  cost: number | null;
  cost_is_estimated: boolean;
  context_used: number | null;
  context_tokens: number | null;
  signature_class: "deterministic" | "heuristic" | "none";
  signature_reason: "cmd_match" | "handshake" | "poller_match" | "provider_hint" | "signature_guard_rejected" | "signature_inconclusive";
  signature_confidence: number;
  signature_inputs: SignatureInputs;
  reference: string;
  server: string;
  window_name: string;
  window_index: number;
  pane_index: number;
  is_active: boolean;
  command: string;
  cwd: string;
  title: string;
  width: number;
  height: number;
  activity: ActivityItem;
  heard_by: "control" | "none" | "pipe";
  first_seen_at: string;
  last_output_at: string | null;
  last_output_age: number | null;
  gone_at: string | null;
  is_dead: boolean;
  exit_status: number | null;
  exit_signal: number | null;
  bytes_heard: number;
  bytes_per_second: number;
  lines: number;
  gaps: number;
}

/** Panes, by id. */
export interface PaneListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: PanesSummary;
  items: Array<PaneItem>;
  notes?: Array<string>;
}

export interface PanesSummary {
  panes: number;
  by_activity: Record<string, number>;
  by_target: Record<string, number>;
  gaps: number;
  agents: Summed;
}

/** Which run, and why. */
export interface PauseRun {
  /** The run's number. */
  run: number;
  /** The reason, for the record. */
  why?: string;
}

/** ``text`` is what the hook prints, in the agent's own form. ``correlation`` finds the story in the audit. */
export interface PermissionAnswer {
  decision: "allow" | "deny";
  text: string;
  correlation: string;
}

/** ``caller`` may do ``kind`` in ``pane`` (null: in all) for ``left`` seconds; ``given_by`` said so. */
export interface PermitItem {
  id: number;
  caller: string;
  kind: string;
  pane: number | null;
  given_by: string;
  given_at: string;
  expires_at: string;
  left: number;
}

/** Permits that hold, oldest first. */
export interface PermitListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: PermitsSummary;
  items: Array<PermitItem>;
}

export interface PermitsSummary {
  permits: number;
}

/** Of which service, and how much to say. */
export interface PickAccount {
  /** Of which service. */
  service: "anthropic" | "google" | "openai";
  /** Say of every account why it was taken or not. */
  explain?: boolean;
}

/** A line, some raw bytes (base64 in JSON), a line of a film, a whole report, or where a copy was put. */
export interface Piece {
  form: "cast" | "jsonl" | "raw" | "report" | "snapshot" | "text";
  pane?: number | null;
  at: string;
  number?: number | null;
  text?: string | null;
  epoch?: number | null;
  data?: string | null;
}

/** A command line of an op that acts. */
export interface PolicyExplain {
  /** A command that acts: send, send-keys, kill, spawn, … */
  command: string;
  /** What would follow it; words that begin with - stand after --. */
  words?: Array<string>;
}

/** ``policy`` is null when the file is wrong and none was in force before: then nothing is allowed. ``trouble``
    says what is wrong with the file; the policy is then the one before it. */
export interface PolicyInForce {
  path: string;
  policy: Record<string, unknown> | null;
  trouble: string;
}

/** How much of it. */
export interface PolicyShow {
  /** Only what differs from the defaults. */
  changed?: boolean;
}

/** Which file. */
export interface PolicyTest {
  /** The file; without it, the `policy.toml` beside your config file. */
  file?: string | null;
}

/** A file that is wrong is an error. ``exists`` is false where there is none and the defaults hold. */
export interface PolicyTested {
  path: string;
  exists: boolean;
}

/** ``cpu_percent`` is of one core over the last minute, ``cpu_seconds`` since the start. */
export interface ProcessCost {
  pid: number;
  rss_bytes: number;
  cpu_seconds: number;
  cpu_percent: number;
}

/** ``at`` is when time alone does it; null where something must happen. */
export interface ProspectItem {
  what: string;
  at: string | null;
  in_secs: number | null;
}

/** Nothing to choose. */
export interface QuickStart {
}

/** Who is to leave. */
export interface QuitAgent {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
}

/** How much of the log to show. */
export interface ReadLogs {
  /** How many of the last lines. */
  tail?: number;
  /** Only what is at least this serious. */
  level?: "debug" | "error" | "info" | "warning" | null;
  /** Go on with what is logged from now on. */
  follow?: boolean;
}

/** ``moments`` are those up to ``at``, the instant that is explained. A `cast` holds screens alone, `scenes` also
    what the agent said itself. */
export interface RecordingItem {
  path: string;
  kind: "cast" | "scenes";
  version: string;
  began_at: string;
  ended_at: string;
  at: string;
  moments: number;
}

/** Values are left out, whatever they are. */
export interface Redaction {
  enabled?: boolean;
  policy?: "omit_values";
  redacted_fields?: Array<string>;
}

/** Which ones. */
export interface RefreshAccounts {
  /** Only those of this service: `openai`, `anthropic` or `google`. */
  service?: "anthropic" | "google" | "openai" | null;
}

/** Nothing was done. ``ends`` is how it would end. */
export interface Rehearsal {
  workflow: string;
  pane: number;
  steps: Array<RehearsedStep>;
  ends: string;
}

/** ``verdict`` is what the policy would say of an act now, and ``why``; ``refused`` what in the pane speaks against
    it. ``assumed`` is what was taken for granted: an answer, a text that comes, a time that passes. */
export interface RehearsedStep {
  number: number;
  kind: string;
  name: string;
  given: unknown;
  verdict: "allow" | "ask" | "deny" | null;
  why: string;
  refused: string;
  assumed: string;
}

/** Which reservation. */
export interface Release {
  /** The number that `reserve` gave. */
  id: number;
}

export interface Released {
  reservation_id: number;
}

/** Which part of a pane's past to show. */
export interface Replay {
  /** The pane; any reference. */
  pane: string;
  /** Begin here: ISO 8601, today, or an age such as 10m. Without it: at the beginning. */
  at?: string | null;
  /** End here: ISO 8601, or an age such as 5m. */
  until?: string | null;
  /** How many times as fast as it happened. Without it programs get all at once. */
  speed?: number;
}

/** What was heard, and in which pane. */
export interface ReportEvent {
  /** The pane; any reference. */
  pane: string;
  /** The variable's name: visor-ready, visor-checkpoint, visor-… */
  name: string;
  /** Its value: JSON, or JSON in base64, at most 4 KB. */
  value: string;
  /** It is a user variable; must be given. */
  from_uservar?: boolean;
}

/** ``event`` is what was stored; null when the pane reports too much, which is counted in its next event. */
export interface ReportedEvent {
  identity: PaneIdentity;
  event: EventItem | null;
}

/** Reservations that hold, oldest first. */
export interface ReservationListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: ReservationsSummary;
  items: Array<Reserved>;
}

export interface ReservationsSummary {
  reservations: number;
}

/** Which pane, for whom and for how long. */
export interface Reserve {
  /** The pane; any reference. */
  pane: string;
  /** Who holds it; `send --owner` says the same. Empty: who calls. */
  owner?: string;
  /** For so many seconds. */
  ttl_secs?: number;
}

/** ``left`` are the seconds until it ends by itself. */
export interface Reserved {
  reservation_id: number;
  pane: number;
  owner: string;
  reserved_at: string;
  expires_at: string;
  left: number;
}

/** ``present`` is what the database held before, ``kept`` its new name; both null where there was none. */
export interface Restored {
  path: string;
  restored_from: string;
  bytes: number;
  backup: Contents;
  present: Contents | null;
  kept: string | null;
  is_dry_run: boolean;
}

/** Which run. */
export interface ResumeRun {
  /** The run's number. */
  run: number;
}

/** Which conversation. */
export interface ResumeSession {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Its number in `visor agents sessions`, or the agent's own name of it. */
  session: string;
  /** The new window's name. */
  name?: string;
  /** The account under which it goes on, by name or `service/name`. */
  account?: string;
}

/** What became of each session, oldest first; then those that broke off and cannot be taken up, as `skipped`. */
export interface Revivals {
  items: Array<Revived>;
}

/** Which conversations. */
export interface Revive {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Its number in `visor agents sessions`, or the agent's own name of it. */
  session?: string;
  /** All that broke off: their panes went away, or they crashed. */
  all?: boolean;
  /** With --all: those that ended after this: ISO 8601, today, or an age such as 2h. */
  since?: string;
  /** Wait so many seconds for the agent to come up with its session. */
  verify_secs?: number;
}

/** One session. ``status``: `revived` (the agent came up with this very session), `started` (that was not proven in
    time), `planned`, `skipped` or `failed`; ``why`` says more. ``where`` is `pane` (the shell that it left), `window`
    or `session`; ``pane`` is where it lives now. ``verdict`` is what the policy would say, of a plan. */
export interface Revived {
  session: number;
  agent: string;
  external_id: string;
  cwd: string;
  command: string;
  status: "failed" | "planned" | "revived" | "skipped" | "started";
  where?: "" | "pane" | "session" | "window";
  pane?: number | null;
  why?: string;
  verdict?: string;
  correlation?: string;
}

/** Which permit. */
export interface RevokePermit {
  /** Its number in `visor permits`. */
  id: number;
}

export interface RevokedPermit {
  permit_id: number;
}

/** ``agent`` is empty for a rule that holds in every pane; ``is_disabled``: the settings switched it off. */
export interface RuleItem {
  id: string;
  pack: string;
  agent: string;
  scope: string;
  severity: string;
  event: string;
  remedy: string;
  why: string;
  is_disabled: boolean;
}

/** ``packs`` in the order in which they are loaded; ``troubles`` are what could not be, and why. */
export interface RuleListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: RulesSummary;
  packs: Array<PackItem>;
  troubles: Array<string>;
  items: Array<RuleItem>;
}

export interface RuleMade {
  path: string;
  pack: string;
}

/** What it is called, and where it goes. */
export interface RuleStart {
  /** Its id: words joined by dots, such as `deploy.rollout.stuck`. */
  id: string;
  /** The pack to put it in; made where there is none. */
  pack?: string;
  /** Only in panes of this agent. */
  agent?: string;
}

/** ``line`` counts from 1 and is where the match ends; null where the rule does not match. */
export interface RuleTried {
  rule: string;
  pack: string;
  matched: boolean;
  line: number | null;
  event: string;
  severity: string;
  captures: Record<string, string>;
  is_disabled: boolean;
  match_trace: MatchTrace | null;
}

/** ``rules`` counts those that are right; ``troubles`` is what is wrong with the others. ``doubts`` are of right
    ones, which name an agent or a workflow that looks mistyped. */
export interface RulesLinted {
  rules: number;
  packs: Array<string>;
  troubles: Array<Trouble>;
  doubts: Array<Trouble>;
}

export interface RulesSummary {
  rules: number;
  disabled: number;
  by_pack: Record<string, number>;
}

/** ``tried`` is how many rules were asked. */
export interface RulesTried {
  tried: number;
  matched: number;
  items: Array<RuleTried>;
}

/** Nothing to choose. */
export interface RunDoctor {
}

/** What is on record of a run; every step was stored before it was taken, and again with what came of it. */
export interface RunHistory {
  run: RunItem;
  steps: Array<StepItem>;
}

/** ``why`` is how it ended or what it waits for; ``plan`` is what a paused run will do, at ``due_at``. */
export interface RunItem {
  id: number;
  workflow: string;
  version: number;
  status: "cancelled" | "completed" | "failed" | "paused" | "running" | "waiting";
  why: string;
  plan: string;
  origin: string;
  event: number | null;
  pane: number | null;
  agent: string;
  mode: "ask" | "off" | "on";
  began_at: string;
  ended_at: string | null;
  due_at: string | null;
  age: number;
  facts: Record<string, unknown>;
  correlation: string;
}

/** The newest runs, oldest first. */
export interface RunListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: RunsSummary;
  items: Array<RunItem>;
}

export interface RunsSummary {
  runs: number;
  by_status: Record<string, number>;
}

/** ``cursor_x`` and ``cursor_y`` count from 0 at the top left.

    ``screen`` is the number of a stored screen; of the rows in ``left_out`` the text was not kept: people type there. */
export interface ScreenText {
  identity: PaneIdentity;
  at: string;
  rows: Array<string>;
  width: number;
  height: number;
  cursor_x: number;
  cursor_y: number;
  is_alternate: boolean;
  screen?: number | null;
  left_out?: Array<number>;
}

/** The question. */
export interface SearchHistory {
  /** Words, "phrases", prefix*, AND OR NOT, and filters such as pane:7 session:work since:10m. */
  text: string;
  /** At most so many hits. */
  limit?: number;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
  /** Not newer than this. */
  until?: string | null;
  /** A short piece around the match instead of the whole line. */
  snippets?: boolean;
  /** Newest first, or best match first. */
  rank?: "recency" | "relevance";
  /** Lines before and after each hit. */
  context?: number;
}

/** Which keys, where, and what must hold. */
export interface SendKeys {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
  /** Keys by their tmux names: C-c, Escape, Up, Enter, a, … */
  keys: Array<string>;
}

/** What to type, where, and what must hold. */
export interface SendText {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Only if the pane's process has this id. */
  if_runtime?: number | null;
  /** Only if the pane's activity is this: prompt, command, alt_screen, … */
  if_state?: string | null;
  /** Only if it printed within so many seconds. */
  if_updated_within?: number | null;
  /** Only if the screen shows this text, or /pattern/ between slashes. */
  if_screen?: string | null;
  /** Only if a shell's prompt is shown. */
  if_prompt?: boolean;
  /** Only if it said `ready` since its last command began. */
  if_ready?: boolean;
  /** Only if the last lines fit this pattern. */
  if_tail?: string | null;
  /** How many last lines --if-tail looks at. */
  lines?: number;
  /** Seconds for which they must not have changed. */
  stable?: number;
  /** The pane; any reference. */
  pane: string;
  /** The text; all further words. `-`: read it from stdin. */
  text?: string;
  /** Read the text from stdin. A text of just `-` says the same. */
  stdin?: boolean;
  /** Read the text from this file; `-` is stdin. */
  file?: string | null;
  /** Type it and do not press Enter. */
  no_newline?: boolean;
  /** A name for this call; the same one again types nothing twice. */
  key?: string;
  /** It is for the program that reads there, not for a shell at its prompt. */
  program?: boolean;
  /** With --program: also for one that fills the screen. */
  into_screen?: boolean;
  /** Once it is delivered, wait until a line holds this text. */
  wait_for?: string | null;
  /** --wait-for is a regular expression (RE2 syntax). */
  wait_for_regex?: boolean;
  /** Wait so many seconds at most. */
  timeout_secs?: number;
}

/** ``status`` is `delivered` (the program took it), `typed_not_submitted` (it stands in the input), `unknown` (it
    cannot be proven; it is not tried again), or `foreseen`. ``key`` names the call; ``is_repeated``: it was used
    before, and this is what came of it then. ``would_type`` is what a dry run would type, as Python writes it.

    ``pattern_matched`` is null where nothing was waited for; ``wait_ended`` says how the waiting ended. */
export interface Sent {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
  key?: string;
  channel?: "keys" | "native" | null;
  bytes_sent?: number;
  is_repeated?: boolean;
  would_type?: string | null;
  cursor?: string | null;
  pattern_matched?: boolean | null;
  wait_ended?: "matched" | "pane_gone" | "timeout" | null;
  waited?: Waited | null;
}

/** One multiplexer server. ``client`` is how we talk to it: control, plain, or none while it is unreachable. */
export interface ServerHealth {
  target: string;
  socket: string;
  mux_ok: boolean;
  client: string;
  panes: number;
  detail?: string;
  corrections?: number;
}

/** ``key`` is what the session was looked up by; ``answer`` what `cass` said, as it said it, with secrets taken
    out; ``detail`` says what went wrong. */
export interface SessionHistory {
  status: "failed" | "found" | "not_asked" | "not_installed" | "nothing";
  key?: "" | "path" | "session_id";
  answer?: unknown;
  detail?: string;
}

export interface SessionIdentity {
  target: string;
  session_name: string;
}

/** ``agent_states`` are there with `--agent-summary`. Sessions that were merged by name may have several targets:
    then ``identity.target`` is empty. */
export interface SessionItem {
  agents: number;
  top_state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  waiting: number;
  running: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
  server: string;
  panes: Array<number>;
  representative: number;
  title: string;
  state_age: number | null;
  tokens: number | null;
  cost: number | null;
  cost_is_estimated: boolean;
  context_used: number | null;
  by_activity: Record<string, number>;
  last_output_at: string | null;
  last_output_age: number | null;
  gaps: number;
  identity: SessionIdentity;
  attached: number;
  windows: number;
  by_target: Record<string, number>;
  agent_states: Record<string, Record<string, number>>;
}

/** Sessions, by server and name. */
export interface SessionListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: SessionsSummary;
  items: Array<SessionItem>;
}

/** One conversation. ``external_id`` is the agent's own name for it. ``tokens``, ``cost`` (US dollars) and the rest
    of ``usage`` are null where the agent did not tell them; ``usage.is_estimated`` says that the cost is reckoned by
    the setting `agent_prices`. ``by_model`` is what each model took, where the agent tells that. ``resume`` takes it up
    again; empty where nothing does. */
export interface SessionUse {
  id: number;
  identity: PaneIdentity;
  agent: string;
  external_id: string;
  title: string;
  model: string;
  version: string;
  cwd: string;
  started_at: string;
  ended_at: string | null;
  end_reason: "completed" | "error" | "limit_reached" | "manual" | "pane_gone" | null;
  seconds: number;
  tokens: number | null;
  cost: number | null;
  usage: Usage;
  by_model: Record<string, Spent>;
  resume: string;
  history?: SessionHistory | null;
}

export interface SessionsSummary {
  sessions: number;
  windows: number;
  panes: number;
  by_target: Record<string, number>;
}

/** ``tokens`` and ``cost`` are the sums of what was told, null where nobody told any; ``without_cost`` counts the
    sessions that told no cost. */
export interface SessionsUse {
  sessions: number;
  by_agent: Record<string, number>;
  tokens: number | null;
  cost: number | null;
  without_cost: number;
}

/** Which pane, and its title. */
export interface SetTitle {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** The pane; any reference. */
  pane: string;
  /** The title; all further words. */
  title: string;
}

/** ``origin`` is `default`, `file` or `environment`; ``value`` is written as in the config file. */
export interface SettingItem {
  name: string;
  value: string;
  origin: string;
  env: string;
  doc: string;
}

/** Which agents, whose settings, and what to do with them. */
export interface SetupAgents {
  /** Only this agent; may be repeated. Without it all installed ones. */
  agent?: Array<"claude_code" | "codex" | "copilot" | "gemini" | "opencode">;
  /** Your own settings, or those of the project in this folder. */
  scope?: "project" | "user";
  /** Take our hooks out again. */
  remove?: boolean;
  /** Also a status line of Claude Code that shows nothing and tells cost and context. */
  status_line?: boolean;
  /** Do it without asking. */
  yes?: boolean;
  /** Only show the change to each file. */
  dry_run?: boolean;
}

/** Which shell, and what to do with its start file. */
export interface SetupShell {
  /** The shell; without it the one in $SHELL. */
  shell?: "bash" | "fish" | "zsh" | null;
  /** Take it out again: the file is as it was before. */
  remove?: boolean;
  /** Only print what would be put into the file. */
  print?: boolean;
  /** Do it without asking. */
  yes?: boolean;
}

/** Nothing to choose. */
export interface SetupTmux {
}

/** ``kept`` is where the file as it was before is, ``snippet`` the shell code where it was asked for. */
export interface ShellSetup {
  shell: "bash" | "fish" | "zsh";
  path: string;
  outcome: "installed" | "printed" | "removed" | "unchanged" | "updated";
  kept?: string | null;
  warning?: string | null;
  snippet?: string;
}

/** Which one. */
export interface ShowAccount {
  /** Its name, or `service/name`. */
  account: string;
}

/** Which rule. */
export interface ShowRule {
  /** Its id, such as `codex.usage.reached`. */
  id: string;
}

/** Which one. */
export interface ShowWorkflow {
  /** The workflow's name. */
  name: string;
}

/** ``replaces`` names the packs whose rule of this id is not in force because of it. */
export interface ShownRule {
  id: string;
  pack: string;
  since: string;
  agent: string;
  versions: string;
  scope: string;
  part: string;
  anchors: Array<string>;
  pattern: string;
  severity: string;
  event: string;
  state: string | null;
  flag: string | null;
  confidence: number;
  cooldown: number;
  remedy: string;
  why: string;
  hits: Array<Hit>;
  misses: Array<Miss>;
  is_disabled: boolean;
  replaces: Array<string>;
}

/** A run that waits for this very word goes on; of a question, the word is one of its choices. */
export interface SignalRun {
  /** The run's number. */
  run: number;
  /** The word. */
  word: string;
  /** What else it is to know. */
  value?: string;
}

/** The agent that each trace names; empty where it names none. */
export interface SignatureInputs {
  provider_hint?: string;
  cmd_match?: string;
  poller_match?: string;
  title_match?: string;
}

/** ``status``: `well` speaks, `quiet` has nothing new, `absent` is not there (yet), `down` cannot be heard.

    ``lag`` is seconds from the agent's own time to ours. ``dropped`` counts signals that changed nothing. */
export interface SourceItem {
  agent: string;
  source: string;
  where: string;
  status: "absent" | "down" | "quiet" | "well";
  detail: string;
  heard_at: string | null;
  heard_age: number | null;
  records: number;
  signals: number;
  dropped: number;
  lag: number | null;
}

/** Sources, by agent. */
export interface SourceListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: SourcesSummary;
  items: Array<SourceItem>;
}

export interface SourcesSummary {
  sources: number;
  by_status: Record<string, number>;
  by_agent: Record<string, number>;
}

/** Characters of the text that was looked at, by index; ``capture_keys`` are the captures that stand there. */
export interface Span {
  start: number;
  end: number;
  kind: "anchor" | "context" | "regex";
  capture_keys?: Array<string>;
}

/** What to start, and where. */
export interface Spawn {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** The folder it starts in. */
  cwd?: string;
  /** NAME=value for its environment; may be repeated. */
  env?: Array<string>;
  /** The new window's name. */
  name?: string;
  /** The account under which it starts, by name or `service/name`. */
  account?: string;
  /** The program and its arguments, after --; none: your shell. */
  command?: Array<string>;
  /** What is made for it. */
  where?: "pane" | "session" | "window";
  /** A new session's name; or the session in which the window opens. */
  session?: string;
  /** The pane that is split, or by whose session. */
  beside?: string | null;
  /** Split side by side. */
  horizontal?: boolean;
  /** The socket of the tmux server, where there are several. */
  server?: string;
}

/** ``pane`` is the pane beside which it was made; ``new`` is the new one once it was seen. */
export interface Spawned {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
  new?: PaneIdentity | null;
  mux_pane?: string;
  pid?: number;
}

/** Tokens by what they cost. ``cached`` were read from a cache, ``written`` were put into one. */
export interface Spent {
  input?: number;
  output?: number;
  cached?: number;
  written?: number;
}

/** Which pane to split, and what to start in the new one. */
export interface Split {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** The folder it starts in. */
  cwd?: string;
  /** NAME=value for its environment; may be repeated. */
  env?: Array<string>;
  /** The new window's name. */
  name?: string;
  /** The account under which it starts, by name or `service/name`. */
  account?: string;
  /** The pane; any reference. */
  pane: string;
  /** The program and its arguments, after --; none: your shell. */
  command?: Array<string>;
  /** Side by side, not one above the other. */
  horizontal?: boolean;
}

/** ``agent`` is who was spoken to; ``channel`` is `native` where its own server was, `keys` where keys were pressed
    in its terminal, and null where nothing was done. */
export interface Spoken {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
  agent?: string;
  channel?: "keys" | "native" | null;
}

/** ``robots`` are the commands for programs and agents, ``people`` those for people. */
export interface Start {
  what: string;
  robots: Array<Step>;
  people: Array<Step>;
  notes: Array<string>;
}

/** Which workflow, where. */
export interface StartRun {
  /** The workflow's name. */
  name: string;
  /** The pane; any reference. */
  pane: string;
  /** Also where nothing that it answers was seen; policy, lock and guards hold as ever. */
  force?: boolean;
  /** Show each step and its verdict; nothing is done. */
  dry_run?: boolean;
}

/** ``run`` is the one that began; in a rehearsal there is none, and ``rehearsal`` tells the steps. */
export interface StartedRun {
  run?: RunItem | null;
  rehearsal?: Rehearsal | null;
}

/** Which agents, and how they are put together. */
export interface Status {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in this state or these: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need a person. */
  needs_action?: boolean;
  /** What is summed up: sessions of one server, all of one name, windows, targets or agents. */
  group_by?: "agent" | "session-name" | "target" | "target-session" | "window";
}

/** ``text`` is empty where there is no agent, and no daemon. */
export interface StatusLine {
  text: string;
  numbers: Record<string, number>;
}

/** ``items`` are the agents that need a person, by what waiting costs, and of one kind the oldest first; those with
    ``needs_action`` cannot go on without one. ``down`` are the sources that cannot be heard. */
export interface StatusReport {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: StatusSummary;
  items: Array<AgentRow>;
  groups: Array<GroupItem>;
  down: Array<SourceItem>;
}

export interface StatusSummary {
  agents: number;
  top_state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  waiting: number;
  running: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
  panes: number;
  by_target: Record<string, number>;
}

export interface Step {
  run: string;
  does: string;
}

/** ``given`` is what it was asked for, ``came`` what came of it; both redacted. */
export interface StepItem {
  number: number;
  kind: string;
  name: string;
  status: "completed" | "failed" | "retry" | "running" | "skipped";
  attempt: number;
  began_at: string;
  ended_at: string | null;
  why: string;
  given: unknown;
  came: unknown;
}

/** ``maintenance`` are the newest runs that did something, newest first. */
export interface StorageStatus {
  path: string;
  is_writable: boolean;
  db_bytes: number;
  wal_pages: number;
  last_checkpoint_at: string | null;
  checkpoint_age_secs: number | null;
  raw_bytes: number;
  maintenance: Array<UpkeepStep>;
}

/** Agents together. ``top_state`` is the one that speaks for all, by precedence; null where there is no agent.
    ``waiting`` counts those that wait for a permission or an answer, ``needs_action`` all that need a person. */
export interface Summed {
  agents: number;
  top_state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  waiting: number;
  running: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
}

/** What came of one way. ``why`` is a stable code; ``correlation`` finds it in the audit. */
export interface Telling {
  way: "command" | "desktop" | "terminal" | "webhook";
  status: "denied" | "done" | "failed" | "foreseen" | "suppressed" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  foreseen?: Foretold | null;
}

/** The text, and which rules to try. */
export interface TestRules {
  /** The text; all further words. `-`: read it from stdin. */
  text?: string;
  /** Read the text from stdin. A text of just `-` says the same. */
  stdin?: boolean;
  /** Read the text from this file; `-` is stdin. */
  file?: string | null;
  /** As if this agent lived in the pane; without it, rules about all agents. */
  agent?: string | null;
  /** Only rules that look here. */
  scope?: "line" | "mark" | "screen" | "stream" | "transcript" | null;
  /** Only this rule; also says where it gave up. */
  rule?: string | null;
  /** Say how each came to its word. */
  trace?: boolean;
}

/** ``text`` are settled lines; ``pending`` is the unfinished last one. ``cursor`` is where to go on reading. */
export interface Text {
  identity: PaneIdentity;
  source: "screen" | "stream";
  text: string;
  pending: string;
  cursor: string;
  first_at?: string | null;
  last_at?: string | null;
  is_complete?: boolean;
  command?: CommandFacts | null;
  lines_gone?: number;
  is_repainting?: boolean;
  gaps?: Array<GapNote>;
  lines?: Array<TextLine>;
}

/** A stored line near the place; ``is_it`` marks the one that was found. */
export interface TextItem {
  number: number;
  text: string;
  is_it: boolean;
}

export interface TextLine {
  number: number;
  at: string;
  text: string;
}

/** ``is_seen`` is false where no daemon could say how the servers are set up. */
export interface TmuxAdvice {
  is_seen: boolean;
  items: Array<Advice>;
}

/** What to say of which agents. */
export interface TmuxStatus {
  /** The line, with fields in braces: agents waiting needs_action limited error waiting_approval waiting_input running completed idle unknown. Without it, what is not 0 in short. */
  template?: string | null;
  /** Only this session. */
  session?: string | null;
}

/** One thing that is wrong with a file. Its rule is not in force; everything else is. */
export interface Trouble {
  file: string;
  line?: number | null;
  key?: string;
  rule?: string;
  why: string;
}

/** Which action. */
export interface Undo {
  /** Say what would be decided and done, and do nothing. */
  dry_run?: boolean;
  /** A person at a terminal says yes to what would be asked. */
  yes?: boolean;
  /** As --yes, and for eight hours: this kind of action of theirs in this pane. */
  yes_for_session?: boolean;
  /** Under whose reservation it is done. */
  owner?: string;
  /** Wait so many seconds for a person, where one must be asked. */
  wait_answer_secs?: number;
  /** Also where what is known of the pane is old or incomplete; it is recorded. */
  force_stale?: boolean;
  /** Its `correlation`, or `last`: your own last one. */
  which?: string;
}

/** ``undoes`` is the correlation of the action that is taken back, ``what`` is done for it. */
export interface Undone {
  status: "delivered" | "done" | "failed" | "foreseen" | "suppressed" | "typed_not_submitted" | "unknown";
  why?: string;
  text?: string;
  correlation?: string;
  pane?: PaneIdentity | null;
  foreseen?: Foretold | null;
  undoes: string;
  what: string;
}

export interface Unmuted {
  mute_id: number;
}

/** ``rows`` and ``bytes`` are what was deleted, sealed or given back, of what ``operation`` names. */
export interface UpkeepStep {
  operation: string;
  started_at: string;
  duration_secs: number;
  rows: number;
  bytes: number;
  detail: string;
  is_done: boolean;
  is_foretold?: boolean;
}

/** Tokens and money, as far as the agent told them. None means that it did not say. */
export interface Usage {
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

/** Which one. */
export interface UseAccount {
  /** Its name, or `service/name`. */
  account: string;
}

/** ``schema_version`` is that of the JSON answers. */
export interface Version {
  version: string;
  schema_version: number;
  python: string;
  platform: string;
}

/** What to wait for: a pattern, or `--command-finished`, `--state`, `--gone`, `--quiet-for`. */
export interface WaitFor {
  /** The pane; any reference. */
  pane: string;
  /** Text that a line must hold. */
  pattern?: string | null;
  /** The pattern is a regular expression (RE2 syntax). */
  regex?: boolean;
  /** Give up after so many seconds. */
  timeout_secs?: number;
  /** Look back over so many lines first. */
  tail?: number;
  /** Look back to this cursor instead. */
  since?: string | null;
  /** Wait until a command is over: the one that runs now, or that starts after --since. */
  command_finished?: boolean;
  /** Wait until its agent is in this state or one of these: waiting,completed,idle. */
  state?: string | null;
  /** Wait until the pane, or the program in it, ends. */
  gone?: boolean;
  /** Wait until it printed nothing for so many seconds. */
  quiet_for?: number | null;
}

/** What matched is ``line``, or ``pending`` while the line is unfinished, or ``shown``: a row of a screen that
    repaints. ``command`` is what finished, or was lost. ``agent`` is the one whose state was waited for. ``cursor`` is
    where to read on. */
export interface Waited {
  identity: PaneIdentity;
  outcome: "died" | "finished" | "gone" | "lost" | "matched" | "quiet" | "state";
  waited_secs: number;
  cursor: string;
  line?: TextLine | null;
  pending?: string | null;
  shown?: string | null;
  command?: CommandFacts | null;
  agent?: AgentRow | null;
  exit_status?: number | null;
}

/** What to watch, and from where on. */
export interface Watch {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this agent, for example claude_code. */
  agent?: string | null;
  /** Only agents in this state or these: running,idle; `waiting` means both kinds. */
  state?: string | null;
  /** Only agents that need a person. */
  needs_action?: boolean;
  /** Tell each agent, or only what windows or sessions come to. */
  scope?: "panes" | "sessions" | "windows";
  /** Begin after this cursor; without it, with how it is now. */
  since_cursor?: string | null;
  /** Tell what is there, then stop. */
  once?: boolean;
  /** Seconds between two pieces at least; nothing is left out. */
  interval?: number;
}

/** From where to watch, and for what. */
export interface WatchEvents {
  /** Begin after this cursor; without it, begin now. */
  since_cursor?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Only this kind, for example gap_recorded. */
  kind?: string | null;
  /** Tell what is already there, then stop. */
  once?: boolean;
  /** Only detections that nobody has seen to. */
  unhandled?: boolean;
  /** Only detections of this type, such as usage.reached; a glob such as usage.* too. */
  type?: string | null;
  /** Only what this rule found; a glob too. */
  rule?: string | null;
  /** Only what is about this agent, such as codex. */
  agent?: string | null;
  /** Only detections that are at least so severe. */
  severity?: "critical" | "error" | "info" | "warning" | null;
}

/** One line. `state`: how an agent is at the start. `state_changed`, `agent_began`, `agent_ended`: what was stored,
    beside ``agent`` as it is by now; that is null once it is gone, and only its ``name`` is left. `summary_changed`:
    what all of them, or those of one ``place``, come to. ``cursor`` is where to go on. */
export interface WatchItem {
  kind: "agent_began" | "agent_ended" | "state" | "state_changed" | "summary_changed";
  at: string;
  cursor: string;
  pane?: number | null;
  name?: string;
  agent?: AgentRow | null;
  before?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  after?: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  place?: string;
  summary?: Summed | null;
}

export interface WindowIdentity {
  target: string;
  session_name: string;
  window_id: string;
}

/** ``agent_rows`` are there with `--with-agent-status`. */
export interface WindowItem {
  agents: number;
  top_state: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  waiting: number;
  running: number;
  needs_action: number;
  by_state: Record<string, number>;
  by_agent: Record<string, number>;
  server: string;
  panes: Array<number>;
  representative: number;
  title: string;
  state_age: number | null;
  tokens: number | null;
  cost: number | null;
  cost_is_estimated: boolean;
  context_used: number | null;
  by_activity: Record<string, number>;
  last_output_at: string | null;
  last_output_age: number | null;
  gaps: number;
  identity: WindowIdentity;
  index: number;
  name: string;
  agent_rows?: Array<AgentRow>;
}

/** Windows, by server, session and index. */
export interface WindowListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: WindowsSummary;
  items: Array<WindowItem>;
}

export interface WindowsSummary {
  windows: number;
  panes: number;
  by_target: Record<string, number>;
}

/** One source: what it last said of the state, when it was last heard, and what became of it. */
export interface WitnessItem {
  source: string;
  tier: "deterministic" | "heuristic";
  rank: number;
  role: "agrees" | "contradicts" | "decides" | "down" | "gap" | "overtaken" | "silent" | "stale" | "suppressed" | "unsettled";
  meaning: string;
  said: "completed" | "error" | "idle" | "running" | "unknown" | "waiting_approval" | "waiting_input" | null;
  since: string | null;
  age: number;
  evidence: EvidenceItem | null;
}

/** What starts it: ``events`` of at least this ``severity``, by these ``agents`` and ``rules`` where any are named,
    not older than ``fresh_for`` seconds. ``steps`` are those of a file; ``doubts`` are things that it speaks of and
    nobody knows. */
export interface WorkflowFacts {
  name: string;
  version: number;
  summary: string;
  origin: string;
  mode: "ask" | "off" | "on";
  events: Array<string>;
  agents: Array<string>;
  rules: Array<string>;
  severity: "critical" | "error" | "info" | "warning";
  fresh_for: number;
  priority: number;
  timeout: number;
  takes_pane: boolean;
  steps: Array<string>;
  doubts?: Array<string>;
}

/** Which run. */
export interface WorkflowHistory {
  /** The run's number. */
  run: number;
}

/** ``mode`` is the one in force. ``events`` start it; without any, only people and programs do. ``doubts`` are
    things that its file speaks of and nobody knows. */
export interface WorkflowItem {
  name: string;
  mode: "ask" | "off" | "on";
  events: Array<string>;
  agents: Array<string>;
  priority: number;
  version: number;
  origin: string;
  summary: string;
  doubts?: Array<string>;
}

/** In the order in which they are asked whether an event is theirs. */
export interface WorkflowListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: WorkflowsSummary;
  items: Array<WorkflowItem>;
  broken?: Array<BrokenFile>;
}

/** Which runs. */
export interface WorkflowStatus {
  /** Only of this workflow. */
  workflow?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Also those that ended. */
  all?: boolean;
  /** At most so many. */
  limit?: number;
}

export interface WorkflowsSummary {
  workflows: number;
  by_mode: Record<string, number>;
  broken: number;
}

export interface Ops {
  list_panes: { input: ListPanes; output: PaneListing };
  list_windows: { input: ListWindows; output: WindowListing };
  list_sessions: { input: ListSessions; output: SessionListing };
  status: { input: Status; output: StatusReport };
  next: { input: Next; output: NextUp };
  explain: { input: Explain; output: Explained };
  watch: { input: Watch; items: WatchItem };
  agents_list: { input: ListKinds; output: KindListing };
  agents_sessions: { input: AgentsSessions; output: AgentSessionListing };
  list_sources: { input: ListSources; output: SourceListing };
  tmux_status: { input: TmuxStatus; output: StatusLine };
  get_text: { input: GetText; output: Text };
  get_screen: { input: GetScreen; output: ScreenText };
  search_history: { input: SearchHistory; output: HitListing };
  wait_for: { input: WaitFor; output: Waited };
  list_commands: { input: ListCommands; output: CommandListing };
  list_gaps: { input: ListGaps; output: GapListing };
  export: { input: Export; items: Piece };
  replay: { input: Replay; items: FrameItem };
  list_events: { input: ListEvents; output: EventListing };
  watch_events: { input: WatchEvents; items: EventItem };
  report_event: { input: ReportEvent; output: ReportedEvent };
  explain_event: { input: ExplainEvent; output: ExplainedEvent };
  events_ack: { input: EventsAck; output: Acked };
  events_mute: { input: EventsMute; output: MuteItem };
  events_mutes: { input: EventsMutes; output: MuteListing };
  events_unmute: { input: EventsUnmute; output: Unmuted };
  send_text: { input: SendText; output: Sent };
  send_keys: { input: SendKeys; output: Deed };
  answer_dialog: { input: AnswerDialog; output: Spoken };
  interrupt: { input: Interrupt; output: Spoken };
  quit_agent: { input: QuitAgent; output: Spoken };
  resume_session: { input: ResumeSession; output: Spawned };
  revive: { input: Revive; output: Revivals };
  spawn: { input: Spawn; output: Spawned };
  split: { input: Split; output: Spawned };
  kill: { input: Kill; output: Deed };
  activate: { input: Activate; output: Deed };
  attach: { input: Attach; output: Attached };
  set_title: { input: SetTitle; output: Deed };
  notify: { input: Notify; output: Notified };
  undo: { input: Undo; output: Undone };
  reserve: { input: Reserve; output: Reserved };
  release: { input: Release; output: Released };
  list_reservations: { input: ListReservations; output: ReservationListing };
  inbox: { input: Inbox; output: InboxListing };
  approve: { input: Approve; output: Approved };
  deny: { input: Deny; output: Asked };
  list_permits: { input: ListPermits; output: PermitListing };
  revoke_permit: { input: RevokePermit; output: RevokedPermit };
  audit: { input: Audit; output: AuditListing };
  audit_verify: { input: AuditVerify; output: AuditState };
  audit_export: { input: AuditExport; items: AuditLine };
  policy_show: { input: PolicyShow; output: PolicyInForce };
  policy_explain: { input: PolicyExplain; output: Foretold };
  policy_test: { input: PolicyTest; output: PolicyTested };
  rules_list: { input: ListRules; output: RuleListing };
  rules_show: { input: ShowRule; output: ShownRule };
  rules_test: { input: TestRules; output: RulesTried };
  rules_lint: { input: LintRules; output: RulesLinted };
  rules_new: { input: RuleStart; output: RuleMade };
  workflow_list: { input: ListWorkflows; output: WorkflowListing };
  workflow_show: { input: ShowWorkflow; output: WorkflowFacts };
  workflow_run: { input: StartRun; output: StartedRun };
  workflow_dry_run: { input: DryRun; output: Rehearsal };
  workflow_status: { input: WorkflowStatus; output: RunListing };
  workflow_history: { input: WorkflowHistory; output: RunHistory };
  workflow_signal: { input: SignalRun; output: ChangedRun };
  workflow_pause: { input: PauseRun; output: ChangedRun };
  workflow_resume: { input: ResumeRun; output: ChangedRun };
  workflow_cancel: { input: CancelRun; output: ChangedRun };
  accounts_list: { input: ListAccounts; output: AccountListing };
  accounts_show: { input: ShowAccount; output: AccountShown };
  accounts_pick: { input: PickAccount; output: AccountPicked };
  accounts_use: { input: UseAccount; output: AccountUsed };
  accounts_refresh: { input: RefreshAccounts; output: AccountsRefreshed };
  setup_shell: { input: SetupShell; output: ShellSetup };
  setup_tmux: { input: SetupTmux; output: TmuxAdvice };
  setup_agents: { input: SetupAgents; output: AgentsSetup };
  hook_permission: { input: HookPermission; output: PermissionAnswer };
  config_init: { input: ConfigInit; output: ConfigMade };
  config_show: { input: ConfigShow; output: ConfigShown };
  config_set: { input: ConfigSet; output: ConfigChanged };
  config_unset: { input: ConfigUnset; output: ConfigChanged };
  config_reload: { input: ConfigReload; output: ConfigReloaded };
  config_validate: { input: ConfigValidate; output: ConfigVerdict };
  config_path: { input: ConfigPath; output: ConfigPlaces };
  health: { input: GetHealth; output: HealthReport };
  doctor: { input: RunDoctor; output: Diagnosis };
  logs: { input: ReadLogs; output: LogLines };
  db_status: { input: DbStatus; output: StorageStatus };
  db_prune: { input: DbPrune; items: UpkeepStep };
  db_vacuum: { input: DbVacuum; items: UpkeepStep };
  db_reindex: { input: DbReindex; items: UpkeepStep };
  db_check: { input: DbCheck; output: CheckReport };
  db_backup: { input: DbBackup; output: BackupMade };
  db_restore: { input: DbRestore; output: Restored };
  completion: { input: Completion; output: CompletionScript };
  version: { input: GetVersion; output: Version };
  quick_start: { input: QuickStart; output: Start };
  help: { input: Help; output: HelpText };
}
