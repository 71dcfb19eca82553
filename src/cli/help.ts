/** The text of `eva-kernel --help`. */

export const HELP = `eva-kernel: a home for one person's AI agent

Usage: eva-kernel [COMMAND] [OPTIONS]

Commands
  serve      run the kernel until it is stopped (this is the default)
  config     show, check or exemplify the configuration; see eva-kernel config --help
  help       show this text
  version    show version and commit

Options of serve
  -c, --config FILE   a YAML, TOML or JSON file; may be given several times, later files win
  -h, --help          show this text
  -V, --version       show version and commit

Every setting can also come from the environment: EVA_SERVER__LISTEN sets server.listen.
Without any configuration the kernel keeps its data in the data directory of the user
(XDG_DATA_HOME), listens on 127.0.0.1:8090, and takes the first model provider it finds a
key for; without one it answers from a mock.
`
