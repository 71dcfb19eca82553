/** The registry of machine text: spellings that the contract fixes, and what counts as speech. */
import { describe, expect, test } from "bun:test"
import { cutMiddle } from "../../src/lib/text.ts"
import {
  forkMarker,
  imageReference,
  imageUnseen,
  isHiddenFromModel,
  isMachineText,
  MACHINE_TEXT,
  type MachineTextKindId,
  machineTextKind,
  repeatedCallNote,
  tailCutNote,
} from "../../src/schema/machine-text.ts"

const KINDS = Object.entries(MACHINE_TEXT) as [
  MachineTextKindId,
  { marker: string; exact?: true },
][]
const isExact = (kind: object) => "exact" in kind

describe("the registry", () => {
  test("FRG-001 FRG-002: each kind is recognised by its own marker, through one predicate", () => {
    for (const [id, kind] of KINDS) {
      const sample = isExact(kind) ? kind.marker : `${kind.marker} and more`
      expect(machineTextKind(sample)).toBe(id)
      expect(isMachineText(sample)).toBe(true)
    }
  })

  test("FRG-003 CTX-24: a marker is a marker only at the start; an exact one only alone", () => {
    for (const [, kind] of KINDS) {
      for (const speech of [`look: ${kind.marker}`, `\n${kind.marker}`, ` ${kind.marker}`]) {
        expect(machineTextKind(speech)).toBeUndefined()
      }
      if (isExact(kind))
        expect(machineTextKind(`${kind.marker}x`)).not.toBe(machineTextKind(kind.marker))
    }
    for (const speech of ["", "hello", "the [state] of things", "[State] of things", "state"]) {
      expect(isMachineText(speech)).toBe(false)
    }
  })

  test("FRG-004 CTX-23: it holds the texts that the contract lists", () => {
    const samples: Record<string, MachineTextKindId> = {
      "[state] now": "state",
      "[wrapup] finish": "wrapup",
      "[window] 40 %": "window",
      "[kernel] note": "kernel_note",
      "[elided: 12 chars]": "elided_input",
      "[image 1f] http://eva/images/1f": "image_reference",
      "[compacted] Older history was folded into the chat summary here.": "compaction_marker",
      '[forked] Branched from "x" before message m.': "fork_marker",
    }
    for (const [sample, kind] of Object.entries(samples)) expect(machineTextKind(sample)).toBe(kind)
  })

  test("FRG-005 FRG-007: fold and fork markers are for clients: no model is shown them, and nothing else is hidden", () => {
    expect(MACHINE_TEXT.compaction_marker.marker).toBe(
      "[compacted] Older history was folded into the chat summary here.",
    )
    const marker = forkMarker("Дом", "m1")
    expect(marker).toBe('[forked] Branched from "Дом" before message m1.')
    expect(machineTextKind(marker)).toBe("fork_marker")
    const hidden = KINDS.map(([, kind]) => kind.marker).filter(isHiddenFromModel)
    expect(hidden).toEqual([MACHINE_TEXT.compaction_marker.marker, MACHINE_TEXT.fork_marker.marker])
    expect(isHiddenFromModel("hello")).toBe(false)
  })
})

describe("spellings", () => {
  test("FRG-008: a lost result", () => {
    expect(MACHINE_TEXT.call_interrupted.marker).toBe(
      "[kernel] tool call interrupted; no result was produced",
    )
    expect(machineTextKind("[kernel] tool call interrupted; no result was produced")).toBe(
      "call_interrupted",
    )
  })

  test("FRG-009: a call that a cancel or a cut left open", () => {
    expect(MACHINE_TEXT.call_cancelled.marker).toBe("[not executed: turn cancelled]")
  })

  test("FRG-010: a read that a later write made stale", () => {
    expect(MACHINE_TEXT.superseded_read.marker).toBe(
      "[superseded: the file was written after this read; read it again]",
    )
  })

  test("FRG-011 CTX-58: what stands for text that was left out", () => {
    const samples: Record<string, MachineTextKindId> = {
      "[elided: 4000 chars]": "elided_input",
      "[re-read further down]": "repeated_read",
      [repeatedCallNote]: "repeated_call",
      [tailCutNote(5, 9)]: "tail_cut",
      "[empty]": "empty_result",
      [imageUnseen("1f")]: "image_unseen",
    }
    for (const [sample, kind] of Object.entries(samples)) expect(machineTextKind(sample)).toBe(kind)
    expect(imageUnseen("1f")).toBe("[image — this model cannot see it: 1f]")
    const gap = cutMiddle("x".repeat(100), 10).split("\n")[1]!
    expect(gap).toBe("[middle cut: 90 chars of 100]")
    expect(machineTextKind(gap)).toBe("middle_cut")
  })

  test("FRG-012: a picture of an answer in history", () => {
    const marker = imageReference("1f", "http://eva/images/1f")
    expect(marker).toBe("[image 1f] http://eva/images/1f")
    expect(machineTextKind(marker)).toBe("image_reference")
  })
})
