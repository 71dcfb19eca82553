/**
 * Words for the person at the command line. `process.stdout` would do the same, but its first use costs
 * about 17 ms of start-up, most of what `--version` takes altogether.
 */

export async function say(text: string): Promise<void> {
  await Bun.write(Bun.stdout, text)
}

export async function complain(text: string): Promise<void> {
  await Bun.write(Bun.stderr, text)
}
