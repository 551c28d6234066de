"""A recipe of a page, typed line by line in a home of its own: each line succeeds, and says what stands below it behind "#".

Right values: the page's own words. Usage: recipe.py DEMUR PAGE NAME, the recipe between <!-- NAME --> and <!-- end of recipe -->."""
import os
import subprocess
import sys
import tempfile


def recipe_of(page, name):
    """[(command, [what it says])] of the indented lines."""
    text = open(page, encoding="utf-8").read()
    begin, end = f"<!-- {name} -->", "<!-- end of recipe -->"
    assert text.count(begin) == 1, f"{page}: no recipe {name}"
    lines = text.split(begin)[1].split(end)[0].splitlines()
    steps = []
    for line in (line[4:] for line in lines if line.startswith("    ")):
        if line.startswith("# "):
            steps[-1][1].append(line[2:])
        else:
            steps.append((line, []))
    assert len(steps) > 1 and any(said for _, said in steps), f"{page}: {name} is empty"
    return steps


def main():
    program, page, name = sys.argv[1:]
    steps = recipe_of(page, name)
    with tempfile.TemporaryDirectory() as home:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("DEMUR_", "XDG_"))}
        environment.update(HOME=home, PATH=os.path.dirname(os.path.abspath(program)) + ":" + environment["PATH"])
        mark = "-- end of step --"  # one shell for all, as a person has
        script = "set -e\n" + "".join(f"{command}\necho '{mark}'\n" for command, _ in steps)
        run = subprocess.run(["sh", "-c", script], env=environment, cwd=home, text=True, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = run.stdout.split(mark + "\n")
    assert run.returncode == 0 and len(told) == len(steps) + 1, f"{steps[len(told) - 1][0]}\n{told[-1]}"
    for (command, said), output in zip(steps, told):
        for words in said:
            assert words in output, f"{command}\ndoes not say: {words}\nbut: {output[-3000:]}"
    print(f"{len(steps)} lines")


main()
