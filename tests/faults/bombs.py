"""Archives and folders that are small and would become huge: each is imported, or refused, in little processor time and memory; and
archives of very many genuine images, which are read.

Usage: bombs.py DEMUR [--full] [NAME ..]: --full tries a folder of a million files, and tells what each took. What counts is the
processor's time, not the clock's, and the memory above that of an import of nothing.
"""
import multiprocessing
import os
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

ONLY = [word for word in sys.argv[2:] if not word.startswith("-")]
# Of processor: ten times what the slowest takes here, and a sixth of what ends it. Without a bound each takes minutes.
SECONDS, MIB = 10.0, 64
FULL = "--full" in sys.argv
N_GENUINE = 10000


def imported(demur, folder, path):
    """Exit status, what it said, seconds of processor, peak memory in MiB."""
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8", errors="replace") as said:
        program = subprocess.Popen([demur, "--workspace", os.path.join(folder, "w.demur"), "--threads", "1", "--quiet", "--json", "dicom",
                                    "import", path], stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))  # outlives no test
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return program.returncode, said.read(1 << 24), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


CT = b"1.2.840.10008.5.1.4.1.1.2"


def element(tag, vr, value):
    """Of explicit VR."""
    value = value + (b"\0" if vr == b"UI" else b" ") * (len(value) % 2)
    head = struct.pack("<HH", *tag) + vr
    return head + (b"\0\0" + struct.pack("<I", len(value)) if vr in (b"OW", b"OB") else struct.pack("<H", len(value))) + value


# One pixel.
PIXELS = element((0x28, 2), b"US", struct.pack("<H", 1)) + element((0x28, 4), b"CS", b"MONOCHROME2") + \
    b"".join(element((0x28, word), b"US", struct.pack("<H", value))
             for word, value in ((0x10, 1), (0x11, 1), (0x100, 16), (0x101, 16), (0x102, 15), (0x103, 0))) + \
    element((0x7fe0, 0x10), b"OW", b"ab")


def head_of_image(size):
    """What stands before the pixels of a CT image whose pixels are so many bytes."""
    meta = element((2, 2), b"UI", CT) + element((2, 3), b"UI", b"1.2.3") + element((2, 0x10), b"UI", b"1.2.840.10008.1.2.1")
    return bytes(128) + b"DICM" + element((2, 0), b"UL", struct.pack("<I", len(meta))) + meta + \
        element((8, 0x16), b"UI", CT) + element((8, 0x18), b"UI", b"1.2.3") + struct.pack("<HH", 0x7fe0, 0x10) + b"OW\0\0" + struct.pack("<I", size)


def image(size):
    """A CT image of zeros, of about that many bytes."""
    return head_of_image(size + size % 2) + bytes(size + size % 2)


def zip_of(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method, compresslevel=9) as archive:
        for name, content in entries:
            archive.writestr(name, content)


def packed_zeros(mib):
    """An image of so many MiB of zeros packed once, piece by piece: its size, its checksum, and its packed bytes."""
    packer, piece, head = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(1 << 20), head_of_image(mib << 20)
    packed, crc = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH), zlib.crc32(head)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)  # after a full flush equal pieces are equal bytes
    for _ in range(mib):
        crc = zlib.crc32(piece, crc)
    return len(head) + (mib << 20), crc, packed + again * mib + packer.flush()


def zip_of_packed(path, names, size, crc, packed, once=False):
    """An archive of that one packed content under each name; once: all names point at one copy of it."""
    sizes = struct.pack("<III", crc, len(packed), size)
    body, directory = bytearray(), bytearray()
    for at, name in enumerate(names):
        place = 0 if once else len(body)
        if at == 0 or not once:
            body += b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", len(name), 0) + name + packed
        directory += b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes + \
            struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, place) + name
    with open(path, "wb") as file:
        file.write(bytes(body) + bytes(directory) + b"PK\5\6" +
                   struct.pack("<HHHHIIH", 0, 0, len(names), len(names), len(directory), len(body), 0))


def many_entries(folder):
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}", b"") for i in range(65000)), zipfile.ZIP_STORED)


def a_million_entries(folder):
    """A directory of a million, told in the ZIP64 record, of what is not there."""
    entry = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 0, 0, 0) + bytes(12) + struct.pack("<HHHHHII", 1, 0, 0, 0, 0, 0, 0) + b"a"
    n, local = 1000000, b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 0, 0, 0) + bytes(12) + struct.pack("<HH", 1, 0) + b"a"
    size = n * len(entry)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, n, n, size, len(local))
    with open(os.path.join(folder, "bomb.zip"), "wb") as file:
        file.write(local + entry * n + record + b"PK\6\7" + struct.pack("<IQI", 0, len(local) + size, 1) +
                   b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 0xffffffff, 0xffffffff, 0))


