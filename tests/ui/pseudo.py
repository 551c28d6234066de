"""A language that nobody speaks, to see whether every text has its place: each text of a complete translation with words half as
long again at the least (40 %), between brackets, so that what is cut or not translated is seen.

Usage: pseudo.py DE.PO FOLDER [rtl]     writes FOLDER/xx/LC_MESSAGES/demur.mo
"""
import os
import re
import subprocess
import sys

KEPT = re.compile(r"(%(?:[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z%]|\"[^\"]*\")|_(?=\w)|\\.|\n|<[^>]*>)")
ENDS = re.compile(r'(\nmsgstr(?:\[\d\])? ".*"(?:\n".*")*)\n(?=#|msgid|msgctxt)')  # of an entry, with or without a blank line
LONGER = str.maketrans({"a": "aâ", "e": "eê", "i": "iî", "o": "oô", "u": "uû", "n": "nñ"})


def longer(text):
    """40 % more letters at least, with formats, mnemonics and line ends as they are."""
    parts = KEPT.split(text)
    said = "".join(part if i % 2 else part.translate(LONGER) for i, part in enumerate(parts))
    missing = int(len(text) * 1.4) - len(said) - 2
    while missing > 0:  # few vowels: words of their own
        said, missing = said + " ~" + "x" * min(missing, 6), missing - 8
    head = re.match(r"\s*", said).group()
    tail = re.search(r"\s*$", said[len(head):]).group()
    return head + "⟦" + said[len(head):len(said) - len(tail)] + "⟧" + tail


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def read(block):
    """Fields of an entry: {msgid: .., msgid_plural: .., msgctxt: ..}."""
    fields, name = {}, None
    for line in block.splitlines():
        match = re.match(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d\])?) "(.*)"$', line)
        if match:
            name, fields[match.group(1)] = match.group(1), match.group(2)
        elif line.startswith('"') and name:
            fields[name] += line[1:-1]
    return {key: value.encode().decode("unicode_escape").encode("latin-1").decode() for key, value in fields.items()}


def main():
    catalogue, folder = sys.argv[1:3]
    rtl = "rtl" in sys.argv[3:]
    out = ['msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n != 1;\\n"\n']
    with open(catalogue, encoding="utf-8") as file:
        blocks = ENDS.sub(r"\1\n\n", file.read()).split("\n\n")
    for block in blocks:
        entry = read(block)
        text = entry.get("msgid")
        if not text:
            continue
        flags = [line for line in block.splitlines() if line.startswith("#,") and "fuzzy" not in line]
        # What is no word: the direction of text, and how a number is written.
        kept = {"default:LTR": "default:RTL" if rtl else "default:LTR", "1,337.5": "1,337.5"}
        say = lambda t: kept.get(t) or longer(t)
        lines = flags + ([f"msgctxt {quote(entry['msgctxt'])}"] if "msgctxt" in entry else []) + [f"msgid {quote(text)}"]
        if "msgid_plural" in entry:
            lines += [f"msgid_plural {quote(entry['msgid_plural'])}", f"msgstr[0] {quote(say(text))}",
                      f"msgstr[1] {quote(say(entry['msgid_plural']))}"]
        else:
            lines.append(f"msgstr {quote(say(text))}")
        out.append("\n".join(lines) + "\n")
    target = os.path.join(folder, "xx", "LC_MESSAGES")
    os.makedirs(target, exist_ok=True)
    with open(os.path.join(folder, "xx.po"), "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    subprocess.run(["msgfmt", "-c", "-o", os.path.join(target, "demur.mo"), os.path.join(folder, "xx.po")], check=True,
                   stderr=subprocess.DEVNULL)


main()
