"""Driving the workstation as a person with a keyboard and a screen reader does: AT-SPI to read, keys to act.

AT-SPI is spoken over D-Bus with many questions on their way at once, since a window has hundreds of widgets and each has to
be asked. Nothing here waits for a fixed time: every wait is for a condition, and fails after DEADLINE seconds.
"""
import json
import os
import subprocess
import time

from gi.repository import Gio, GLib

DEADLINE = int(os.environ.get("DEMUR_UI_DEADLINE", "120"))
MOST_ROWS = 40  # of a list that are read: it keeps many more alive than it shows
DEMUR, WORKSTATION, HOME = os.environ["DEMUR"], os.environ["DEMUR_WORKSTATION"], os.environ["DEMUR_TEST_HOME"]
ATSPI = "org.a11y.atspi."
STATE_VISIBLE, STATE_FOCUSABLE, STATE_FOCUSED, STATE_SENSITIVE = 30, 11, 12, 24
ROLES = {7: "check box", 11: "combo box", 16: "dialog", 23: "frame", 27: "image", 29: "label", 31: "list", 32: "list item",
         42: "progress bar", 43: "push button", 51: "slider", 54: "status bar", 55: "table", 56: "table cell", 61: "text", 62: "toggle button",
         66: "tree table", 79: "entry", 90: "table row"}


