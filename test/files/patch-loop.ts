/** A child process that patches the files of a folder from one version to the next until it is killed. */
import { applyPatch } from "../../src/files/patch/apply.ts"
import { treeFiles } from "../../src/files/tree-files.ts"
import { handsHere, readsAll } from "./hands-rig.ts"
import { nextVersion } from "./patch-versions.ts"

const [folder] = process.argv.slice(2)
/** As a call sees them: what was read is remembered for one patch. */
const filesOfCall = () =>
  treeFiles({
    hands: handsHere(folder!),
    ...{ chatId: "chat", turnId: "turn", beforeWrite: async () => {}, seen: readsAll },
  })

for (let version = 0; ; version++) {
  const { failed } = await applyPatch(nextVersion(version), filesOfCall())
  if (failed[0]) throw new Error(failed[0].reason)
  process.stdout.write(`${version + 1}\n`)
}
