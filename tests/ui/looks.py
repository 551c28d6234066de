"""How readers' screens differ: sizes of the window, scale, size of text, theme, language."""
import os
import subprocess
import sys

# Size (at scale 2 half of the screen's: 1280x720 of 2560x1440), scale, size of text (96 are 100 %), theme, language ("xx": 40 % longer words, "rtl": from right to left too).
LOOKS = [("1024x768", 1, 96, "dark", "C"), ("1280x800", 1, 96, "light", "C"), ("1920x1080", 1, 96, "contrast", "C"),
         ("2560x1440", 1, 96, "dark", "C"), ("1280x720", 2, 96, "dark", "de"), ("1280x800", 1, 144, "dark", "C"),
         ("1920x1080", 1, 192, "light", "C"), ("1024x768", 1, 96, "dark", "de"), ("1280x800", 1, 96, "light", "de"),
         ("1280x800", 1, 96, "dark", "xx"), ("1920x1080", 1, 144, "contrast", "xx"), ("1280x800", 1, 96, "dark", "rtl")]
# Those with the least room for their words: a doubled scale, text twice as large, German in the smallest window, and from right to left.
# long/nothing-is-cut looks at all of them, English in the smallest window too.
TIGHT = [LOOKS[4], LOOKS[6], LOOKS[7], LOOKS[11]]
# Beside them on the sheets that a person looks at.
MORE = [("2560x1440", 2, 96, "dark", "C"), ("1440x900", 1, 96, "dark", "de"), ("1920x1080", 1, 96, "light", "de"), ("1024x768", 1, 96, "light", "rtl")]

HERE = os.path.dirname(os.path.abspath(__file__))


def environment(look, folder, base):
    """The environment in which the program has that look; languages that nobody speaks are made in folder."""
    _, scale, dots, _, language = look
    made = dict(base, GDK_SCALE=str(scale), LANGUAGE="de" if language == "de" else "xx")
    if language == "C":
        made.update(LANGUAGE="C", LC_ALL="C.UTF-8")
    if language in ("xx", "rtl"):
        words = os.path.join(folder, language)
        subprocess.run([sys.executable, os.path.join(HERE, "pseudo.py"), os.path.join(HERE, "..", "..", "po", "de.po"),
                        words, language], check=True)
        made["DEMUR_LOCALEDIR"] = words
    settings = os.path.join(made["XDG_CONFIG_HOME"], "gtk-4.0")
    os.makedirs(settings, exist_ok=True)
    with open(os.path.join(settings, "settings.ini"), "w", encoding="utf-8") as file:
        # Of the font, not of the dots an inch: without a desktop's settings the toolkit takes 96 of those on X11.
        file.write(f"[Settings]\ngtk-font-name=Sans {10 * dots / 96:g}\n")
    return made
