"""A service tells at its start which of its modules is lacking: not with the first study, when a scanner waits for its answer.

The program is copied beside all its modules but one, each left out in turn. Its settings are not there either, so that what it says
tells how far it came: with all of its modules it asks for them.

Usage: serve.py DEMUR MODULE ..
"""
import os
import shutil
import subprocess
import sys
import tempfile

demur, *modules = sys.argv[1:]


def said(lacking):
    with tempfile.TemporaryDirectory() as folder:
        for path in [demur] + [m for m in modules if m != lacking]:
            shutil.copy(path, folder)
        settings = os.path.join(folder, "none.conf")
        program = [os.path.join(folder, os.path.basename(demur)), "--workspace", os.path.join(folder, "w.demur")]
        served = subprocess.run([*program, "serve", settings], capture_output=True, text=True)
        assert served.returncode == 1, (lacking, served)
        once = subprocess.run([*program, "--version"], capture_output=True, text=True)
        assert once.returncode == 0, f"--version asks for {lacking}: {once.stderr}"
        return served.stderr


assert "none.conf" in said(None), said(None)
for module in modules:
    text = said(module)
    assert os.path.basename(module) + ", a part of the program" in text, f"without {module} it says {text!r}"
    assert "none.conf" not in text, text
print(f"each of {len(modules)} modules is asked for at the start")