def alike_and_broken(folder):
    """Entries that begin as DICOM, of one SOPInstanceUID, each broken at another place or by other bytes: compared with no more than a few."""
    whole = image(200)
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", whole[:132 + i % 400] + struct.pack("<H", i) * 40) for i in range(20000)))


def many_images(folder):
    zip_of_packed(os.path.join(folder, "bomb.zip"), [b"%d.dcm" % i for i in range(1000)], *packed_zeros(1))


def one_of_high_ratio(folder):
    zip_of_packed(os.path.join(folder, "bomb.zip"), [b"a.dcm"], *packed_zeros(512))


def archives_within(folder):
    """Ten in ten in ten .., each level stored in the next."""
    path = os.path.join(folder, "bomb.zip")
    zip_of(path, [("a.dcm", image(1 << 20))])
    for _ in range(6):
        with open(path, "rb") as file:
            inner = file.read()
        zip_of(path, ((f"{i}.zip", inner) for i in range(10)))


def overlapping(folder):
    """One kernel of data under many names: every entry of the directory points at it."""
    zip_of_packed(os.path.join(folder, "bomb.zip"), [b"%04d" % (i % 10000) for i in range(20000)], *packed_zeros(64), once=True)


def names_that_repeat(folder):
    """Each of the same name: "a (2)", "a (3)" .. are found without a search through all."""
    directory, body, n = bytearray(), bytearray(), 60000  # bytes would be copied whole at each
    for i in range(n):
        directory += b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 0, 0, 0) + bytes(12) + struct.pack("<HHHHHII", 1, 0, 0, 0, 0, 0, len(body)) + b"a"
        body += b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 0, 0, 0) + bytes(12) + struct.pack("<HH", 1, 0) + b"a"
    with open(os.path.join(folder, "bomb.zip"), "wb") as file:
        file.write(bytes(body) + bytes(directory) + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(body), 0))


def many_objects(folder):
    """Each a readable image of its own."""
    whole = image(2)
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", whole[:-2] + struct.pack("<H", i)) for i in range(60000)))


def object_of(i, series, more=b""):
    """A readable image of one pixel, of that series."""
    meta = element((2, 2), b"UI", CT) + element((2, 3), b"UI", b"1.2.3.%d" % i) + element((2, 0x10), b"UI", b"1.2.840.10008.1.2.1")
    return bytes(128) + b"DICM" + element((2, 0), b"UL", struct.pack("<I", len(meta))) + meta + element((8, 0x16), b"UI", CT) + \
        element((8, 0x18), b"UI", b"1.2.3.%d" % i) + element((8, 0x60), b"CS", b"CT") + element((0x20, 0xe), b"UI", b"1.2.4.%d" % series) + \
        more + PIXELS


def as_many_objects_as_may_be(folder):
    """Each a readable image; of so many no archive is refused."""
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", object_of(i, 1, element((0x20, 0x13), b"IS", b"%d" % i))) for i in range(9000)))


def as_many_series_as_may_be(folder):
    """Each a readable image of a series of its own, which costs most; of so many no archive is refused."""
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", object_of(i, i)) for i in range(3000)))


def many_series(folder):
    """More than that, in as many entries as may be."""
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", object_of(i, i)) for i in range(9000)))


def frames(n, n_claimed, i=1):
    """An image of n frames of one pixel."""
    whole = object_of(i, 1)[:-len(element((0x7fe0, 0x10), b"OW", b"ab"))]
    at = whole.index(b"\x28\0\x10\0US")
    return whole[:at] + element((0x28, 8), b"IS", b"%d" % n_claimed) + whole[at:] + element((0x7fe0, 0x10), b"OW", bytes(2 * n))


def many_frames(folder):
    """Few entries of many frames of one pixel each."""
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", frames(60000, 60000, i)) for i in range(20)))


def frames_with_room(folder):
    """Frames that have the bytes of an image, all of them nothing."""
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i}.dcm", frames(4000 * 256, 4000, i)) for i in range(20)))


def files_of_frames(folder):
    """Files of a page or two that claim many frames."""
    for i in range(100):
        with open(f"{folder}/{i}.dcm", "wb") as file:
            file.write(frames(2000, 2000, i))


def a_deflated_image_of_frames(folder):
    """A page that unpacks to as many frames as there may be."""
    deflated(folder, frames(60000, 60000))


