"""Three ways to do the same in the window: with the mouse alone, with the keyboard alone, with a screen reader's actions
alone. Text is typed by all of them: with the mouse as a keyboard on the screen types it, into the field that was clicked.
"""
import subprocess

from gi.repository import GLib

from driver import SCREEN, STATE_FOCUSABLE, STATE_FOCUSED, wait_for, x_windows

SENSITIVE = 24
FIELDS = ("text", "entry")


def extents(node):
    """x, y, width, height within its window."""
    answer = node.call("Component", "GetExtents", GLib.Variant("(u)", (1,)))
    return answer[0] if answer else (0, 0, 0, 0)


class Hands:
    def __init__(self, app, drag_source):
        self.app, self.drag_source = app, drag_source

    def nodes(self, window):
        """Everything in the window of that title; None: everywhere."""
        if window is None:
            return self.app.walk()
        root = next((n for n in self.app.walk() if n.name == window and n.role in ("frame", "dialog")), None)
        return self.app.walk(root) if root is not None else []

    def seen(self, name, window=None):
        for node in self.nodes(window):
            # The second is what GTK 4.8 calls the buttons of its own dialogs.
            if node.name in (name, f"_{name} {name}") and node.role not in ("label", "frame", "dialog") + FIELDS \
                    and extents(node)[2] > 0 and node.has_state(SENSITIVE):
                return node
        return None

    def find(self, name, window=None):
        return wait_for(lambda: self.seen(name, window), f"a button {name} that can be pressed")

    def field(self, name, window=None):
        return wait_for(lambda: next((n for n in self.nodes(window) if n.name == name and n.role in FIELDS), None), name)


class Reader(Hands):
    """AT-SPI actions and texts; no pointer, no key."""

    def press(self, name, window=None):
        answer = self.find(name, window).call("Action", "DoAction", GLib.Variant("(i)", (0,)))
        assert answer and answer[0], f"{name} does nothing for a screen reader"

    def write(self, name, text, window=None):
        self.field(name, window).set_text(text)

    def bring(self, step, title, path):
        self.write("Path of a folder or file to bring in", path)
        self.press("Bring in")

    def save(self, title, file):
        # The dialog is GTK's own: its name is a field, its button is called as in every program.
        name = wait_for(lambda: next((n for n in self.app.walk() if n.role in FIELDS and ".pdf" in (n.text() or "")), None),
                        "the name of the file")
        name.set_text(file)
        self.press("Save")


class Keys(Hands):
    """Tab to a thing, blank or Enter on it."""

    def reach(self, name, window=None):
        state = lambda node: (node.bus, node.path, "org.a11y.atspi.Accessible", "GetState", None)
        has = lambda answer, bit: answer and answer[0][0] >> bit & 1
        self.app.focus(window)  # once: Tab leads to no other window
        before = None
        for n_tabs in range(60):
            if n_tabs % 10 == 0:  # a dialog that has just opened may still be filled
                nodes = self.nodes(window)
                nodes = [n for n, answer in zip(nodes, SCREEN.many([state(n) for n in nodes])) if has(answer, STATE_FOCUSABLE)]
            for _ in range(20):  # the answer may be of before the Tab, and where it leads may not be among these
                there = [n for n, answer in zip(nodes, SCREEN.many([state(n) for n in nodes])) if has(answer, STATE_FOCUSED)]
                if any(n.name == name for n in there):
                    return
                if [n.path for n in there] != before:
                    break
            before = [n.path for n in there]
            self.app.press_key("Tab")
        raise AssertionError(f"60 Tabs do not reach {name}")

    def press(self, name, window=None):
        self.find(name, window)
        self.reach(name, window)
        self.app.keys("space", window=window)

    def write(self, name, text, window=None):
        self.field(name, window)
        self.reach(name, window)
        self.app.keys("ctrl+a", window=window)
        subprocess.run(["xdotool", "type", "--delay", "8", text], check=True)

    def bring(self, step, title, path):
        self.write("Path of a folder or file to bring in", path)
        self.press("Bring in")

    def save(self, title, file):
        self.app.save_as(title, file)


class Mouse(Hands):
    """Clicks, and files dropped from another window."""

    def click(self, node, window=None, times=1):
        x, y, width, height = extents(node)
        target = self.app.x_window() if window is None else x_windows("--name", f"^{window}$")[-1]
        subprocess.run(["xdotool", "mousemove", "--window", target, str(x + width // 2), str(y + height // 2),
                        "click", "--repeat", str(times), "--delay", "40", "1"], check=True)

    def press(self, name, window=None):
        self.click(self.find(name, window), window)

    def write(self, name, text, window=None):
        node = self.field(name, window)
        self.click(node, window, 3)  # three clicks choose what stands there
        subprocess.run(["xdotool", "type", "--delay", "8", text], check=True)

    def bring(self, step, title, path):
        self.app.drag_in(self.drag_source, path)

    def save(self, title, file):
        there = lambda: subprocess.run(["xdotool", "search", "--onlyvisible", "--name", f"^{title}$"], check=False,
                                       capture_output=True).stdout
        wait_for(there, title)

        def gone():  # a dialog that is being laid out moves its button away from under the pointer
            button = self.seen("Save") if there() else None
            if button is not None:
                try:
                    self.click(button, title)
                except subprocess.CalledProcessError:  # it went in between
                    pass
            return not there()
        wait_for(gone, f"{title} to be gone")
