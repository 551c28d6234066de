"""Man page, guide and completion agree with the program. Every command of `demur --help` stands in the man page, with the same summary
first, and no other; every command, with those below it, in the table of docs/commands.md, and no other; every global option in the
man page; the completion of "demur " gives the same list, that of "demur -" the global options. An option that a page of docs names
behind a command is one that the command takes. Usage: help.py ROOT DEMUR"""
import os
import re
import subprocess
import sys

root, demur = sys.argv[1:3]


def help_of(*words):
    done = subprocess.run([demur, *words, "--help"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def check(where, found, right):
    if found != right:
        sys.exit(f"{where} and --help differ: {sorted(found ^ right)}")


def plain(text):
    """A piece of mdoc as it reads."""
    text = re.sub(r"^\.Fl (-[a-z-]+)", r"-\1", text, flags=re.M)
    return re.sub(r"\s+", " ", re.sub(r"^\.[A-Z][a-z] ?", "", text, flags=re.M)).strip()


whole = help_of()
listed = whole.split("Commands:")[1].split("Global options")[0]
summaries = dict(re.findall(r"^  ([a-z]+)  +(\S.*)$", listed, re.M))
options = set(re.findall(r"^  (--[a-z-]+)", whole.split("Global options")[1], re.M))
below = {name: dict(re.findall(r"^  ([a-z]+)  +(\S.*)$", help_of(name), re.M))
         if help_of(name).startswith(f"Usage: demur {name} COMMAND") else {} for name in summaries}

# The man page: the same names, each told by the same words first.
man = read("docs/man/demur.1")
entries = dict(re.findall(r"^\.It Cm ([a-z]+)[^\n]*\n(.*?)(?=^\.It|^\.El)", man.split(".Sh COMMANDS")[1], re.M | re.S))
check("docs/man/demur.1", set(entries), set(summaries))
for name, text in entries.items():
    if not plain(text).startswith(summaries[name]):
        sys.exit(f"docs/man/demur.1 tells {name} by other words than --help ('{summaries[name]}'): {plain(text)[:90]}")
check("the synopsis of docs/man/demur.1", set(re.findall(r"^\.Op Fl (-[a-z-]+)", man, re.M)),
      {option[1:] for option in options - {"--version"}})

# The table of the guide: commands, and those below them, however they share a row.
rows = [line.split(" | ")[0] for line in read("docs/commands.md").splitlines() if line.startswith("| ")]
check("the table of docs/commands.md", set(re.findall(r"`demur ([a-z]+)", "\n".join(rows))), set(summaries))
for name, parts in below.items():
    told = set()
    for row in rows:
        for piece in re.findall(rf"`(?:demur )?{name} ([^`]+)`", row):
            told |= {word for word in re.findall(r"(?:^|/ )([a-z]+)", piece)}
    check(f"the rows of demur {name} in docs/commands.md", told if parts else set(), set(parts))

# The completion.
script = (f'demur() {{ "{demur}" "$@"; }}; . "{root}/packaging/completion/demur.bash"; COMP_WORDS=(demur "$1"); COMP_CWORD=1; '
          '_demur; printf "%s\\n" "${COMPREPLY[@]}"')
for word, right in (("", set(summaries)), ("-", options | {"--help"})):
    done = subprocess.run(["bash", "-c", script, "_", word], capture_output=True, text=True, check=True)
    check(f"the completion of 'demur {word}'", set(done.stdout.split()) - {"--verbose"}, right)

# Options that pages name behind a command.
taken = {(name,): help_of(name) for name in summaries if not below[name]}
taken.update({(name, part): help_of(name, part) for name, parts in below.items() for part in parts})
taken.update({("report", part): help_of("report", part) for part in ("verify", "patient")})
n = 0
for folder, _, names in os.walk(os.path.join(root, "docs")):
    for page in sorted(names):
        path = os.path.relpath(os.path.join(folder, page), root)
        if not page.endswith(".md"):
            continue
        for line in re.findall(r"demur [a-z]+[^`\n]*", read(path)):
            words = line.split("#")[0].split()[1:]
            command = tuple(words[:2]) if tuple(words[:2]) in taken else tuple(words[:1])
            if command not in taken:
                continue
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", re.split(r"[|;)]| demur | && ", line.split("#")[0])[0]):
                n += 1
                if option not in options | {"--help"} and not re.search(re.escape(option) + r"(?![\w-])", taken[command]):
                    sys.exit(f"{path} names an option that demur {' '.join(command)} does not take: {option}")
print(f"{len(summaries)} commands and {len(options)} global options stand alike in man page, guide, completion and --help; "
      f"{n} options that pages name are taken")
