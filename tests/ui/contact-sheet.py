"""Every page in every look as pictures, and a sheet of small ones a page, for a person to look at.

Usage: contact-sheet.py BUILD_FOLDER WORKSPACE FOLDER [PAGE [OPTION ..]]
A display must be there: xvfb-run -s "-screen 0 5200x2960x24" contact-sheet.py ...
"""
import os
import re
import subprocess
import sys

import gi

gi.require_version("GdkPixbuf", "2.0")
from gi.repository import GdkPixbuf  # noqa: E402

from looks import LOOKS, MORE, environment  # noqa: E402

WIDTH, GAP, ACROSS = 640, 8, 3
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ui", "page.c"), encoding="utf-8") as source:
    PAGES = re.findall(r'\[DEMUR_PAGE_\w+\] = "(\w+)"', source.read())


def draw(build, workspace, folder, page, look):
    """The picture's file."""
    size, scale, dots, theme, language = look
    file = os.path.join(folder, f"{page}-{size}-x{scale}-{dots * 100 // 96}-{theme}-{language}.png")
    base = dict(os.environ, GDK_BACKEND="x11", GSK_RENDERER="cairo", GSETTINGS_BACKEND="memory",
                XDG_CONFIG_HOME=os.path.join(folder, "config"), DEMUR_LOCALEDIR=os.path.join(build, "po", "locale"))
    if base.get("LC_ALL", "C").startswith("C"):
        base["LC_ALL"] = "C.UTF-8"
    subprocess.run([os.path.join(build, "app", "demur-workstation"), "--workspace", workspace, "--screenshot", page, file, "--size",
                    size, "--theme", theme, *sys.argv[5:]], check=True, env=environment(look, folder, base))
    return file


def sheet(files, file):
    pictures = [GdkPixbuf.Pixbuf.new_from_file_at_scale(one, WIDTH, -1, True).add_alpha(False, 0, 0, 0) for one in files]
    height = max(picture.get_height() for picture in pictures)
    rows = -(-len(pictures) // ACROSS)
    whole = GdkPixbuf.Pixbuf.new(GdkPixbuf.Colorspace.RGB, True, 8, ACROSS * (WIDTH + GAP), rows * (height + GAP))
    whole.fill(0x808080ff)
    for i, picture in enumerate(pictures):
        picture.copy_area(0, 0, picture.get_width(), picture.get_height(), whole, i % ACROSS * (WIDTH + GAP),
                          i // ACROSS * (height + GAP))
    whole.savev(file, "png", [], [])


def main():
    build, workspace, folder = (os.path.abspath(word) for word in sys.argv[1:4])
    os.makedirs(folder, exist_ok=True)
    for page in [sys.argv[4]] if len(sys.argv) > 4 else PAGES:
        sheet([draw(build, workspace, folder, page, look) for look in LOOKS + MORE], os.path.join(folder, f"sheet-{page}.png"))
        print(os.path.join(folder, f"sheet-{page}.png"), flush=True)


main()
