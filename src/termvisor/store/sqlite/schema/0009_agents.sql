-- What states are made of, in the order in which it was heard; append-only. AUTOINCREMENT: an id that was named as
-- evidence is never given to another fact.
CREATE TABLE fact (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
);

-- One row: all that was known after a fact, so that older facts may age away and a restart folds only the newer ones.
CREATE TABLE knowledge (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    fact INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL
);

-- One agent process in a pane, and the state of it that was last published.
CREATE TABLE runtime (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pane INTEGER NOT NULL REFERENCES pane (id),
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    version INTEGER NOT NULL,
    state BLOB NOT NULL
);
CREATE INDEX runtime_pane ON runtime (pane);
CREATE INDEX runtime_living ON runtime (id) WHERE ended_at IS NULL;

-- AUTOINCREMENT: an id that was told to a person or a program is never given to another session.
CREATE TABLE agent_session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    runtime INTEGER NOT NULL,
    pane INTEGER NOT NULL REFERENCES pane (id),
    agent TEXT NOT NULL,
    external_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    body BLOB NOT NULL
);
CREATE INDEX agent_session_pane ON agent_session (pane, id);
CREATE INDEX agent_session_external ON agent_session (external_id);
CREATE INDEX agent_session_open ON agent_session (id) WHERE ended_at IS NULL;

-- How far each source that keeps its own log is read: stored together with the facts that it led to.
CREATE TABLE reading (
    source TEXT PRIMARY KEY,
    life INTEGER NOT NULL,
    seq INTEGER NOT NULL
) WITHOUT ROWID;
