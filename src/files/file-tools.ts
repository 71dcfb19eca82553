/** The file tools as values, and what they share. */
import type { Tool } from "../tools/tool.ts"
import { type ReadFileParts, readFileTool } from "./read-file.ts"

export type FileToolParts = ReadFileParts

export const fileTools = (parts: FileToolParts): Tool[] => [readFileTool(parts)]
