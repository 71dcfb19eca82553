/** The file tools as values, and what they share. */
import type { Tool } from "../tools/tool.ts"
import { findHexTool } from "./find-hex.ts"
import { type FindPatternParts, findPatternTool } from "./find-pattern.ts"
import { readFileTool } from "./read-file.ts"
import { readHexTool } from "./read-hex.ts"
import { writeDiffTool } from "./write-diff.ts"
import { type WritingParts, writeFileTool } from "./write-file.ts"
import { writeHexTool } from "./write-hex.ts"

export type FileToolParts = FindPatternParts & WritingParts

export const fileTools = (parts: FileToolParts): Tool[] => [
  readFileTool(parts),
  writeFileTool(parts),
  writeDiffTool(parts),
  findPatternTool(parts),
  readHexTool(parts),
  writeHexTool(parts),
  findHexTool(parts.handsOf),
]