def wait_for(condition, what):
    """What condition() returns, once it is true."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        # Asking takes the processor that what is waited for needs: at most a third of the time.
        time.sleep(min(max(0.05, 2 * (time.monotonic() - asked)), 1))
    raise AssertionError(f"waited {DEADLINE} s for: {what}")


def x_windows(*pattern):
    """The visible windows of X11 that xdotool finds, once there are any: a search fails where a tooltip goes while it looks."""
    search = ["xdotool", "search", "--onlyvisible", "--all", *pattern]
    return wait_for(lambda: subprocess.run(search, capture_output=True, text=True, check=False).stdout.split(),
                    f"a window for {' '.join(search)}")


def demur(workspace, *words, check=True):
    """One command with --json; its document."""
    result = subprocess.run([DEMUR, "--workspace", workspace, "--json", "--quiet", *words], capture_output=True,
                            text=True, check=False)
    if check and result.returncode != 0:
        raise AssertionError(f"demur {' '.join(words)}: {result.stderr}")
    return json.loads(result.stdout) if result.stdout else None


class Bus:
    """A connection on which many calls may be on their way at once."""

    def __init__(self, connection):
        self.connection = connection

    def many(self, calls):
        """Answers (or None) to calls of (name, path, interface, method, arguments)."""
        answers, left = [None] * len(calls), len(calls)

        def done(connection, result, at):
            nonlocal left
            left -= 1
            try:
                answers[at] = connection.call_finish(result).unpack()
            except GLib.Error:  # the widget went while it was asked
                pass

        for at, (name, path, interface, method, arguments) in enumerate(calls):
            self.connection.call(name, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, 30000, None,
                                 done, at)
        while left > 0:
            GLib.MainContext.default().iteration(True)
        return answers

    def one(self, name, path, interface, method, arguments=None):
        return self.many([(name, path, interface, method, arguments)])[0]

    def process(self, name):
        answer = self.one("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                          GLib.Variant("(s)", (name,)))
        return answer[0] if answer else None


SESSION = Bus(Gio.bus_get_sync(Gio.BusType.SESSION, None))
SCREEN = Bus(Gio.DBusConnection.new_for_address_sync(
    SESSION.one("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")[0],
    Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None))


NAME = GLib.Variant("(ss)", (ATSPI + "Accessible", "Name"))


class Node:
    """A widget as a screen reader knows it. role, name and visible are of when it was read."""

    roles = {}  # of those that were asked once: (bus, path) -> role

    def __init__(self, bus, path):
        self.bus, self.path = bus, path
        self.role, self.name, self.visible, self.children = "", "", False, []

    def call(self, interface, method, arguments=None):
        return SCREEN.one(self.bus, self.path, ATSPI + interface, method, arguments)

    def get(self, interface, name):
        answer = SCREEN.one(self.bus, self.path, "org.freedesktop.DBus.Properties", "Get",
                            GLib.Variant("(ss)", (ATSPI + interface, name)))
        return answer[0] if answer else None

    def questions(self):
        """What is asked of it: a widget keeps its role and its path for life, and a label has no children."""
        accessible = lambda method: (self.bus, self.path, ATSPI + "Accessible", method, None)
        role = self.roles.get((self.bus, self.path))
        return {"name": (self.bus, self.path, "org.freedesktop.DBus.Properties", "Get", NAME), "state": accessible("GetState"),
                **({"role": accessible("GetRole")} if role is None else {}),
                **({"children": accessible("GetChildren")} if role != "label" else {})}

    def take(self, name, state, role=None, children=None):
        if role:
            self.roles[self.bus, self.path] = ROLES.get(role[0], str(role[0]))
        self.role, self.name = self.roles.get((self.bus, self.path), ""), name[0] if name else ""
        self.visible = bool(state and state[0][0] >> STATE_VISIBLE & 1)
        self.children = [Node(*child) for child in (children[0] if children else [])]
        if self.role in ("tree table", "list", "table"):
            del self.children[MOST_ROWS:]

    def has_state(self, bit):
        answer = self.call("Accessible", "GetState")
        return bool(answer and answer[0][bit // 32] >> bit % 32 & 1)

    def focused(self):
        return self.has_state(STATE_FOCUSED)

    def focusable(self):
        return self.has_state(STATE_FOCUSABLE)

    def sensitive(self):
        return self.has_state(STATE_SENSITIVE)

    @property
    def description(self):
        return self.get("Accessible", "Description") or ""

    def live_name(self):
        return self.get("Accessible", "Name")

    def parent(self):
        return Node(*self.get("Accessible", "Parent"))

    def text(self):
        return self.call("Text", "GetText", GLib.Variant("(ii)", (0, self.get("Text", "CharacterCount"))))[0]

    def set_text(self, text):
        assert self.call("EditableText", "SetTextContents", GLib.Variant("(s)", (text,)))[0], f"{self.name} takes no text"

    def value(self):
        return self.get("Value", "CurrentValue")


def read(root):
    """root and everything visible below it, in reading order."""
    level = [root]
    while level:
        asked = [node.questions() for node in level]
        answers = iter(SCREEN.many([question for questions in asked for question in questions.values()]))
        for node, questions in zip(level, asked):
            node.take(**{name: next(answers) for name in questions})
        level = [child for node in level if node.visible or node is root for child in node.children]
    nodes, stack = [], [root]
    while stack:
        node = stack.pop()
        if node is root or node.visible:
            nodes.append(node)
            stack.extend(reversed(node.children))
    return nodes


class Workstation:
    def __init__(self, workspace, *options):
        self.log = open(os.path.join(HOME, "workstation.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([WORKSTATION, "--workspace", workspace, *options], stderr=self.log, cwd=HOME)
        self.known, self.name_on_bus = {}, None
        self.application = wait_for(self.find_application, "the program on the accessibility bus")
        self.window = wait_for(lambda: self.find("frame", "Demur"), "the window")

    def find_application(self):
        assert self.process.poll() is None, "the workstation ended: " + self.stderr()
        answer = SCREEN.one(ATSPI + "Registry", "/org/a11y/atspi/accessible/root", ATSPI + "Accessible", "GetChildren")
        for bus, path in answer[0] if answer else []:
            if SCREEN.process(bus) == self.process.pid:
                return Node(bus, path)
        return None

    def stderr(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def walk(self, root=None):
        assert self.process.poll() is None, "the workstation ended by itself: " + self.stderr()
        return read(root or self.application)

    def find(self, role=None, name=None, contains=None):
        return next((node for node in self.walk() if (role is None or node.role == role) and
                     (name is None or node.name == name) and (contains is None or contains in node.name)), None)

    def texts(self):
        """Every name on the screen, in reading order."""
        return [node.name for node in self.walk() if node.name]

    def wait_text(self, contains):
        try:
            return wait_for(lambda: next((t for t in self.texts() if contains in t), None), f"the text '{contains}'")
        except AssertionError as failure:
            there = [text for text in self.texts() if not text.startswith("Gtk")][:90]
            raise AssertionError(f"{failure}; on the screen: {there}; {self.stderr()}") from None

    def wait_no_text(self, contains):
        wait_for(lambda: not any(contains in t for t in self.texts()), f"'{contains}' to go")

    def page_of_image(self, name="CT image"):
        """The page that holds the image."""
        node = wait_for(lambda: self.find("image", name), name)
        for _ in range(3):
            node = node.parent()
        return node

    def first_of(self, names, root):
        """The first of the names that stands below root, in reading order."""
        return next((node.name for node in self.walk(root) if node.name in names), None)

    def drawing(self, name):
        """The drawing of that name; asked for anew only where the known one is gone."""
        node = self.known.get(name)
        if node is None or node.live_name() != name:
            node = self.known[name] = self.find("image", name)
        return node

    def image(self, name="CT image"):
        node = self.drawing(name)
        return node.description if node is not None else ""

    def wait_image(self, contains, name="CT image"):
        last = ""

        def there():
            nonlocal last
            last = self.image(name)
            return last if contains in last else None

        try:
            return wait_for(there, f"'{contains}' on {name}")
        except AssertionError as failure:
            raise AssertionError(f"{failure}; there is: {last}") from None

    def do(self, role, name=None, contains=None):
        node = wait_for(lambda: self.find(role, name, contains), f"{role} {name or contains}")
        answer = node.call("Action", "DoAction", GLib.Variant("(i)", (0,)))
        assert answer and answer[0], f"{role} {name or contains} does nothing"

    def focus(self, title=None):
        """Gives the keyboard to the window of that title (the main one)."""
        what = ["--pid", str(self.process.pid)] if title is None else ["--name", title]
        windows = subprocess.run(["xdotool", "search", "--onlyvisible", *what],
                                 capture_output=True, text=True, check=False).stdout.split()
        if windows:
            subprocess.run(["xdotool", "windowfocus", windows[-1]], check=False, stderr=subprocess.DEVNULL)

    def keys(self, *keys, window=None):
        self.focus(window)
        self.press_key(*keys)

    def press_key(self, *keys):
        """To whatever has the keyboard."""
        subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)

    def type(self, text):
        self.focus()
        subprocess.run(["xdotool", "type", "--delay", "8", text], check=True)

    def x_window(self):
        """The main window, as X11 names it."""
        return x_windows("--pid", str(self.process.pid), "--name", "^Demur$")[-1]

    def pointer(self, x, y):
        """Moves the pointer within the window."""
        subprocess.run(["xdotool", "mousemove", "--window", self.x_window(), str(x), str(y)], check=True)

    def open_menu(self, name):
        """Opens the menu of a button, as a click does: a menu button has no action for a screen reader in GTK 4.8."""
        node = wait_for(lambda: self.find(name=name), name)
        x, y, width, height = node.call("Component", "GetExtents", GLib.Variant("(u)", (1,)))[0]
        self.pointer(x + width // 2, y + height // 2)
        subprocess.run(["xdotool", "click", "1"], check=True)

    def answer(self, title, file, key):
        """Answers the dialog of that title that asks for a file: the key leads to its entry, its own button ends it.

        No Enter is sent, which the entry takes for itself while it reads the folder, and which hits the window behind once
        the dialog is gone: the button is pressed once, when the entry holds the name.
        """
        windows = lambda: [Node(*child) for child in self.application.call("Accessible", "GetChildren")[0]]
        there = lambda: next((window for window in windows() if window.live_name() == title), None)
        dialog = wait_for(there, title)
        inside = lambda role, is_it: next((node for node in read(dialog) if node.role == role and is_it(node)), None)
        self.keys(key, window=title)
        subprocess.run(["xdotool", "type", "--delay", "8", file], check=True)
        wait_for(lambda: inside("text", lambda node: (node.text() or "").startswith(file)), f"{file} in the entry of {title}")
        button = wait_for(lambda: inside("push button", lambda node: node.name in ("_Open Open", "_Save Save")), "its button")
        wait_for(button.sensitive, f"{button.name} to be possible")
        answered = button.call("Action", "DoAction", GLib.Variant("(i)", (0,)))
        assert answered and answered[0], f"{button.name} of {title} does nothing"
        wait_for(lambda: there() is None, f"{title} to be gone")

    def save_as(self, title, file):
        """Answers the file dialog of that title."""
        self.answer(title, file, "ctrl+a")

    def choose(self, title, file):
        """Answers the dialog of that title that asks for a file or a folder: by its location entry."""
        self.answer(title, file, "ctrl+l")

    def drag_in(self, source, *files):
        """Drags files from another program's window and drops them in the middle of this one."""
        other = subprocess.Popen([source, *files])
        mouse = lambda *words: subprocess.run(["xdotool", *words], check=True)
        def in_front():  # looked for anew each time: one that is found before it is managed can't be activated
            found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "^drag source$"], capture_output=True, text=True,
                                   check=False).stdout.split()
            for window in reversed(found):
                try:
                    if subprocess.run(["xdotool", "windowactivate", "--sync", window], stderr=subprocess.DEVNULL, check=False,
                                      timeout=10).returncode == 0:
                        return window
                except subprocess.TimeoutExpired:  # never told that it is in front: asked again
                    pass
            return None

        window = wait_for(in_front, "the source in front")
        mouse("mousemove", "--window", window, "60", "60", "mousedown", "1")
        mouse("mousemove_relative", "--sync", "12", "12")
        mouse("mousemove_relative", "--sync", "20", "20")
        # The source's window is in the way of nothing now, and is not what the pointer ends on.
        mouse("windowmove", window, "0", "0")
        for step in range(4):  # a drag that no window was told of can't be dropped
            self.pointer(520 + 10 * step, 420)
        def dropped():
            self.pointer(560, 430)
            self.pointer(570, 435)
            mouse("mouseup", "1")
            try:
                return other.wait(3) == 0
            except subprocess.TimeoutExpired:
                mouse("mousedown", "1")
                return False
        wait_for(dropped, "the drop to be taken")

    def size(self):
        """Width and height of the window on the screen."""
        text = subprocess.run(["xdotool", "getwindowgeometry", self.x_window()], capture_output=True, text=True,
                              check=True).stdout
        return tuple(int(word) for word in text.split("Geometry: ")[1].split()[0].split("x"))

    def resize(self, width, height):
        subprocess.run(["xdotool", "windowsize", self.x_window(), str(width), str(height)], check=True)

    def bus_name(self):
        names = SESSION.one("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames")[0]
        return next((name for name in names if name.startswith(":") and SESSION.process(name) == self.process.pid), None)

    def activate(self, action, argument=None):
        """A GAction by name, 'win.next' or 'app.quit', as any program may; argument as GVariant text."""
        self.name_on_bus = self.name_on_bus or wait_for(self.bus_name, "the program on the bus")
        scope, name = action.split(".")
        path = "/org/demur/Workstation" + ("/window/1" if scope == "win" else "")
        values = [] if argument is None else [GLib.Variant.parse(None, argument, None, None)]
        SESSION.connection.call_sync(self.name_on_bus, path, "org.gtk.Actions", "Activate",
                                     GLib.Variant("(sava{sv})", (name, values, {})), None, Gio.DBusCallFlags.NONE,
                                     60000, None)

    def state(self, action):
        """The state of a stateful GAction."""
        self.name_on_bus = self.name_on_bus or wait_for(self.bus_name, "the program on the bus")
        scope, name = action.split(".")
        path = "/org/demur/Workstation" + ("/window/1" if scope == "win" else "")
        return SESSION.one(self.name_on_bus, path, "org.gtk.Actions", "Describe", GLib.Variant("(s)", (name,)))[0][2][0]

    def quit(self):
        """Ends the program as a person does, and looks at what it left behind."""
        assert self.process.poll() is None, "the workstation ended by itself: " + self.stderr()
        self.activate("app.quit")
        status = self.process.wait(DEADLINE)
        text = self.stderr()
        assert status == 0, f"exit status {status}: {text}"
        assert "CRITICAL" not in text, text
