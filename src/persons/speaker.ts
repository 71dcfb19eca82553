/**
 * Whose turn it is and how far it may go: three separate axes, computed once from what the surface says
 * beside a message, never from its text.
 */

/** What a send claims. It is only as good as the door that it came through. */
export interface SpeakerClaim {
  /** Not the master's turn, whoever sends it. */
  guest?: boolean
  /** The place is the master's own: his client, or his private chat on a surface. */
  trusted?: boolean
  /** The sender is on the surface's list of allowed users. */
  privileged?: boolean
}

export interface Speaker {
  /** The master leads the turn. */
  master: boolean
  /** The place is trusted. */
  trusted: boolean
  /** An allowed user. */
  privileged: boolean
  /** Person id; absent when the master speaks without one. */
  sender: string | undefined
}

/**
 * A turn without a person is the master's. What comes from a trusted place is always privileged, and so is
 * the master everywhere. `guest` wins over every other claim: a contradiction never gives more rights.
 */
export function speakerOf(
  claim: SpeakerClaim,
  person: { id: string; master: boolean } | undefined,
): Speaker {
  const sender = person?.id
  if (claim.guest) return { master: false, trusted: false, privileged: false, sender }
  const master = person?.master ?? true
  const trusted = claim.trusted === true
  return { master, trusted, privileged: master || trusted || claim.privileged === true, sender }
}

/** Private memory needs both: the master, in a place where nobody reads along. */
export const seesPrivate = (speaker: Pick<Speaker, "master" | "trusted">): boolean =>
  speaker.master && speaker.trusted
