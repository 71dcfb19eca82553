-- The plan of the work at hand in a chat: JSON list of {id, phase?, title, status, outcome?}, written whole.
CREATE TABLE chat_plan (
  chat_id TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
  tasks TEXT NOT NULL,
  -- The newest number given to a task: none is given twice in a plan.
  last_id INTEGER NOT NULL
) STRICT;
