# shellcheck shell=bash
# Shared by setup, test and demo: runs one step after another and says which, how long it took and,
# if it failed, why. Source it; it changes to the root of the checkout and gives:
#   say TEXT            one line to the reader
#   die TEXT            one line why, and the end
#   step TITLE CMD...   runs CMD quietly; its output goes to build/log and is shown only if it fails
#   watch TITLE CMD...  runs CMD with its output in view
#   step_table          the steps so far with their times

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
program=tools/$(basename "$0")
logs=$root/build/log
steps=()
mkdir -p "$logs"

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "$program" "$*" >&2
  exit 1
}

_done() { # title, start
  steps+=("$(printf '%6d s  %s' "$((SECONDS - $2))" "$1")")
}

# Says every 20 seconds that a quiet step is still alive, with the last line of its log.
_heartbeat() { # title, log, pid
  local began=$SECONDS next=20 last
  while kill -0 "$3" 2>/dev/null; do
    if ((SECONDS - began >= next)); then
      last=$(tr '\r' '\n' <"$2" | awk 'NF { line = $0 } END { print substr(line, 1, 90) }')
      say "    $1: $((SECONDS - began)) s ... $last"
      next=$((next + 20))
    fi
    sleep 0.2
  done
}

step() { # title, command...
  local title=$1 began=$SECONDS log pid status=0
  shift
  log=$logs/${title//[^a-zA-Z0-9]/-}.log
  say "==> $title"
  # A process group of its own, so that an interrupt here ends all that the step started.
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  # shellcheck disable=SC2064  # this step's process, not a later one's
  trap "kill -- -$pid 2>/dev/null; exit 130" INT TERM
  _heartbeat "$title" "$log" "$pid"
  wait "$pid" || status=$?
  trap - INT TERM
  if ((status)); then
    tail -n 25 "$log" | sed 's/^/    /' >&2
    die "failed: $title (exit code $status, after $((SECONDS - began)) s);" \
      "the whole log: ${log#"$root"/}"
  fi
  _done "$title" "$began"
  say "    done in $((SECONDS - began)) s"
}

watch() { # title, command...
  local title=$1 began=$SECONDS status=0
  shift
  say "==> $title"
  "$@" </dev/null || status=$?
  ((status == 0)) ||
    die "failed: $title (exit code $status, after $((SECONDS - began)) s); the reason is above"
  _done "$title" "$began"
  say "    done in $((SECONDS - began)) s"
}

step_table() {
  say "Steps:"
  printf '%s\n' "${steps[@]}"
}
