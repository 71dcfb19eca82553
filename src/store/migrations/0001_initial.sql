-- One row per fact that must outlive the process. Instants are INTEGER milliseconds since 1970.

-- Small latches and settings of the kernel itself.
CREATE TABLE kernel_meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  -- The title in lower case, for search: SQLite itself folds ASCII only.
  title_key TEXT NOT NULL DEFAULT '',
  folder TEXT NOT NULL DEFAULT 'default',
  surface TEXT,
  project TEXT,
  model TEXT,
  effort TEXT,
  toolset TEXT,
  workdir TEXT,
  workdir_on TEXT NOT NULL DEFAULT 'client',
  -- A sub-agent's chat names its lead: both are reaped together.
  lead_chat_id TEXT REFERENCES chats(id) ON DELETE SET NULL,
  ephemeral INTEGER NOT NULL DEFAULT 0,
  needs_attention INTEGER NOT NULL DEFAULT 0,
  attention_reason TEXT,
  -- No foreign key: the branch outlives its parent and still says where it came from.
  forked_from TEXT,
  forked_at_message TEXT,
  -- Size of the context by the last answer's own count, and the message it was counted at.
  ctx_tokens INTEGER,
  ctx_upto TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX chats_by_update ON chats (updated_at);
CREATE INDEX chats_by_lead ON chats (lead_chat_id) WHERE lead_chat_id IS NOT NULL;
CREATE INDEX chats_ephemeral ON chats (updated_at) WHERE ephemeral = 1;

-- One row per admitted turn: admission is durable, execution is not.
CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
  source TEXT NOT NULL,
  -- running (admitted and not ended), done, failed, cancelled, interrupted
  state TEXT NOT NULL,
  -- A repeat of the same send attaches to this turn instead of doubling it.
  client_key TEXT,
  -- The provider refused the turn as it stands: it is kept for people and left out of later prompts.
  excluded INTEGER NOT NULL DEFAULT 0,
  error_code TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_by_chat ON turns (chat_id, id);
CREATE INDEX turns_by_client_key ON turns (chat_id, client_key) WHERE client_key IS NOT NULL;
CREATE INDEX turns_excluded ON turns (chat_id) WHERE excluded = 1;
CREATE INDEX turns_open ON turns (state) WHERE state = 'running';

-- Facts of a conversation, appended and never rewritten. Ids are UUIDv7, so they sort by time.
-- A table with a rowid, since its rows are long: an index tree keeps rows over 1 KB in pages of their own.
CREATE TABLE messages (
  id TEXT NOT NULL,
  chat_id TEXT NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
  turn_id TEXT,
  role TEXT NOT NULL,
  blocks TEXT NOT NULL,
  -- What only some messages have: sender, model, anchor, ext_id, reply_to_ext_id, reply_to_text, closes.
  extra TEXT,
  master INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (chat_id, id)
) STRICT;
-- What one person said: merging two persons renames the sender of these rows without a scan.
CREATE INDEX messages_by_sender ON messages (json_extract(extra, '$.sender'))
  WHERE json_extract(extra, '$.sender') IS NOT NULL;
CREATE INDEX messages_by_turn ON messages (chat_id, turn_id) WHERE turn_id IS NOT NULL;

CREATE TABLE persons (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- The master named this person: a surface no longer changes the name.
  renamed INTEGER NOT NULL DEFAULT 0,
  -- Another person took this one over. The row stays, so that an id a surface remembers keeps its meaning.
  merged_into INTEGER REFERENCES persons(id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE person_aliases (
  source TEXT NOT NULL,
  ext_id TEXT NOT NULL,
  person_id INTEGER NOT NULL REFERENCES persons(id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (source, ext_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_person ON person_aliases (person_id);

-- One row per provider trip. Money is kept in millionths of a dollar, so that sums are exact.
CREATE TABLE spend (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  chat_id TEXT,
  turn_id TEXT,
  run_id TEXT,
  source TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost_micros INTEGER,
  reasoning_cost_micros INTEGER
) STRICT;
-- It holds the cost too: the first sum of a month reads the index alone.
CREATE INDEX spend_by_time ON spend (at, cost_micros);
-- These end in the row's id: a later sum seeks straight to what came since.
CREATE INDEX spend_by_chat ON spend (chat_id) WHERE chat_id IS NOT NULL;
CREATE INDEX spend_by_run ON spend (run_id) WHERE run_id IS NOT NULL;

-- One row per batch that a surface judged: how many messages it engaged with and how many it answered.
CREATE TABLE triage_stat (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  engaged INTEGER NOT NULL,
  responded INTEGER NOT NULL
) STRICT;
CREATE INDEX triage_by_time ON triage_stat (at);

-- Pictures: the bytes are files named by the id in the image directory.
CREATE TABLE images (
  id TEXT PRIMARY KEY,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  -- `sent` pictures live as long as their chat, `drawn` ones expire.
  origin TEXT NOT NULL,
  chat_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX images_by_expiry ON images (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX images_by_chat ON images (chat_id) WHERE chat_id IS NOT NULL;
