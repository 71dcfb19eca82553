/** What never runs, however it is written, and what looks alike and does. */
import { expect, test } from "bun:test"
import { forbidden } from "../../src/shell/blocklist.ts"
import { shellBench } from "./support.ts"

const NEVER = [
  "rm -rf /",
  "rm -fr /*",
  "rm -r --no-preserve-root /",
  "sudo rm -rf /",
  "sudo -u root rm -Rf /etc",
  "cd /tmp && rm -rf ~",
  'rm -rf "$HOME"',
  "rm -rf $" + "{HOME}/",
  "rm -rf /home/anna",
  "echo $(rm -rf /usr)",
  'echo "`rm -rf /var`"',
  "bash -c 'rm -rf /'",
  "env X=1 sh -ec \"rm -rf '/'\"",
  "eval rm -rf /",
  "ls; nohup rm -rf / &",
  "find / -delete",
  "mkfs.ext4 /dev/sda1",
  "dd if=/dev/zero of=/dev/nvme0n1 bs=1M",
  "cat image > /dev/sda",
  "cat image >| /dev/sda",
  "wipefs -a /dev/sdb",
  "shred /dev/vda",
  "chmod -R 777 /",
  "chown -R eva /usr",
  "kill -9 -1",
  ":(){ :|:& };:",
  "r\\\nm -rf /",
  "'rm' -rf '/'",
]

const FINE = [
  "rm -rf build",
  "rm -rf ./",
  "rm -rf /tmp/eva-test",
  "rm -rf /home/anna/project/node_modules",
  "rm -rf ~/.cache/eva",
  "rm notes.md",
  "echo 'rm -rf /'",
  "grep -r 'rm -rf /' docs",
  "git commit -m 'never rm -rf /'",
  "# rm -rf /",
  "find . -name '*.pyc' -delete",
  "find / -name core -delete",
  "dd if=/dev/zero of=disk.img bs=1M count=1",
  "echo x > /dev/null",
  "ls /dev/sda",
  "chmod -R u+w .",
  "chown -R eva /srv/eva",
  "kill -9 -1234",
  "kill 1",
  "mkfs.ext4 disk.img",
  "f() { echo f; }; f",
]

for (const command of NEVER)
  test(`never: ${JSON.stringify(command)}`, () => {
    expect(forbidden(command)).toStartWith("Refused: this would ")
  })

for (const command of FINE)
  test(`fine: ${JSON.stringify(command)}`, () => {
    expect(forbidden(command)).toBeUndefined()
  })

test("a list with such a command does not begin", async () => {
  const bench = shellBench()
  const { output, isError } = await bench.call("shell", { command: ["touch here", "rm -rf /"] })
  const { output: listed } = await bench.call("shell", { command: "ls" })
  await bench.dispose()
  expect([isError, listed]).toEqual([true, "[empty]"])
  expect(output).toContain("the master has to do it by hand")
})
