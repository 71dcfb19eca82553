/** Words for the command line of sh. */

/** One word, whatever is in it. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
