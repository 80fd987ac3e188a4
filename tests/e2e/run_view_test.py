#!/usr/bin/env python3
"""`dibs run` on a terminal, seen as a person sees it: in tmux, at two sizes, while it is made smaller, and with Ctrl-C."""

import re
import shlex

from harness import DIBS, case, check, main, wait_until
from run_site import WORK, LocalRunSite
from screen import Screen


def waiting_command(site, said):
    """Says something and waits for the file `go`."""
    return f'printf {shlex.quote(said)}; while [ ! -e {site.dir}/go ]; do sleep 0.05; done; {WORK}'


def screen_of(site, columns, rows, *options, script):
    return Screen(site, columns, rows, DIBS, "run", *map(str, options), "--", "sh", "-c", script, cwd=site.root)


def shown_at(columns, rows):
    with LocalRunSite() as site:
        site.add(*(f"item-{n}-with-a-name-that-is-rather-long" for n in range(5)))
        script = waiting_command(site, "first\\nthe last line " + "x" * 300 + "\\n")
        with screen_of(site, columns, rows, "--workers", 3, script=script) as screen:
            for worker in (1, 2, 3):
                screen.wait_for(rf"^ +{worker}  item-\d.* s +lease .*the last")
            wait_until(lambda: sum("the last" in line for line in screen.lines()) == 3, "one line a worker")
            check.true(all(len(line) <= columns for line in screen.lines()), f"too wide: {screen.lines()}")
            screen.wait_for(r"0 landed, 0 failed, 0 parked")
            (site.dir / "go").touch()
            screen.wait_for(r"^5 landed, 0 failed")
            screen.wait_for(r"^exit 0")
            check.true(not screen.shows(r"lease \d"), f"the view is gone: {screen.lines()}")
        check.equal(len(site.landed()), 5)


@case
def a_run_fits_80_by_24():
    shown_at(80, 24)


@case
def a_run_fits_200_by_50():
    shown_at(200, 50)


@case
def a_run_with_more_workers_than_lines_shows_what_fits():
    with LocalRunSite() as site:
        site.add(*(f"item-{n:02}" for n in range(30)))
        with screen_of(site, 80, 24, "--workers", 30, script=waiting_command(site, "up\\n")) as screen:
            screen.wait_for(r"and \d+ more workers")
            screen.wait_for(r"^ +1  item-.*up")
            screen.wait_for(r"Ctrl-C finishes")
            screen.type("C-c")
            screen.wait_for(r"Ctrl-C again")
            screen.type("C-c")
            screen.wait_for(r"^exit 0")
        site.check_nothing_left()


@case
def a_window_that_is_made_smaller_is_drawn_anew():
    with LocalRunSite() as site:
        site.add("a", "b")
        script = waiting_command(site, "words " + "y" * 250 + "\\n")
        with screen_of(site, 200, 50, "--workers", 2, script=script) as screen:
            screen.wait_for(r"^ +2  \w.*words")
            screen.resize(60, 12)
            wait_until(lambda: sum("words" in line for line in screen.lines()) == 2 and
                       not any(re.match(r"^y+$", line) for line in screen.lines()), "two lines again")
            screen.resize(120, 30)
            wait_until(lambda: any(len(line) > 100 for line in screen.lines()), "wider lines")
            (site.dir / "go").touch()
            screen.wait_for(r"^exit 0")
        check.equal(site.landed(), {"a", "b"})


@case
def what_a_command_says_is_shown_escaped():
    with LocalRunSite() as site:
        site.add("a")
        with screen_of(site, 100, 24, script=waiting_command(site, r"\033[2J\033[Hsaid\n")) as screen:
            screen.wait_for(r"^ +1  a .*x1b\[2J.*said")
            (site.dir / "go").touch()
            screen.wait_for(r"^exit 0")


if __name__ == "__main__":
    main()
