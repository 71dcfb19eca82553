/** Files of the Swagger UI are imported as paths, so that the binary carries them. */
declare module "swagger-ui-dist/*" {
  const path: string
  // biome-ignore lint/style/noDefaultExport: the shape of a file import
  export default path
}
