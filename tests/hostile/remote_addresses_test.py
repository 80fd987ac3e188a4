"""Addresses of remotes that would run programs, and a repository's settings that turn good addresses into such: none is run, and
a lease is never said to be granted."""

import os

from hostile_site import HostileClone, add_case, case, check, run_tables, shared

# {trap} is a program that must not run. All are the address of origin.
ADDRESSES = {
    "a helper that runs programs": "ext::{trap}",
    "a helper that runs programs, with blanks": "ext::{trap} %S x",
    "a helper for descriptors": "fd::7",
    "a helper of somebody's": "evil::x",
    "a helper's name as a scheme": "evil://x",
    "an option": "--upload-pack={trap}",
    "an ssh option": "-oProxyCommand={trap}",
    "an ssh option for a host": "ssh://-oProxyCommand={trap}/x",
    "an ssh option for a host, short": "-oProxyCommand={trap}:x",
    "an ssh option for a user": "ssh://-oProxyCommand={trap}@localhost/x",
    "a host with a shell in it": "ssh://x;{trap}/y",
    "a host with a newline": "ssh://x\n{trap}/y",
    "a path with a shell in it": "ssh://localhost/x;{trap}",
    "a path with a quote": "ssh://localhost/'$({trap})'",
    "a path that is no repository": "{dir}/outside",
    "a path that is a device": "/dev/null",
    "a path that is nothing": "",
    "a path out of here": "../../outside",
    "a file address with a host": "file://evil/x",
    "a bundle that is none": "{dir}/outside/canary",
    "nobody who listens": "git://127.0.0.1:1/x",
    "nobody who listens, by http": "http://127.0.0.1:1/x",
    "a password in the address": "http://user:open-sesame@127.0.0.1:1/x",
    "escapes": "git://127.0.0.1:1/\x1b]0;owned\x07",
    "letters that turn around": "git://127.0.0.1:1/\u202exyz",
    "four thousand letters": "git://127.0.0.1:1/" + "A" * 4000,
}
# Settings of the repository that make of a good address a bad one.
SETTINGS = {
    "url.insteadOf": ("url.ext::{trap} .insteadOf", "{address}"),
    "url.pushInsteadOf": ("url.ext::{trap} .pushInsteadOf", "{address}"),
    "remote.vcs": ("remote.origin.vcs", "evil"),
    "remote.pushurl": ("remote.origin.pushurl", "ext::{trap}"),
    "protocol.ext.allow": ("remote.origin.url", "ext::{trap}"),
}


def make_site():
    site = HostileClone()
    programs = site.dir / "programs"
    programs.mkdir()
    for name in ("git-remote-evil", "git-remote-ext2"):
        (programs / name).write_text(site.trap("helper").read_text())
        (programs / name).chmod(0o755)
    # An ssh that connects nowhere and springs a trap when it is told to run something on the way.
    (programs / "ssh").write_text(f"#!/bin/sh\ncase \"$*\" in *ProxyCommand*) : >'{site.sprung}/ssh' ;; esac\nexit 255\n")
    (programs / "ssh").chmod(0o755)
    site.env["PATH"] = f"{programs}:{site.env['PATH']}"
    site.git("config", "protocol.ext.allow", "always", cwd=site.root)
    site.git("config", "protocol.allow", "always", cwd=site.root)
    return site


def never_granted(site, what):
    for words in (["claim", "acquire", "x"], ["claim", "list"], ["item", "sync"]):
        reply = site.attack(*words, codes={1, 4, 8, 10, 11, 64})
        check.absent(reply.out, "claimed", what)
        check.absent(reply.err, "open-sesame", what)


def with_address(text):
    site = shared(make_site)
    kept = (site.root / ".git/config").read_bytes()
    site.git("config", "remote.origin.url", text.format(trap=site.trap("address"), dir=site.dir), cwd=site.root)
    try:
        never_granted(site, text)
    finally:
        (site.root / ".git/config").write_bytes(kept)


def with_setting(name, value):
    site = shared(make_site)
    kept = (site.root / ".git/config").read_bytes()
    address = site.git("config", "remote.origin.url", cwd=site.root)
    site.git("config", name.format(trap=site.trap("setting")), value.format(trap=site.trap("setting"), address=address),
             cwd=site.root)
    try:
        reply = site.attack("claim", "acquire", "y", codes={1, 8, 10, 11, 64})
        check.absent(reply.out, "claimed")
    finally:
        (site.root / ".git/config").write_bytes(kept)


for about, address in ADDRESSES.items():
    add_case(f"a remote at {about}", lambda text=address: with_address(text))
for about, (key, evil) in SETTINGS.items():
    add_case(f"{about} leads to no program", lambda name=key, value=evil: with_setting(name, value))


@case
def the_good_address_still_works():
    site = shared(make_site)
    reply = site.run("claim", "acquire", "good").expect(0)
    check.contains(reply.out, "claimed")


@case
def the_traps_are_traps():
    """Plain git, allowed to, runs the program in the address."""
    site = shared(make_site)
    site.spawn("git", "ls-remote", f"ext::{site.trap('address')}", cwd=site.root, stderr=os.open(os.devnull, os.O_WRONLY)).wait()
    check.equal([path.name for path in site.sprung.iterdir()], ["address"])
    (site.sprung / "address").unlink()


if __name__ == "__main__":
    run_tables()
