#!/usr/bin/python3
"""How long a reader waits for the window: from its start until the row of pixels in the middle of the screen shows four colours,
looked at every 2 ms in the memory of an Xvfb of its own (so nothing asks the display meanwhile).

  first-frame.py BUILD_FOLDER WORKSPACE [RUNS]     prints least, median and most in milliseconds"""
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

SIZE = (1600, 1000)
COLOURS = 4
LONGEST = 20  # seconds


def colours(screen, row):
    """How many colours the row of the screen has."""
    line = screen[row : row + 4 * SIZE[0]]
    return len(set(struct.unpack("<%dI" % SIZE[0], line)))


def start_display(folder):
    """The server and the number of its display."""
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "%dx%dx24" % SIZE, "-fbdir", folder, "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        return server, pipe.readline().strip()


def wait_for(ready, since, what):
    while not ready():
        if time.monotonic() - since > LONGEST:
            sys.exit("%s not within %d s" % (what, LONGEST))
        time.sleep(0.002)
    return time.monotonic() - since


def main():
    build, workspace = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with tempfile.TemporaryDirectory() as folder:
        server, display = start_display(folder)
        try:
            with open(os.path.join(folder, "Xvfb_screen0"), "rb") as file:
                screen = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            words = struct.unpack(">25I", screen[:100])  # XWDFileHeader
            if words[11] != 32:
                sys.exit("a screen of 32 bits a pixel was asked for")
            row = words[0] + 12 * words[19] + SIZE[1] // 2 * words[12]
            environment = dict(os.environ, DISPLAY=":" + display, GDK_BACKEND="x11", GSK_RENDERER="cairo", GSETTINGS_BACKEND="memory", GTK_A11Y="none")
            times = []
            for _ in range(runs):
                begin = time.monotonic()
                window = subprocess.Popen(
                    [os.path.join(build, "app/demur-workstation"), "--workspace", workspace], env=environment, stderr=subprocess.DEVNULL
                )
                times.append(1000 * wait_for(lambda: colours(screen, row) >= COLOURS, begin, "a frame"))
                window.send_signal(signal.SIGTERM)
                window.wait()
                wait_for(lambda: colours(screen, row) < COLOURS, time.monotonic(), "an empty screen")
            times.sort()
            print("first frame of %d starts: least %.0f, median %.0f, most %.0f ms" % (runs, times[0], times[runs // 2], times[-1]))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
