/**
 * The registry of every text that the kernel adds in another's name. One predicate tells machine text from
 * speech, for the prompt, the feed, search and the mock alike. A new kind starts with an entry here.
 *
 * A fragment is recognised only by its marker at the place it is written to: text of people that happens
 * to hold `[state]` in its middle stays speech.
 */

interface MachineTextKind {
  /** How the fragment starts; `exact` kinds are nothing but this text. */
  marker: string
  exact?: boolean
  /** Stored in history for clients and never sent to a model. */
  hiddenFromModel?: boolean
}

export const MACHINE_TEXT = {
  state: { marker: "[state]" },
  turn: { marker: "[turn]" },
  wrapup: { marker: "[wrapup]" },
  window: { marker: "[window]" },
  kernel_note: { marker: "[kernel]" },
  call_interrupted: {
    marker: "[kernel] tool call interrupted; no result was produced",
    exact: true,
  },
  call_cancelled: { marker: "[not executed: turn cancelled]", exact: true },
  superseded_read: {
    marker: "[superseded: the file was written after this read; read it again]",
    exact: true,
  },
  repeated_read: { marker: "[re-read further down]", exact: true },
  repeated_call: { marker: "[same call as above" },
  elided_input: { marker: "[elided: " },
  middle_cut: { marker: "[middle cut: " },
  tail_cut: { marker: "[tail cut: " },
  empty_result: { marker: "[empty]", exact: true },
  image_reference: { marker: "[image " },
  image_unseen: { marker: "[image — " },
  compaction_marker: {
    marker: "[compacted] Older history was folded into the chat summary here.",
    exact: true,
    hiddenFromModel: true,
  },
  fork_marker: { marker: "[forked]", hiddenFromModel: true },
  team_mail: { marker: "[team] Your lead says:" },
  rule_reminder: { marker: '<system-reminder rule="' },
  rule_interrupt: { marker: '<system-interrupt reason="' },
  advisory: { marker: '<advisory severity="' },
} as const satisfies Record<string, MachineTextKind>

export type MachineTextKindId = keyof typeof MACHINE_TEXT

/** Longest marker first, so that an exact `[kernel]` text wins over the general note. */
const BY_LENGTH = (Object.entries(MACHINE_TEXT) as [MachineTextKindId, MachineTextKind][]).sort(
  ([, a], [, b]) => b.marker.length - a.marker.length,
)

/** The kind of a text block, or undefined for speech. */
export function machineTextKind(text: string): MachineTextKindId | undefined {
  return BY_LENGTH.find(([, kind]) =>
    kind.exact ? text === kind.marker : text.startsWith(kind.marker),
  )?.[0]
}

export const isMachineText = (text: string): boolean => machineTextKind(text) !== undefined

/** Stored for clients only: no model ever sees it. */
export function isHiddenFromModel(text: string): boolean {
  const kind = machineTextKind(text)
  return kind !== undefined && "hiddenFromModel" in MACHINE_TEXT[kind]
}

/** The picture of an assistant message as history shows it to a model. */
export const imageReference = (id: string, url: string): string => `[image ${id}] ${url}`

/** Stands for a picture that the model of the turn has no eyes for. */
export const imageUnseen = (id: string): string => `[image — this model cannot see it: ${id}]`

export const forkMarker = (parentTitle: string, beforeMessage: string): string =>
  `[forked] Branched from "${parentTitle}" before message ${beforeMessage}.`

/** Stands for what is left out of an old call or result. */
export const elidedNote = (chars: number): string => `[elided: ${chars} chars]`

/** Ends a reader's window that was cut. */
export const tailCutNote = (gone: number, of: number): string =>
  `[tail cut: ${gone} chars of ${of} — ask for a narrower window to see them]`

/** Stands for the result of a call that was made again, word for word. */
export const repeatedCallNote = "[same call as above, made again further down]"
