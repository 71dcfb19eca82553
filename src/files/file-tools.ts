/** The file tools as values, and what they share. */
import type { Tool } from "../tools/tool.ts"
import { findHexTool } from "./find-hex.ts"
import { type FindPatternParts, findPatternTool } from "./find-pattern.ts"
import { readFileTool } from "./read-file.ts"
import { readHexTool } from "./read-hex.ts"
import { type WriteHexParts, writeHexTool } from "./write-hex.ts"

export type FileToolParts = FindPatternParts & WriteHexParts

export const fileTools = (parts: FileToolParts): Tool[] => [
  readFileTool(parts),
  findPatternTool(parts),
  readHexTool(parts),
  writeHexTool(parts),
  findHexTool(parts.handsOf),
]
