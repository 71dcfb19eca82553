/**
 * How long a test waits for what must come. Long, since the machine may be slow and busy, and yet shorter than
 * the time of the whole test, so that the words of the wait tell what never came.
 */
export const PATIENCE_MS = 50_000

/** For what happens before all tests of a file, such as a build of the executable. */
export const SETUP_MS = 300_000
