"""Runs a program that draws, in a display of its own, with an empty folder as its last argument.

Usage: in-display.py PROGRAM [ARGUMENT ..]
Exit status 77 (skipped) with the reason where Xvfb is absent; else the program's.
"""
import os
import shutil
import subprocess
import sys
import tempfile

absent = [name for name in ("Xvfb", "xvfb-run") if shutil.which(name) is None]
if absent:
    print(f"skipped: {', '.join(absent)} not installed; packaging/dependencies.sh installs what is needed")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="demur-ui-") as home:
    environment = dict(os.environ, GDK_BACKEND="x11", GSK_RENDERER="cairo", GSETTINGS_BACKEND="memory", GTK_A11Y="none",
                       HOME=home, XDG_CONFIG_HOME=home + "/config", XDG_DATA_HOME=home + "/data", LANGUAGE="C",
                       LC_ALL="C.UTF-8")
    folder = os.path.join(home, "folder")
    os.mkdir(folder)
    sys.exit(subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", *sys.argv[1:], folder], env=environment,
                            check=False).returncode)
