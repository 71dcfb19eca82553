/** What a person downloads. */
import type { Bench } from "../bench.ts"
import { BINARY } from "../kernel-process.ts"
import type { Row } from "../report.ts"

const LABEL = "binary, compressed with xz -6"

export const binarySize: Bench = {
  name: "binary-size",
  run: async (context) => [
    {
      figure: "binary",
      measured: Bun.file(BINARY).size / 1e6,
      ...{ unit: "MB", goal: { max: 125 }, floor: 104, peers: "– / 185 / – MB" },
    },
    {
      ...{ figure: LABEL, unit: "MB", goal: { max: 45 }, peers: "– / 60 / 331 MB" },
      ...(await compressed(context.quick)),
    },
  ],
}

async function compressed(quick: boolean): Promise<Pick<Row, "measured" | "note">> {
  if (quick) return { measured: undefined, note: "left out by --quick" }
  if (!Bun.which("xz")) return { measured: undefined, note: "needs xz" }
  const xz = Bun.spawn(["xz", "-6", "--threads=0", "--stdout", BINARY], {
    stdin: "ignore",
    stdout: "pipe",
  })
  let bytes = 0
  for await (const piece of xz.stdout) bytes += piece.byteLength
  return { measured: bytes / 1e6, note: undefined }
}
