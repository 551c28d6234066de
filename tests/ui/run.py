"""Runs one user-interface test in a display, a session bus and an accessibility bus of its own.

Usage: run.py TEST DEMUR DEMUR_WORKSTATION
Exit status 77 (skipped) with the reason where Xvfb, dbus, openbox, xdotool or python3-gi is absent.
"""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

NEEDED = ["Xvfb", "xvfb-run", "dbus-run-session", "openbox", "xdotool", "gdbus"]
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"


def missing():
    absent = [name for name in NEEDED if shutil.which(name) is None]
    if not os.path.exists(LAUNCHER):
        absent.append("at-spi2-core")
    if importlib.util.find_spec("gi") is None:
        absent.append("python3-gi")
    return absent


def german_locale(home):
    """Variables of a locale in which gettext looks at LANGUAGE, which it does not in C; None where there is none."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    for name in listed:
        if name.lower().endswith((".utf8", ".utf-8")) and not name.startswith(("C.", "POSIX")):
            return {"LC_ALL": name, "LANGUAGE": "de"}
    if shutil.which("localedef") and subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", home + "/de_DE.UTF-8"],
                                                    capture_output=True, check=False).returncode <= 1 \
            and os.path.isdir(home + "/de_DE.UTF-8"):
        return {"LC_ALL": "de_DE.UTF-8", "LOCPATH": home, "LANGUAGE": "de"}
    return None


def main():
    test, demur, workstation = sys.argv[1:4]
    absent = missing()
    if absent:
        print(f"skipped: {', '.join(absent)} not installed; packaging/dependencies.sh installs what is needed")
        sys.exit(77)
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory(prefix="demur-ui-") as home:
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "DEMUR_WORKSPACE",
                                    "GTK_A11Y")}
        environment.update({
            "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "0",
            "HOME": home, "XDG_CONFIG_HOME": home + "/config", "XDG_DATA_HOME": home + "/data",
            "XDG_STATE_HOME": home + "/state", "XDG_CACHE_HOME": home + "/cache",
            "XDG_RUNTIME_DIR": home, "LANGUAGE": "C", "LC_ALL": "C.UTF-8",
            "DEMUR": demur, "DEMUR_WORKSTATION": workstation, "DEMUR_TEST_HOME": home, "PYTHONPATH": here})
        if test in ("nothing_is_cut", "german", "hostile_names_are_shown_as_code_points",
                    "thirty_hostile_strings_are_shown_as_code_points"):
            locale = german_locale(home)
            if locale is None:
                print("skipped: there is no locale but C here, and none could be made (package locales)")
                sys.exit(77)
            environment.update(locale)
        prefix = []
        if test == "a_full_disk_is_said":
            environment["DEMUR_SMALL_DISK"] = os.path.join(home, "small")
            os.mkdir(environment["DEMUR_SMALL_DISK"])
            mount = f"mount -t tmpfs -o size=24m none {environment['DEMUR_SMALL_DISK']}"
            prefix = ["unshare", "-Urm", "sh", "-c", mount + ' && exec "$0" "$@"']
            if subprocess.run(["unshare", "-Urm", "sh", "-c", mount], capture_output=True, check=False).returncode != 0:
                print("skipped: no small disk can be made here (unshare -Urm, tmpfs)")
                sys.exit(77)
        screen = "5200x2960x24" if test == "nothing_is_cut" else "1600x1000x24"
        memory = f" -fbdir {home}" if test == "no_pixel_is_another_patients" else ""  # the screen, as a file
        inner = (f"{LAUNCHER} --launch-immediately >/dev/null 2>&1 & openbox >/dev/null 2>&1 & "
                 f"exec {sys.executable} {os.path.join(here, 'tests.py')} {test}")
        result = subprocess.run([*prefix, "xvfb-run", "-a", "-s", f"-screen 0 {screen}{memory}", "dbus-run-session", "--",
                                 "sh", "-c", inner], env=environment, check=False)
        sys.exit(result.returncode)


main()
