"""The real window under valgrind and Xvfb: it opens a workspace, reads one series, and draws the patient page with its image.

Usage: valgrind.py DEMUR WORKSTATION PHANTOM SUPPRESSIONS (valgrind.supp says what is suppressed, and why). GLib's and GTK's own
suppressions are taken where they are installed. Exit status 77 (skipped) with the reason where Xvfb is absent.
"""
import os
import shutil
import subprocess
import sys
import tempfile

OF_LIBRARIES = ["/usr/share/glib-2.0/valgrind/glib.supp", "/usr/share/gtk-4.0/valgrind/gtk.supp"]


def main():
    demur, workstation, phantom, suppressions = (os.path.abspath(word) for word in sys.argv[1:5])
    absent = [name for name in ("Xvfb", "xvfb-run") if shutil.which(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)} not installed; packaging/dependencies.sh installs what is needed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="demur-ui-") as home:
        scan = subprocess.run([phantom, home + "/in", "1", "60"], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run([demur, "--workspace", "w.demur", "--quiet", "dicom", "import", "in"], cwd=home, check=True, stdout=subprocess.DEVNULL)
        environment = dict(os.environ, GDK_BACKEND="x11", GSK_RENDERER="cairo", GSETTINGS_BACKEND="memory", GTK_A11Y="none",
                           HOME=home, XDG_CONFIG_HOME=home + "/config", XDG_DATA_HOME=home + "/data", LC_ALL="C.UTF-8")
        taken = [f"--suppressions={path}" for path in [*OF_LIBRARIES, suppressions] if os.path.exists(path)]
        status = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", "valgrind", "-q", "--error-exitcode=9", "--leak-check=full",
                                 "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite", "--num-callers=30", *taken,
                                 workstation, "--workspace", "w.demur", "--screenshot=patient", f"--case={scan}", "page.png"],
                                cwd=home, env=environment, check=False).returncode
        assert status == 0, f"exit status {status}"
        assert os.path.getsize(home + "/page.png") > 10000, "nothing was drawn"


main()
