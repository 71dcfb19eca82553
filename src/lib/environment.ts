/** The only reader of the process environment. */

export type Environment = Record<string, string | undefined>

export const processEnvironment = (): Environment => process.env

/**
 * What a child process may see: the operating system's variables and no secret of ours. Everything that
 * looks like a credential or steers this runtime is left out.
 */
export function childEnvironment(
  from: Environment,
  extra: Record<string, string> = {},
): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined) continue
    if (/^(EVA_|BUN_)/.test(name)) continue
    if (/(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)/i.test(name)) continue
    kept[name] = value
  }
  return { ...kept, ...extra }
}
