/** Nobody sits before the commands of an agent: a pager or a prompt would wait for ever. */
export const UNATTENDED = {
  ...{ PAGER: "cat", GIT_PAGER: "cat", MANPAGER: "cat", TERM: "dumb", NO_COLOR: "1" },
  ...{ GIT_TERMINAL_PROMPT: "0", DEBIAN_FRONTEND: "noninteractive" },
}
