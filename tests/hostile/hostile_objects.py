"""Git objects as git itself would refuse to make them, put straight into the remote of a clone."""

import subprocess

from hostile_site import HANG_SECS


def in_remote(site, *words, stdin=b""):
    done = subprocess.run(["git", *words], cwd=site.remote.path, env=site.env, input=stdin, capture_output=True,
                          timeout=HANG_SECS, check=True)
    return done.stdout.decode().strip()


def commit_saying(site, message, tree=None, parents=()):
    tree = tree or in_remote(site, "mktree")
    text = f"tree {tree}\n" + "".join(f"parent {parent}\n" for parent in parents)
    text += "author x <x> 0 +0000\ncommitter x <x> 0 +0000\n\n"
    return in_remote(site, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=text.encode() + message)


def tree_with(site, mode, path, contents):
    """Trees as git itself would refuse to make them."""
    kind = in_remote(site, "hash-object", "-w", "--stdin", stdin=contents)
    *folders, name = (path if isinstance(path, bytes) else path.encode()).split(b"/")
    for part in [name, *reversed(folders)]:
        entry = f"{mode} ".encode() + part + b"\0" + bytes.fromhex(kind)
        kind, mode = in_remote(site, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=entry), "40000"
    return kind
