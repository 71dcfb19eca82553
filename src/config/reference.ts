/** `docs/reference/config.md`, written from the schemas. */
import { expectation } from "./explain.ts"
import { type Field, propertiesOf, recordOf } from "./field.ts"
import { RETIRED } from "./retired.ts"
import { Config, REQUIRED_SECTIONS, UNBUILT_SECTIONS } from "./schema.ts"

const HEAD = `# Configuration

Generated from the schemas by \`bun scripts/docs.ts\`; do not edit.

\`eva-kernel --config base.yaml --config secrets.toml\` merges any number of files, later ones over earlier ones:
mappings merge key by key, lists and plain values replace. The format follows the extension: \`.yaml\`, \`.yml\`,
\`.toml\`, \`.json\`. Of the sections only ${REQUIRED_SECTIONS.map((name) => `\`${name}\``).join(", ")} must be present.
An unknown key stops the start and the error names the nearest known one. A key left blank means its default.

Environment variables lie over the files: \`EVA_LLM__MODEL__GENERAL\` sets \`llm.model.general\`. A name counts as a
setting only if it holds \`__\`; an empty value counts as not set; lists and mappings are written as YAML, such as
\`EVA_SERVER__HOSTS='[eva.example.org]'\`. In names that people choose (\`llm.providers.<name>\`) an underscore stands
for any other sign.

Durations are written \`5s\`, \`1m\`, \`7days\`, \`1h 30m\`; sizes as a number of bytes or \`16 KiB\`, \`5 MiB\`. A relative path
starts at the directory of the file that holds it (in a variable: at the working directory), and \`~/\` is the home
directory.

\`eva-kernel config\` prints what is in force, without secrets; \`eva-kernel config check\` says what is wrong;
\`eva-kernel config example\` and \`eva-kernel config reference\` print the example and this page.

Without --config, \`serve\`, \`chat\` and \`config\` read the user's own files: \`config.yaml\` in the configuration
directory (\`$XDG_CONFIG_HOME\` or \`~/.config\`, below it \`eva-kernel/\`) and then \`secrets.yaml\` beside it, which
\`eva-kernel init\` writes. The environment lies over them as over any file.

Without any file at all the kernel keeps its data in the data directory of the user (\`$XDG_DATA_HOME\` or
\`~/.local/share\`, below it \`eva-kernel/\`) and takes the first provider it finds: the key in \`ANTHROPIC_API_KEY\`,
\`OPENROUTER_API_KEY\`, \`OPENAI_API_KEY\`, then Ollama on port 11434, llama-server on port 8080, else the mock.
`

export function configReference(): string {
  const sections = Object.entries(propertiesOf(Config)!).map(([name, section]) =>
    [`## ${name}`, "", section.description, "", ...table(name, section)].join("\n"),
  )
  return `${[HEAD, ...sections, laterPart(), retiredPart()].join("\n")}`
}

function table(prefix: string, section: Field): string[] {
  const rows = rowsOf(prefix, section)
  return [
    "| key | value | default | meaning |",
    "| --- | --- | --- | --- |",
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
    "",
  ]
}

function rowsOf(prefix: string, mapping: Field): string[][] {
  const required = (mapping.required ?? []) as string[]
  return Object.entries(propertiesOf(mapping)!).flatMap(([name, field]) => {
    const path = `${prefix}.${name}`
    const inner = field.items as Field | undefined
    const record = recordOf(field)
    if (record) return rowsOf(`${path}.<name>`, record)
    if (propertiesOf(field)) return rowsOf(path, field)
    const row = [
      `\`${path}\``,
      valueCell(field),
      defaultCell(field, required.includes(name)),
      meaning(field),
    ]
    return inner && propertiesOf(inner) ? [row, ...rowsOf(`${path}[]`, inner)] : [row]
  })
}

const valueCell = (field: Field): string =>
  field.type === "string" && field.kind === undefined ? "text" : expectation(field)

function defaultCell(field: Field, required: boolean): string {
  if (field.beside) return `\`${field.default}\` beside the ${field.beside}`
  if (field.default !== undefined) {
    return `\`${typeof field.default === "string" ? field.default : JSON.stringify(field.default)}\``
  }
  return required ? "required" : (field.unset ?? "unset")
}

const meaning = (field: Field): string =>
  field.secret ? `${field.description} Secret: never shown or logged.` : String(field.description)

const laterPart = (): string => `## Sections of later versions

These load with a warning and have no effect yet: ${UNBUILT_SECTIONS.map((name) => `\`${name}\``).join(", ")}.
`

const retiredPart = (): string => `## Retired keys

Each loads with one warning.

${RETIRED.map(({ path, advice }) => `- \`${path}\` ${advice}`).join("\n")}
`
