/** SQL files are imported as text, so that the binary carries them. */
declare module "*.sql" {
  const text: string
  // biome-ignore lint/style/noDefaultExport: the shape of a text import
  export default text
}
