"""packaging/install-missing.sh waits for whoever holds apt's locks, and for nobody else.

apt-get is one of ours that fails where a lock of its lists is held, as the true one does (it waits for dpkg's lock alone), and here a
process holds one until the script has slept for the fifth time. A failure behind which no lock is held is tried three times. Nothing is
installed, and no second is waited.

Usage: apt-locks.py SOURCES   (77 where the kernel does not tell its locks, or apt's are not there)
"""
import os
import subprocess
import sys
import tempfile

LOCK = "/var/lib/apt/lists/lock"
HOLD = "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); time.sleep(600)"
TAKE = 'import fcntl, sys; fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)'


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def tried(sources, folder, apt, sleep):
    """(exit status, what apt-get was asked for, how often it was slept)."""
    write(folder, "apt-get", f'echo "$*" >> {folder}/asked\n{apt}')
    write(folder, "sleep", f"echo >> {folder}/slept\n{sleep}")
    for name in ("asked", "slept"):
        open(os.path.join(folder, name), "w", encoding="utf-8").close()  # pylint: disable=consider-using-with
    status = subprocess.run(["sh", os.path.join(sources, "packaging", "install-missing.sh"), "one", "two"],
                            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, check=False).returncode
    with open(os.path.join(folder, "asked"), encoding="utf-8") as asked, open(os.path.join(folder, "slept"), encoding="utf-8") as slept:
        return status, asked.read().splitlines(), len(slept.readlines())


def main():
    sources = sys.argv[1]
    if not os.path.exists("/proc/locks") or not os.path.exists(LOCK):
        print(f"skipped: no /proc/locks, or no {LOCK}: this is no Debian")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        lock = os.path.join(folder, "lock")
        write(folder, "dpkg-query", "exit 1\n")
        write(folder, "id", "echo 0\n")
        with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdout=subprocess.PIPE) as holder:
            holder.stdout.readline()
            inode = os.stat(lock).st_ino
            write(folder, "stat", f"echo {inode}\n")
            released = f"""[ $(wc -l < {folder}/slept) -lt 5 ] || kill {holder.pid} 2> /dev/null
while [ $(wc -l < {folder}/slept) -ge 5 ] && grep -q ":{inode} " /proc/locks; do :; done
"""
            try:
                status, asked, slept = tried(sources, folder, f"exec {sys.executable} -c '{TAKE}' {lock} 2> /dev/null\n", released)
            finally:
                holder.kill()
        assert status == 0 and slept == 5, (status, slept)
        assert [line.split()[3:] for line in asked] == 6 * [["update"]] + [["install", "-y", "--no-install-recommends", "one", "two"]], asked
        assert all(line.startswith("-o DPkg::Lock::Timeout=") for line in asked), asked
        status, asked, slept = tried(sources, folder, "exit 100\n", "")
        assert status == 1 and len(asked) == 3 and slept == 2, (status, asked, slept)
    print("waited for a lock that was held, and gave up where none was")


main()
