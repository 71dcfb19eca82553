/** Several answers as one text: each under a line `== title`. */

export interface Section {
  title: string
  content: string
}

export const sections = (list: readonly Section[]): string =>
  list.map(({ title, content }) => `== ${title}\n${content}`).join("\n\n")
