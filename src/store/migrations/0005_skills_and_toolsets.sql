CREATE TABLE skills (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  body TEXT NOT NULL,
  -- Carries the skill out by itself; NULL: the model of the turn follows it.
  model TEXT,
  -- private, surface
  visibility TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE toolsets (
  name TEXT PRIMARY KEY,
  description TEXT NOT NULL,
  -- JSON list of tool and group names; an empty list stands for the whole registry.
  tools TEXT NOT NULL,
  hint TEXT,
  workdir TEXT,
  workdir_on TEXT NOT NULL,
  uncapped INTEGER NOT NULL,
  narrate INTEGER NOT NULL,
  no_brevity INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