def many_small_images(folder):
    """What a study of small pieces of images may be: more images than are free, with noise."""
    def noisy(i):
        whole = object_of(i, i // 200, element((0x20, 0x13), b"IS", b"%d" % i))[:-len(PIXELS)]
        words = b"".join(element((0x28, word), b"US", struct.pack("<H", value))
                         for word, value in ((2, 1), (0x10, 32), (0x11, 32), (0x100, 16), (0x101, 16), (0x102, 15), (0x103, 0)))
        pixels = bytearray(b"\4" * 2048)
        pixels[::2] = noise.randbytes(1024)
        return whole + words + element((0x28, 4), b"CS", b"MONOCHROME2") + element((0x7fe0, 0x10), b"OW", bytes(pixels))
    noise = random.Random(1)
    zip_of(os.path.join(folder, "images.zip"), ((f"{i}.dcm", noisy(i)) for i in range(N_GENUINE)))


def names_shown_as_code_points(folder):
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i:06}" + "\u202e" * 55, b"") for i in range(60000)), zipfile.ZIP_STORED)


def long_names(folder):
    zip_of(os.path.join(folder, "bomb.zip"), ((f"{i:06}" + "n" * 60000, b"") for i in range(200)), zipfile.ZIP_STORED)


def nested_folders(folder):
    """10,000 deep: deeper than any path can name."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(10000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def many_files(folder):
    for i in range(1000000 if FULL else 50000):
        os.close(os.open(f"{folder}/{i}", os.O_CREAT | os.O_WRONLY))


def many_links(folder):
    """Each folder holds links to all: entered once."""
    for i in range(100):
        os.mkdir(f"{folder}/{i}")
    for i in range(100):
        for j in range(100):
            os.symlink(f"../{j}", f"{folder}/{i}/{j}")


def deflated(folder, whole):
    """The image in Deflated Explicit VR."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    at = 132 + 12 + struct.unpack("<I", whole[140:144])[0]
    head = whole[:at].replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.1.99")
    head = head[:140] + struct.pack("<I", len(head) - 144) + head[144:]
    at_length = head.index(b"\x02\x00\x10\x00UI") + 6
    head = head[:at_length] + struct.pack("<H", 22) + head[at_length + 2:]
    with open(os.path.join(folder, "a.dcm"), "wb") as file:
        file.write(head + packer.compress(whole[at:]) + packer.flush())


def deflated_image(folder):
    """64 KiB that unpack to 64 MiB of one element."""
    deflated(folder, image(64 << 20))


def sparse_file(folder):
    with open(os.path.join(folder, "a.dcm"), "wb") as file:
        file.write(image(100))
        file.truncate(1 << 40)


BOMBS = [many_entries, a_million_entries, alike_and_broken, many_images, one_of_high_ratio, archives_within, overlapping, names_that_repeat,
         many_objects, as_many_objects_as_may_be, as_many_series_as_may_be, many_series, many_frames, frames_with_room,
         files_of_frames, a_deflated_image_of_frames, names_shown_as_code_points, long_names, nested_folders, many_files, many_links, deflated_image, sparse_file]


GENUINE = [many_small_images]

# What is refused, by which words.
REFUSED = {
    many_objects: "the archive has 60000 entries that are packed to less than",
    many_series: "the archive has 9000 series of images that are packed to less than",
    many_frames: "60000 frames in",
    frames_with_room: "the archive has more images that are packed to less than",
    files_of_frames: "2000 frames in",
    a_deflated_image_of_frames: "60000 frames in",
}

# What is as large as may be, and what is genuine, is read: so many images of so many series.
READ = {as_many_objects_as_may_be: (9000, 1), as_many_series_as_may_be: (3000, 3000), many_small_images: (N_GENUINE, N_GENUINE // 200)}


def remove(folder):
    subprocess.run(["rm", "-rf", folder], check=False)  # any depth


def main():
    demur = os.path.abspath(sys.argv[1])
    wrong = 0
    for bomb in [bomb for bomb in BOMBS + GENUINE if not ONLY or bomb.__name__ in ONLY]:
        with tempfile.TemporaryDirectory(prefix="demur-bombs-") as folder:
            nothing = os.path.join(folder, "nothing")
            os.mkdir(nothing)
            _, _, _, usual = imported(demur, folder, nothing)
            place = os.path.join(folder, "bomb")
            os.mkdir(place)
            built = multiprocessing.Process(target=bomb, args=(place,))  # else its memory counts as the program's
            built.start()
            built.join()
            assert built.exitcode == 0, bomb.__name__
            status, said, seconds, peak = imported(demur, folder, place)
            ok = status in (0, 1) and (seconds < SECONDS and peak - usual < MIB or FULL)
            slices = [int(n) for n in re.findall(r'"n_slices": (\d+)', said)]
            if bomb in REFUSED:
                ok &= status == 1 and not slices and REFUSED[bomb] in said
            if bomb in READ:
                ok &= status == 0 and (sum(slices), len(slices)) == READ[bomb] and '"skipped": []' in said
            wrong += not ok
            print(f"{bomb.__name__}: exit {status}, {seconds:.2f} s, {peak - usual:.0f} MiB{'' if ok else ': WRONG ' + said[-300:]}", flush=True)
            remove(place)
    sys.exit(1 if wrong else 0)


main()
