#!/usr/bin/env bash
# Locks for tasks the way other tools keep them today, with git plumbing alone: a file t<id>_lock.yaml for each on the
# orphan branch aitask-locks of the remote origin, one commit a change, and a push that is turned down when another came
# first. Run in a clone. The lock-branch layout has to get along with it, and the bench measures against it.
#
#   --init               make the branch, unless it is there
#   --lock ID --email E  exit 0: it is ours; 1: another has it; 12: others were faster five times
#   --unlock ID          the same, and 0 when nobody has it
#   --check ID           exit 0: locked, and the file is shown; 1: free
#   --list               one line a lock
#   --cleanup            unlock what has a file aitasks/archived/t<id>_*.md
#
# Exit 11: the remote cannot be read. Exit 64: wrong use.
set -euo pipefail

branch=aitask-locks
tries_max=5
another_came_first=75

die() {
  local status=$1
  shift
  printf '%s\n' "$*" >&2
  exit "$status"
}

look() { git fetch --quiet origin $branch 2>/dev/null || die 11 "cannot read $branch on origin"; }
tip() { git rev-parse --verify "origin/$branch$1"; }
file_of() { printf 't%s_lock.yaml' "$1"; }
field() { sed -n "s/^$1: *//p"; }

# When the process began, which with its number names it for good.
start_time() {
  local words
  words=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  read -ra words <<<"${words##*) }"
  printf '%s' "${words[19]}"
}

describe() {
  local id=$1 email=$2 began
  began=$(start_time $PPID)
  printf '%s: %s\n' task_id "$id" locked_by "$email" locked_at "$(date '+%Y-%m-%d %H:%M')" hostname "$HOSTNAME" \
    pid $PPID pid_starttime "$began" pid_starttime_kind "$([[ $began ]] && echo proc || echo none)"
}

others() { git ls-tree "$(tip '^{tree}')" | awk -F '\t' -v file="$1" '$2 != file'; }

# Makes the tree on stdin the next state of the branch.
publish() {
  local tree commit
  tree=$(git mktree)
  commit=$(git commit-tree "$tree" -p "$(tip '')" -m "$1")
  git push --quiet origin "$commit:refs/heads/$branch" 2>/dev/null || exit $another_came_first
}

lock() {
  local id=$1 email=$2 file content blob
  file=$(file_of "$id")
  look
  if content=$(git show "origin/$branch:$file" 2>/dev/null); then
    [[ $(field locked_by <<<"$content") == "$email" ]] || # one's own is written anew
      die 1 "t$id is locked by $(field locked_by <<<"$content") since $(field locked_at <<<"$content")"
  fi
  blob=$(describe "$id" "$email" | git hash-object -w --stdin)
  { others "$file"; printf '100644 blob %s\t%s\n' "$blob" "$file"; } | publish "lock t$id for $email"
}

unlock() {
  local file
  file=$(file_of "$1")
  look
  git cat-file -e "origin/$branch:$file" 2>/dev/null || return 0
  others "$file" | publish "unlock t$1"
}

# In a process of its own, so that whatever goes wrong ends one try.
insist() {
  local try status
  for ((try = 1; try <= tries_max; ++try)); do
    set +e
    (set -e; "$@")
    status=$?
    set -e
    ((status == another_came_first)) || return "$status"
    ((try == tries_max)) || sleep "0.$((RANDOM % 4 + 1))"
  done
  die 12 "others were faster $tries_max times: $*"
}

init() {
  local tree
  [[ -z $(git ls-remote --heads origin "refs/heads/$branch") ]] || return 0
  tree=$(git mktree </dev/null)
  git push --quiet origin "$(git commit-tree "$tree" -m "no locks yet"):refs/heads/$branch"
}

check() {
  look
  git show "origin/$branch:$(file_of "$1")" 2>/dev/null || return 1
}

locked_ids() { git ls-tree --name-only "$(tip '^{tree}')" | sed -n 's/^t\(.*\)_lock\.yaml$/\1/p'; }

list() {
  local id content
  look
  for id in $(locked_ids); do
    content=$(git show "origin/$branch:$(file_of "$id")")
    printf 't%s: locked by %s on %s since %s\n' "$id" "$(field locked_by <<<"$content")" \
      "$(field hostname <<<"$content")" "$(field locked_at <<<"$content")"
  done
}

cleanup() {
  local id
  look
  for id in $(locked_ids); do
    ! compgen -G "aitasks/archived/t${id}_*.md" >/dev/null || insist unlock "$id"
  done
}

case "${1-} $#" in
  '--init 1') init ;;
  '--lock 4') [[ $3 == --email ]] || die 64 "usage: --lock ID --email E" && insist lock "$2" "$4" ;;
  '--unlock 2') insist unlock "$2" ;;
  '--check 2') check "$2" ;;
  '--list 1') list ;;
  '--cleanup 1') cleanup ;;
  *) die 64 "usage: ${0##*/} --init | --lock ID --email E | --unlock ID | --check ID | --list | --cleanup" ;;
esac
