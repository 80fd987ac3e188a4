"""Gates for tests: in the clone's own configuration, which needs no trust."""

from pathlib import Path


def configure(site, text):
    """In the clone's own file, which needs no trust."""
    with open(site.root / ".git/dibs/config.toml", "a", encoding="utf-8") as file:
        file.write(text)


def gate(name, command, **members):
    lines = [f"[gates.{name}]", f"command = '''{command}'''"]
    lines += [f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in members.items()]
    return "\n".join(lines) + "\n"


def gate_trees(site):
    return [path for path in Path(site.root).parent.glob("*.worktrees/gate-*")]
