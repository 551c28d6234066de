"""Driving the workstation as a person with a keyboard and a screen reader does: AT-SPI to read, keys to act.

Nothing here waits for a fixed time: every wait is for a condition, and fails after DEADLINE seconds.
"""
import json
import os
import subprocess
import time

import pyatspi

DEADLINE = 120
DEMUR, WORKSTATION, HOME = os.environ["DEMUR"], os.environ["DEMUR_WORKSTATION"], os.environ["DEMUR_TEST_HOME"]


def wait_for(condition, what):
    """What condition() returns, once it is true."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {DEADLINE} s for: {what}")


def demur(workspace, *words, check=True):
    """One command with --json; its document."""
    result = subprocess.run([DEMUR, "--workspace", workspace, "--json", "--quiet", *words], capture_output=True,
                            text=True, check=False)
    if check and result.returncode != 0:
        raise AssertionError(f"demur {' '.join(words)}: {result.stderr}")
    return json.loads(result.stdout) if result.stdout else None


class Workstation:
    def __init__(self, workspace, *options):
        self.log = open(os.path.join(HOME, "workstation.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([WORKSTATION, "--workspace", workspace, *options], stderr=self.log)
        self.application = wait_for(self.find_application, "the program on the accessibility bus")
        self.window = wait_for(lambda: self.find("frame", "Demur"), "the window")

    def find_application(self):
        assert self.process.poll() is None, "the workstation ended: " + self.stderr()
        desktop = pyatspi.Registry.getDesktop(0)
        for i in range(desktop.childCount):
            child = desktop.getChildAtIndex(i)
            if child is not None and child.get_process_id() == self.process.pid:
                child.set_cache_mask(pyatspi.Atspi.Cache.NONE)  # what is read is what is there now
                return child
        return None

    def stderr(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def walk(self, root=None):
        stack = [root or self.application]
        while stack:
            node = stack.pop()
            if node is None:
                continue
            try:
                state = node.getState()
                if root is None and node is not self.application and not state.contains(pyatspi.STATE_VISIBLE):
                    continue
                yield node
                stack.extend(node.getChildAtIndex(i) for i in reversed(range(node.childCount)))
            except Exception:  # a widget that went while it was read
                continue

    def find(self, role=None, name=None, contains=None):
        for node in self.walk():
            try:
                if role is not None and node.getRoleName() != role:
                    continue
                if name is not None and node.name != name:
                    continue
                if contains is not None and contains not in node.name:
                    continue
                return node
            except Exception:
                continue
        return None

    def texts(self):
        """Every name on the screen, in reading order."""
        names = []
        for node in self.walk():
            try:
                names.append(node.name)
            except Exception:
                continue
        return [name for name in names if name]

    def wait_text(self, contains):
        try:
            return wait_for(lambda: next((t for t in self.texts() if contains in t), None), f"the text '{contains}'")
        except AssertionError as failure:
            raise AssertionError(f"{failure}; on the screen: {self.texts()[-60:]}; {self.stderr()}") from None

    def page_of_image(self, name="CT image"):
        """The page that holds the image."""
        node = wait_for(lambda: self.find("image", name), name)
        for _ in range(3):
            node = node.parent
        return node

    def first_of(self, names, root):
        """The first of the names that stands below root, in reading order."""
        return next((n.name for n in self.walk(root) if n.name in names), None)

    def wait_no_text(self, contains):
        wait_for(lambda: not any(contains in t for t in self.texts()), f"'{contains}' to go")

    def image(self, name="CT image"):
        node = self.find("image", name)
        return node.description if node is not None else ""

    def wait_image(self, contains, name="CT image"):
        return wait_for(lambda: contains in self.image(name) and self.image(name), f"'{contains}' on {name}")

    def do(self, role, name=None, contains=None):
        node = wait_for(lambda: self.find(role, name, contains), f"{role} {name or contains}")
        action = node.queryAction()
        assert action.doAction(0), f"{role} {name or contains} does nothing"

    def focus(self, title=None):
        """Gives the keyboard to the window of that title (the main one)."""
        what = ["--pid", str(self.process.pid)] if title is None else ["--name", title]
        windows = subprocess.run(["xdotool", "search", "--onlyvisible", *what],
                                 capture_output=True, text=True, check=False).stdout.split()
        if windows:
            subprocess.run(["xdotool", "windowfocus", windows[-1]], check=False, stderr=subprocess.DEVNULL)

    def keys(self, *keys, window=None):
        self.focus(window)
        for key in keys:
            subprocess.run(["xdotool", "key", "--clearmodifiers", key], check=True)

    def type(self, text):
        self.focus()
        subprocess.run(["xdotool", "type", "--delay", "8", text], check=True)

    def pointer(self, x, y):
        """Moves the pointer within the window."""
        windows = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)],
                                 capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(["xdotool", "mousemove", "--window", windows[-1], str(x), str(y)], check=True)

    def bus_name(self):
        names = subprocess.run(["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/",
                                "--method", "org.freedesktop.DBus.ListNames"], capture_output=True, text=True,
                               check=True).stdout
        for name in [part.strip("' ,[]()\n") for part in names.split(",")]:
            if not name.startswith(":"):
                continue
            answer = subprocess.run(["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
                                     "/", "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", name],
                                    capture_output=True, text=True, check=False).stdout
            if f" {self.process.pid}," in answer:
                return name
        return None

    def activate(self, action, argument=None):
        """A GAction by name, 'win.next' or 'app.quit', as any program may."""
        scope, name = action.split(".")
        path = "/org/demur/Workstation" + ("/window/1" if scope == "win" else "")
        value = "[]" if argument is None else f"[<{argument}>]"
        subprocess.run(["gdbus", "call", "--session", "--dest", wait_for(self.bus_name, "the program on the bus"),
                        "--object-path", path, "--method", "org.gtk.Actions.Activate", name, value, "{}"], check=True,
                       stdout=subprocess.DEVNULL)

    def quit(self):
        """Ends the program as a person does, and looks at what it left behind."""
        assert self.process.poll() is None, "the workstation ended by itself: " + self.stderr()
        self.activate("app.quit")
        status = self.process.wait(DEADLINE)
        text = self.stderr()
        assert status == 0, f"exit status {status}: {text}"
        assert "CRITICAL" not in text, text
