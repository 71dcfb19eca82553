/** What this build is: the version of package.json, and the commit that `scripts/build.ts` bakes in. */
import { version as packageVersion } from "../../package.json"

/** A constant that the build replaces; it does not exist when the sources run directly. */
declare const BUILD_COMMIT: string | undefined

export const version: string = packageVersion

/** An abbreviated git hash, or `dev` when the sources run without a build. */
export const commit: string = typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "dev"
