/** Whether bubblewrap is there and may be used, which some containers forbid. */
export const canSandbox =
  Bun.which("bwrap") !== null &&
  Bun.spawnSync(["bwrap", "--ro-bind", "/", "/", "--unshare-net", "true"]).exitCode === 0

if (!canSandbox) process.stderr.write("skipped: bwrap is not there or may not be used here\n")
