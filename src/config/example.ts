/**
 * `config.example.yaml`, written from the schemas: every setting with its sentence and its default. What must be
 * chosen is active, the rest stands behind `#` and takes effect when that one character is removed.
 */
import { expectation } from "./explain.ts"
import { type Field, propertiesOf, recordOf } from "./field.ts"
import { Config, REQUIRED_SECTIONS } from "./schema.ts"

const LINE_CHARS = 100

const HEAD = `# Configuration of eva-kernel. Generated from the schemas by \`bun scripts/docs.ts\`; do not edit here.
#
# Copy it, choose llm.provider, and start: eva-kernel --config config.yaml
# With \`provider: mock\` it starts without any key. Only server, db and llm must be present.
#
# A line that begins with # and a setting shows the default, or an example where there is none; remove the # to
# change it. --config may be given several times, later files override earlier ones (so keys can live in a
# file of their own), and EVA_LLM__MODEL__GENERAL in the environment overrides llm.model.general of every file.
# Durations: 5s, 1m, 7days, 1h 30m. Sizes: bytes, or 16 KiB, 5 MiB. Paths are relative to the file they stand in.
`

export function configExample(): string {
  const sections = Object.entries(propertiesOf(Config)!).map(([name, section]) => {
    const required = (REQUIRED_SECTIONS as readonly string[]).includes(name) ? " Required." : ""
    return [
      ...prose(`${section.description}${required}`, ""),
      `${name}:`,
      ...mappingLines(section, "  "),
    ].join("\n")
  })
  return `${HEAD}\n${sections.join("\n\n")}\n`
}

function mappingLines(mapping: Field, indent: string): string[] {
  const required = (mapping.required ?? []) as string[]
  return Object.entries(propertiesOf(mapping)!).flatMap(([name, field]) => {
    const active =
      field.shown === true ||
      (required.includes(name) && field.default === undefined && !isTree(field))
    return [...prose(sentence(field), indent), ...fieldLines(name, field, { indent, active })]
  })
}

const isTree = (field: Field): boolean => propertiesOf(field) !== undefined

function fieldLines(
  name: string,
  field: Field,
  { indent, active }: { indent: string; active: boolean },
): string[] {
  const mark = active ? "" : "#"
  const record = recordOf(field)
  if (record) {
    return [
      `${indent}${mark}${name}:`,
      `${indent}  ${mark}${field.example}:`,
      ...mappingLines(record, `${indent}    `).map((line) => disabled(line, active)),
    ]
  }
  if (isTree(field)) return [`${indent}${name}:`, ...mappingLines(field, `${indent}  `)]
  const item = field.items as Field | undefined
  if (item && isTree(item)) {
    const lines = mappingLines(item, `${indent}    `).map((line) => disabled(line, active))
    return [`${indent}${mark}${name}:`, ...asListItem(lines, `${indent}  `)]
  }
  return [`${indent}${mark}${name}: ${JSON.stringify(shownValue(field))}`]
}

/** Puts the `- ` of a list in front of the first setting, and its comment above that. */
function asListItem(lines: string[], indent: string): string[] {
  const first = lines.findIndex((line) => !/^\s*# /.test(line))
  return lines.map((line, i) => {
    if (i > first) return line
    const setting = line.trimStart()
    if (i < first) return `${indent}${setting}`
    return setting.startsWith("#") ? `${indent}#- ${setting.slice(1)}` : `${indent}- ${setting}`
  })
}

/** Inside a part that is not active every setting is commented out. */
const disabled = (line: string, active: boolean): string =>
  active || /^\s*#/.test(line) ? line : line.replace(/^(\s*)/, "$1#")

/** The default as a file would hold it, else an example. */
export const shownValue = (field: Field): unknown => {
  const empty = Array.isArray(field.default) && field.default.length === 0
  return field.default === undefined || (empty && field.example !== undefined)
    ? field.example
    : field.default
}

/** The description with what a reader needs to know about default and allowed values. */
function sentence(field: Field): string {
  const notes = [
    field.unset && `Unset: ${field.unset}.`,
    field.anyOf && `${capital(expectation(field))}.`,
    field.beside && `Relative to the directory of the ${field.beside}.`,
    defaultNote(field),
  ]
  return [field.description, ...notes.filter(Boolean)].join(" ")
}

function defaultNote(field: Field): string | undefined {
  if (field.default === undefined || recordOf(field)) return undefined
  if (Array.isArray(field.default) && field.default.length === 0) return "Default: empty."
  return `Default: ${typeof field.default === "string" ? field.default : JSON.stringify(field.default)}.`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function prose(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = `${indent}#`
  for (const word of text.split(" ")) {
    if (line.length + 1 + word.length > LINE_CHARS) {
      lines.push(line)
      line = `${indent}#`
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
