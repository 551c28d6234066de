"""Man page, guide and completion agree with the program: every command of `demur --help` stands in the man page, and no other; in the
table of docs/commands.md; the completion of "demur " gives the same list. Usage: help.py ROOT DEMUR"""
import re
import subprocess
import sys

root, demur = sys.argv[1:3]
text = subprocess.run([demur, "--help"], capture_output=True, text=True, check=True).stdout
commands = set(re.findall(r"^  ([a-z]+)  +\S", text.split("Commands:")[1].split("Global options")[0], re.M))
with open(f"{root}/docs/man/demur.1", encoding="utf-8") as page:
    man = set(re.findall(r"^\.It Cm ([a-z]+)", page.read(), re.M))
with open(f"{root}/docs/commands.md", encoding="utf-8") as page:
    told = set(re.findall(r"`demur ([a-z]+)", "".join(line for line in page if line.startswith("| "))))
script = (f'demur() {{ "{demur}" "$@"; }}; . "{root}/packaging/completion/demur.bash"; COMP_WORDS=(demur ""); COMP_CWORD=1; '
          '_demur; printf "%s\\n" "${COMPREPLY[@]}"')
completed = set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())
for name, found in (("docs/man/demur.1", man), ("the table of docs/commands.md", told), ("the completion", completed)):
    if found != commands:
        sys.exit(f"{name} and --help differ: {sorted(found ^ commands)}")
print(f"{len(commands)} commands stand in man page, guide, completion and --help")
