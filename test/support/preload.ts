/** Runs before every test file: a loaded machine is slow, and a test that hangs still ends. */
import { setDefaultTimeout } from "bun:test"

setDefaultTimeout(30_000)
