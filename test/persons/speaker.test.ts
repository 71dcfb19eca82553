import { describe, expect, test } from "bun:test"
import { seesPrivate, speakerOf } from "../../src/persons/speaker.ts"

const OWNER = { id: "p1", master: true }
const STRANGER = { id: "p7", master: false }

describe("who leads a turn", () => {
  test("TURN-030 GATE-11 SEC-03: no sender is the master, an alias of his too, all others are guests", () => {
    expect(speakerOf({}, undefined)).toEqual({
      master: true,
      trusted: false,
      privileged: true,
      sender: undefined,
    })
    expect(speakerOf({}, OWNER)).toEqual({
      master: true,
      trusted: false,
      privileged: true,
      sender: "p1",
    })
    expect(speakerOf({}, STRANGER)).toEqual({
      master: false,
      trusted: false,
      privileged: false,
      sender: "p7",
    })
  })

  test("GATE-12 SEC-04: only the flag makes a place trusted; a guest's turn never is", () => {
    expect(speakerOf({ trusted: true }, undefined).trusted).toBe(true)
    expect(speakerOf({ trusted: true }, OWNER).trusted).toBe(true)
    // The master in a group, where nobody set the flag.
    expect(speakerOf({}, OWNER).trusted).toBe(false)
    expect(speakerOf({ trusted: true, guest: true }, OWNER).trusted).toBe(false)
  })

  test("GATE-13 SEC-05: the surface's allow list gives the privilege, and a trusted client always has it", () => {
    expect(speakerOf({ privileged: true }, STRANGER).privileged).toBe(true)
    expect(speakerOf({ trusted: true }, STRANGER).privileged).toBe(true)
    expect(speakerOf({ trusted: true, privileged: false }, STRANGER).privileged).toBe(true)
    expect(speakerOf({ privileged: true, guest: true }, STRANGER).privileged).toBe(false)
  })

  test("TURN-031: the axes are separate", () => {
    const axes = (claim: Parameters<typeof speakerOf>[0], person?: typeof OWNER) => {
      const { master, trusted, privileged } = speakerOf(claim, person)
      return [master, trusted, privileged]
    }
    expect(axes({ trusted: true })).toEqual([true, true, true])
    expect(axes({}, OWNER)).toEqual([true, false, true])
    expect(axes({ trusted: true }, STRANGER)).toEqual([false, true, true])
    expect(axes({ privileged: true }, STRANGER)).toEqual([false, false, true])
    expect(axes({}, STRANGER)).toEqual([false, false, false])
  })

  test("guest wins over every other claim", () => {
    const everything = { guest: true, trusted: true, privileged: true }
    for (const person of [undefined, OWNER, STRANGER]) {
      expect(speakerOf(everything, person)).toEqual({
        master: false,
        trusted: false,
        privileged: false,
        sender: person?.id,
      })
    }
  })

  test("private memory needs the master and a trusted place together", () => {
    expect(seesPrivate(speakerOf({ trusted: true }, OWNER))).toBe(true)
    expect(seesPrivate(speakerOf({}, OWNER))).toBe(false)
    expect(seesPrivate(speakerOf({ trusted: true }, STRANGER))).toBe(false)
  })
})
