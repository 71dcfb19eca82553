/** The section Life: what years of nights make of a memory. */
import type { Section } from "./bench.ts"
import { nights } from "./life/nights.ts"

export const life: Section = { title: "Life", benches: [nights] }
