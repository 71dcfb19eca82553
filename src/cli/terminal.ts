/**
 * Words for the person at the command line. `process.stdout` would do the same, but its first use costs
 * about 17 ms of start-up, most of what `--version` takes altogether.
 */

export async function say(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text)
}

/** Never fails: when nobody hears it, the exit code still says it. */
export async function complain(text: string): Promise<void> {
  await Bun.write(Bun.stderr, text).catch(() => {})
}
