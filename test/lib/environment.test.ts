import { expect, test } from "bun:test"
import { childEnvironment, processEnvironment } from "../../src/lib/environment.ts"

test("a child gets what the system needs and no secret", () => {
  const plain = {
    ...{ PATH: "/bin", HOME: "/home/eva", LANG: "ru_RU.UTF-8", PWD: "/", OLDPWD: "/tmp" },
    ...{ SSH_AUTH_SOCK: "/run/agent", HTTP_PROXY: "http://proxy:3128", COMPASS: "north" },
    ...{ HOMEPAGE: "https://example.org/a:b@c", EDITOR: "vi" },
  }
  const secrets = {
    ...{ EVA_SERVER__LISTEN: "x", BUN_INSTALL: "x", OPENAI_API_KEY: "x", github_token: "x" },
    ...{ AWS_SECRET_ACCESS_KEY: "x", PGPASSWORD: "x", DB_PASS: "x", GITHUB_PAT: "x" },
    ...{ MYSQL_PWD: "x", NPM_AUTH: "x", SENTRY_DSN: "x", GPG_PASSPHRASE: "x", COOKIE_JAR: "x" },
    ...{ DATABASE_URL: "postgres://eva:hunter2@db/eva", HTTPS_PROXY: "http://u:p@proxy:1" },
  }
  expect(childEnvironment({ ...secrets, ...plain, EMPTY: "", GONE: undefined })).toEqual({
    ...plain,
    EMPTY: "",
  })
})

test("what is given expressly is passed on and wins", () => {
  expect(childEnvironment({ A: "1", B: "1" }, { B: "2", EVA_CHAT_ID: "c", A_TOKEN: "t" })).toEqual({
    ...{ A: "1", B: "2", EVA_CHAT_ID: "c", A_TOKEN: "t" },
  })
})

test("the environment of the process is read as it is", () => {
  expect(processEnvironment().PATH).toBe(process.env.PATH)
})
