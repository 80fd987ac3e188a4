"""The remote is killed in the middle of a push; soak/remote_kill_test.py does it at every system call."""

from remote_kill import kill_at

from harness import add_case, main

# What changes something on disk or speaks to the client; the many reads and maps in between change nothing.
CALLS = ("write", "rename", "unlink", "mkdir", "rmdir", "link", "clone", "exit_group")

for each in CALLS:
    add_case(f"the remote is killed at every {each}", lambda call=each: kill_at(call))

if __name__ == "__main__":
    main()
