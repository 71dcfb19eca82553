/** Writes a configuration as YAML, for people to read and for a file. */

export async function printYaml(tree: Record<string, unknown>): Promise<string> {
  const { stringify } = await import("yaml")
  return stringify(tree)
}
