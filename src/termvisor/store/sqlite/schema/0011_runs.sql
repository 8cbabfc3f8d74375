-- A workflow in progress, and what it did. A step is committed before it is taken, and again with what came of it.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    origin TEXT NOT NULL,
    event INTEGER,
    pane INTEGER,
    runtime INTEGER,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    why TEXT NOT NULL,
    plan TEXT NOT NULL,
    due_at INTEGER,
    at INTEGER NOT NULL,
    ended_at INTEGER,
    correlation TEXT NOT NULL,
    mode TEXT NOT NULL,
    facts TEXT NOT NULL
);
-- One event starts a workflow once.
CREATE UNIQUE INDEX run_event ON run (workflow, event) WHERE event IS NOT NULL;
CREATE INDEX run_open ON run (id) WHERE ended_at IS NULL;

CREATE TABLE run_step (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    given TEXT NOT NULL,
    came TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    ended_at INTEGER,
    why TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;

-- What people and programs say to a run; `resume` and `cancel` are words like any other.
CREATE TABLE run_signal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    word TEXT NOT NULL,
    value TEXT NOT NULL,
    by TEXT NOT NULL
);
CREATE INDEX run_signal_run ON run_signal (run, id);

-- How far the events were offered to workflows.
CREATE TABLE run_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), event INTEGER NOT NULL);
