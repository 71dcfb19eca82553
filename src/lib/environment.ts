/** The only reader of the process environment. */

export type Environment = Record<string, string | undefined>

export const processEnvironment = (): Environment => process.env

/** What steers this kernel and its runtime. */
const OWN = /^(EVA_|BUN_)/
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|BEARER|(^|_)(PASS|PWD|PAT|AUTH|DSN)$/i
/** The shell's own place, no password. */
const HARMLESS_NAME = /^(OLD)?PWD$/
/** An address with a user and a password in it. */
const SECRET_VALUE = /[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]*:[^\s/?#@]*@/i

/**
 * What a child process may see: the operating system's variables and no secret of ours. Everything that
 * looks like a credential or steers this runtime is left out. `extra` is added as it is.
 */
export function childEnvironment(
  from: Environment,
  extra: Record<string, string> = {},
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || OWN.test(name)) continue
    if (SECRET_NAME.test(name) && !HARMLESS_NAME.test(name)) continue
    if (SECRET_VALUE.test(value)) continue
    kept[name] = value
  }
  return { ...kept, ...extra }
}
