# Points each link at the program that its MCP server is now, and ends what the old one started: the kernel
# starts the new one with the next call. Runs at activation, as root.
#
#   swap-mcp.sh DIRECTORY [NAME=PROGRAM]...
#
# A server and its children are found by EVA_MCP_SERVER=DIRECTORY/NAME in their environment.
set -eu

directory=$1
shift
mkdir -p "$directory"

end_server() {
  for environment in /proc/[0-9]*/environ; do
    process=${environment#/proc/}
    process=${process%/environ}
    if grep -sqzxF "EVA_MCP_SERVER=$1" "$environment"; then
      kill -TERM "$process" 2>/dev/null || true
    fi
  done
}

for pair in "$@"; do
  link=$directory/${pair%%=*}
  program=${pair#*=}
  if [ "$(readlink "$link" || true)" = "$program" ]; then continue; fi
  # Through another name: there is no moment without a link.
  ln -sfn "$program" "$link.new"
  mv -fT "$link.new" "$link"
  end_server "$link"
done

for link in "$directory"/*; do
  if [ ! -L "$link" ]; then continue; fi
  wanted=no
  for pair in "$@"; do
    if [ "$directory/${pair%%=*}" = "$link" ]; then wanted=yes; fi
  done
  if [ "$wanted" = no ]; then
    rm -f "$link"
    end_server "$link"
  fi
done
