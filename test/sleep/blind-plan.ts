/** Plans that are drawn blindly: most of them are wrong, and some are malicious. */
import { MEMORY_KINDS } from "../../src/schema/memory.ts"
import type { Asked, Op } from "./rig.ts"

/** Writes all that was shown, secrets too, into whatever it names. */
export function blindPlan(draws: readonly number[]) {
  let next = 0
  const draw = (below: number): number => draws[next++ % draws.length]! % below
  return ({ phase, shown }: Asked): Op[] => {
    const why = "blindly"
    const id = () => shown[draw(shown.length)]!.id
    const said = shown.map(({ line }) => line.slice(line.indexOf(": ") + 2)).join(" ")
    return Array.from({ length: 6 }, (): Op => {
      if (phase === "forget") return { op: "forget", id: id(), why }
      if (phase === "kinds") return { op: "kind", id: id(), kind: MEMORY_KINDS[draw(3)], why }
      switch (draw(5)) {
        case 0:
          return { op: "merge", ids: [id(), id()], content: said, why }
        case 1:
          return { op: "rewrite", id: id(), content: said, why }
        case 2:
          return { op: "split", id: id(), parts: [said, said], why }
        case 3:
          return { op: "derive", ids: [id(), id()], content: said, why }
        default:
          return { op: "supersede", id: id(), by: id(), why }
      }
    })
  }
}
