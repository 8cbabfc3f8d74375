// Generated from the operations' declarations. Do not edit.

/** What a pane is doing, from marks and the stream. ``is_proven``: the marks carried our nonce. */
export interface ActivityItem {
  kind: "alt_screen" | "command" | "gap" | "prompt" | "unknown";
  since: string | null;
  command_line: string | null;
  last_exit: number | null;
  is_proven: boolean;
}

export interface CommandLine {
  command: string;
  aliases: Array<string>;
  robot: string | null;
  usage: string;
  summary: string;
  effect: string;
  examples?: Array<string>;
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

/** Which settings to show. */
export interface ConfigShow {
  /** All settings, also those at their default. */
  effective?: boolean;
}

export interface ConfigShown {
  path: string;
  settings: Array<SettingItem>;
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

/** ``is_fine`` is false when a check failed; warnings and skipped checks do not count. */
export interface Diagnosis {
  is_fine: boolean;
  summary: Record<string, number>;
  items: Array<Finding>;
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

/** ``cursor`` names this event; what comes after it is found by giving it back. */
export interface EventItem {
  cursor: string;
  at: string;
  kind: string;
  pane: number | null;
  data: Record<string, string | number | number | boolean | null>;
}

/** Events, oldest first. ``cursor`` is where the next call, or `watch-events`, goes on. */
export interface EventListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: EventsSummary;
  items: Array<EventItem>;
  cursor: string | null;
}

export interface EventsSummary {
  events: number;
  by_kind: Record<string, number>;
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
  /** Not older than this: ISO 8601, today, or an age such as 10m. */
  since?: string | null;
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

/** Whose screen to take. */
export interface GetScreen {
  /** The pane; any reference. */
  pane: string;
  /** Keep colours (SGR sequences only). */
  escapes?: boolean;
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
  /** Also each line with its number and time. */
  numbers?: boolean;
  /** With colours: answered from the screen, since stored text has none. */
  escapes?: boolean;
}

/** Nothing to choose. */
export interface GetVersion {
}

/** ``ingest_lag_*`` are seconds between a byte in the raw log and its text; ``forks`` are programs we started. */
export interface HealthReport {
  is_ok: boolean;
  version: string;
  started_at: string;
  uptime_secs: number;
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
  daemon: ProcessCost;
  recorder: ProcessCost | null;
  alerts: Array<string>;
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

/** ``spans`` are the (start, end) characters of ``text`` that matched; ``number`` is the line's number. */
export interface HitItem {
  identity: PaneIdentity;
  number: number;
  at: string;
  age: number | null;
  text: string;
  spans: Array<[number, number]>;
  before: Array<string>;
  after: Array<string>;
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

/** Which panes to list. */
export interface ListPanes {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
  /** Also panes that ended. */
  gone?: boolean;
}

/** Which sessions to list. */
export interface ListSessions {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
}

/** Which windows to list. */
export interface ListWindows {
  /** Only this session. */
  session?: string | null;
  /** Only this target. */
  target?: string | null;
  /** Only this pane; any reference. */
  pane?: string | null;
}

export interface LogLines {
  path: string;
  lines: Array<string>;
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
  presence: string;
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
}

export interface PanesSummary {
  panes: number;
  by_activity: Record<string, number>;
  by_target: Record<string, number>;
  gaps: number;
}

/** A line, or some raw bytes (base64 in JSON). */
export interface Piece {
  form: "jsonl" | "raw" | "text";
  pane: number;
  at: string;
  number?: number | null;
  text?: string | null;
  epoch?: number | null;
  data?: string | null;
}

/** ``cpu_percent`` is of one core over the last minute, ``cpu_seconds`` since the start. */
export interface ProcessCost {
  pid: number;
  rss_bytes: number;
  cpu_seconds: number;
  cpu_percent: number;
}

/** Nothing to choose. */
export interface QuickStart {
}

/** How much of the log to show. */
export interface ReadLogs {
  /** How many of the last lines. */
  tail?: number;
}

/** Nothing to choose. */
export interface RunDoctor {
}

/** ``cursor_x`` and ``cursor_y`` count from 0 at the top left. */
export interface ScreenText {
  identity: PaneIdentity;
  at: string;
  rows: Array<string>;
  width: number;
  height: number;
  cursor_x: number;
  cursor_y: number;
  is_alternate: boolean;
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

/** One multiplexer server. ``client`` is how we talk to it: control, plain, or none while it is unreachable. */
export interface ServerHealth {
  target: string;
  socket: string;
  mux_ok: boolean;
  client: string;
  panes: number;
  detail?: string;
}

export interface SessionIdentity {
  target: string;
  session_name: string;
}

export interface SessionItem {
  identity: SessionIdentity;
  server: string;
  attached: number;
  windows: number;
  panes: Array<number>;
  by_activity: Record<string, number>;
  last_output_at: string | null;
  last_output_age: number | null;
  gaps: number;
}

/** Sessions, by server and name. */
export interface SessionListing {
  schema_version?: number;
  generated_at: string;
  filters?: Record<string, string | number | boolean>;
  summary: SessionsSummary;
  items: Array<SessionItem>;
}

export interface SessionsSummary {
  sessions: number;
  windows: number;
  panes: number;
  by_target: Record<string, number>;
}

/** ``origin`` is `default`, `file` or `environment`; ``value`` is written as in the config file. */
export interface SettingItem {
  name: string;
  value: string;
  origin: string;
  env: string;
  doc: string;
}

/** ``robots`` are the commands for programs and agents, ``people`` those for people. */
export interface Start {
  what: string;
  robots: Array<Step>;
  people: Array<Step>;
  notes: Array<string>;
}

export interface Step {
  run: string;
  does: string;
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
  gaps?: Array<GapNote>;
  lines?: Array<TextLine>;
}

export interface TextLine {
  number: number;
  at: string;
  text: string;
}

/** ``schema_version`` is that of the JSON answers. */
export interface Version {
  version: string;
  schema_version: number;
  python: string;
  platform: string;
}

/** What to wait for: a pattern, or `--gone`, or `--quiet-for`. */
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
  /** Wait until the pane, or the program in it, ends. */
  gone?: boolean;
  /** Wait until it printed nothing for so many seconds. */
  quiet_for?: number | null;
}

/** ``line`` is what matched; its number is absent while the line is unfinished. ``cursor`` is where to read on. */
export interface Waited {
  identity: PaneIdentity;
  outcome: "died" | "gone" | "matched" | "quiet";
  waited_secs: number;
  cursor: string;
  line?: TextLine | null;
  pending?: string | null;
  exit_status?: number | null;
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
}

export interface WindowIdentity {
  target: string;
  session_name: string;
  window_id: string;
}

export interface WindowItem {
  identity: WindowIdentity;
  server: string;
  index: number;
  name: string;
  panes: Array<number>;
  by_activity: Record<string, number>;
  last_output_at: string | null;
  last_output_age: number | null;
  gaps: number;
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

export interface Ops {
  list_panes: { input: ListPanes; output: PaneListing };
  list_windows: { input: ListWindows; output: WindowListing };
  list_sessions: { input: ListSessions; output: SessionListing };
  get_text: { input: GetText; output: Text };
  get_screen: { input: GetScreen; output: ScreenText };
  search_history: { input: SearchHistory; output: HitListing };
  wait_for: { input: WaitFor; output: Waited };
  list_events: { input: ListEvents; output: EventListing };
  watch_events: { input: WatchEvents; items: EventItem };
  list_gaps: { input: ListGaps; output: GapListing };
  export: { input: Export; items: Piece };
  health: { input: GetHealth; output: HealthReport };
  doctor: { input: RunDoctor; output: Diagnosis };
  logs: { input: ReadLogs; output: LogLines };
  config_init: { input: ConfigInit; output: ConfigMade };
  config_show: { input: ConfigShow; output: ConfigShown };
  config_validate: { input: ConfigValidate; output: ConfigVerdict };
  config_path: { input: ConfigPath; output: ConfigPlaces };
  version: { input: GetVersion; output: Version };
  quick_start: { input: QuickStart; output: Start };
  help: { input: Help; output: HelpText };
}
