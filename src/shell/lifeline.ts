/**
 * Ties processes to the kernel: when it dies, however it dies, the system closes its end of a pipe, and a
 * watcher in the processes' own group ends the group.
 */
import { shellWord } from "../lib/shell-word.ts"

/** Run as `sh -c LOCAL sh COMMAND`, as the leader of its group, with the pipe as descriptor 3. */
export const LOCAL_LIFELINE =
  '{ read -r _ <&3; kill -9 "-$$"; } >/dev/null 2>&1 & exec 3<&-; exec /bin/sh -c "$1"'

/**
 * The same on an ssh host, where standard input is the pipe and the group is the session that sshd made.
 * A background list gets /dev/null for its input, so the pipe is carried over as descriptor 3.
 */
export const remoteLifeline = (command: string): string =>
  `exec 3<&0 </dev/null; { cat <&3; kill -9 0; } >/dev/null 2>&1 & exec 3<&-; /bin/sh -c ${shellWord(command)}`

/**
 * The same on a pseudo-terminal, which is gone with the kernel or the connection. The hang-up signal tells
 * nothing: who was started with it ignored cannot trap it, and programs may ignore it. So the watcher looks
 * for the terminal. What is run replaces this shell, so that its `wait` knows no watcher.
 */
export const terminalLifeline = (command: string): string =>
  `{ trap '' HUP; while sleep 2 && true </dev/tty; do :; done; kill -9 0; } </dev/null >/dev/null 2>&1 & exec /bin/sh -c ${shellWord(command)}`
