-- Each sleep: a night by the clock, or one that somebody asked for.
CREATE TABLE sleep_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The moment that it was due; NULL when it was asked for.
  boundary INTEGER,
  dry_run INTEGER NOT NULL,
  -- running, done, woken, failed, interrupted
  state TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  undone_at INTEGER,
  -- JSON: size and junk of the corpus.
  before TEXT,
  after TEXT
) STRICT;

-- A phase stands here together with all that it did, or not at all.
CREATE TABLE sleep_phases (
  run_id INTEGER NOT NULL REFERENCES sleep_runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  stage TEXT NOT NULL,
  name TEXT NOT NULL,
  calls INTEGER NOT NULL,
  note TEXT,
  -- What it looked at, as a digest: the same again needs no second look.
  digest TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT;

-- What a model planned, and what became of it: applied, planned (a dry run), refused.
CREATE TABLE sleep_ops (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES sleep_runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  -- JSON
  op TEXT NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT
) STRICT;
CREATE INDEX sleep_ops_by_run ON sleep_ops (run_id, position);

-- What a night changed, record by record, so that it can be taken back. NULL before: the record was made;
-- NULL after: it went to the archive.
CREATE TABLE sleep_changes (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES sleep_runs(id) ON DELETE CASCADE,
  memory_id INTEGER NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX sleep_changes_by_run ON sleep_changes (run_id);
CREATE INDEX sleep_changes_by_memory ON sleep_changes (memory_id);

-- Records that a model would not let go.
CREATE TABLE sleep_spared (
  memory_id INTEGER PRIMARY KEY REFERENCES memories(id) ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT;

-- Moments at which sleep was due, and how often it was begun.
CREATE TABLE sleep_boundaries (
  at INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL,
  served INTEGER NOT NULL
) STRICT;
