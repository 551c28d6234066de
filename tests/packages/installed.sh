#!/bin/sh
# Packages where they are installed: in a bookworm made anew (debootstrap, from the mirror that apt has), which piuparts fills and
# empties, in which the command line works without the window, and where the program is upgraded beneath a workspace in use
# and removed from beside it.
# Usage: installed.sh FOLDER_OF_PACKAGES [OLDER_DEMUR.deb]   (77 where the tools, root or the mirror are not to be had)
#
# OLDER_DEMUR.deb: the demur package that is upgraded from. Without it, these packages under a lower version. BOOKWORM: a tar.gz of a
# bookworm that was made before (minbase, with apt's lists), in place of a new one.
set -eu
for tool in debootstrap piuparts; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed; packaging/dependencies-long.sh installs it"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: a system is made by root alone"; exit 77; }
sources=/etc/apt/sources.list.d/debian.sources
mirror=$(sed -n 's/^URIs: *//p' $sources 2>/dev/null | head -n 1)
[ -n "$mirror" ] || { echo "skipped: $sources names no mirror"; exit 77; }
packages=$(readlink -f "$1")
older=${2:+$(readlink -f "$2")}
work=$(mktemp -d)
root=$work/root
finish() {
  for place in proc packages; do
    ! mountpoint -q "$root/$place" || umount "$root/$place"
  done
  rm -rf --one-file-system "$work"
}
trap finish EXIT
quietly() { # what a command says is told where it fails
  "$@" >"$work/log" 2>&1 || { echo "failed: $*"; tail -n 60 "$work/log"; exit 1; }
}
within() { chroot "$root" "$@"; }
refuse() { echo "$1"; exit 1; }

mkdir "$root"
base=${BOOKWORM:-$work/base.tar.gz}
if [ -n "${BOOKWORM:-}" ]; then
  tar -C "$root" -xzf "$base"
else
  quietly debootstrap --variant=minbase bookworm "$root" "$mirror"
  cp $sources "$root/etc/apt/sources.list.d/"
  : >"$root/etc/apt/sources.list"
  cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  quietly within apt-get update
  tar -C "$root" -czf "$base" .
fi

# What systemd makes at its own installation (the window brings it, by GTK, dconf and the D-Bus daemon) and leaves behind is none of
# ours: its folders (/usr/lib/tmpfiles.d/systemd.conf, provision.conf), each by its name (with the stroke at its end by which piuparts
# knows a folder). Anything else that stays is an error.
set --
home=$(awk -F: '$3 == 0 { print $6; exit }' "$root/etc/passwd")
for folder in "$home/.ssh" /var/cache/private /var/lib/private /var/log/private /var/lib/systemd/coredump /var/lib/systemd/pstore; do
  set -- "$@" --ignore "$folder/"
done
quietly piuparts --distribution bookworm --mirror "$mirror" --basetgz "$base" --no-upgrade-test "$@" "$packages"/*.deb
grep -q 'PASS: All tests' "$work/log" || refuse "piuparts tested nothing"
echo "piuparts: installed and purged, nothing is left"

# The command line alone.
export DEBIAN_FRONTEND=noninteractive
mkdir "$root/packages" "$root/srv/ward"
mount --bind "$packages" "$root/packages"
mount -t proc proc "$root/proc"
if [ -z "$older" ]; then
  dpkg-deb -R "$packages"/demur_*.deb "$work/older"
  sed -i 's/^Version: .*/&~before/' "$work/older/DEBIAN/control"
  older=$work/demur-before.deb
  quietly dpkg-deb -b "$work/older" "$older"
fi
cp "$older" "$root/older.deb"
quietly within apt-get install -y --no-install-recommends /older.deb
before=$(within dpkg-query -W -f '${Version}' demur)
! within dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'libgtk-*' libwayland-client0 libepoxy0 2>/dev/null | grep -q ' installed' ||
  refuse "the command line brings a window's libraries"
workspace=/srv/ward/w.demur
program() { within demur --workspace "$workspace" --quiet "$@"; }
program cohort simulate c --scans 400 --base-train 400 --sites 4 --tune 200 --test 200 >/dev/null
program train s --cohort c --method confidence >/dev/null
program tune s --cohort c --coverage 0.8 >/dev/null
program assess s --cohort c >/dev/null
program verify >/dev/null
program export /srv/ward/before.csv --cohort c >/dev/null

# A program that runs while its files are replaced ends by itself, and its workspace is whole.
within demur --workspace "$workspace" --quiet --threads 1 train long --cohort c --method network --epochs 200 >"$work/long" 2>&1 &
running=$!
sleep 2
kill -0 $running 2>/dev/null || refuse "the training that should be in the way ended at once: $(cat "$work/long")"
quietly within sh -c 'apt-get install -y --no-install-recommends /packages/demur_*.deb'
after=$(within dpkg-query -W -f '${Version}' demur)
[ "$before" != "$after" ] || refuse "$before was not upgraded"
program verify >/dev/null
if wait $running; then ended=kept; else ended=refused; fi
program verify >/dev/null
program export /srv/ward/after.csv --cohort c >/dev/null
python3 - "$root/srv/ward" <<'END' || refuse "the upgrade changed verdicts"
import csv
import sys
before, after = (list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8"))) for name in ("before", "after"))
# Every column that the older program wrote (a newer one may have more), but for the log's head, which has gone on, and
# sentences, which may be worded anew.
names = [name for name in before[0] if name not in ("log_head", "reasons", "next_step", "out_of_date_because")]
assert len(names) > 20 and [[row.get(name) for name in names] for row in after] == [[row[name] for name in names] for row in before]
END
program report /srv/ward/r.pdf --selector s --cohort c >/dev/null
echo "upgraded from $before to $after beneath a training ($ended) and a workspace, whose verdicts are the same"

# Removed, then purged: what people made stays, and the package's own goes.
quietly within apt-get purge -y demur
[ ! -e "$root/usr/bin/demur" ] || refuse "the program is left"
test -s "$root$workspace" || refuse "the workspace went with the package"
left=$(find "$root" -xdev -path "$root/home" -prune -o -iname '*demur*' -print | grep -vE "^$root/(older.deb|packages|var/(log|cache|lib/(apt|dpkg))/)" || true)
[ -z "$left" ] || refuse "left behind: $left"
quietly within sh -c 'apt-get install -y --no-install-recommends /packages/demur_*.deb'
program verify >/dev/null
echo "removed and purged: the workspace stays, and is opened by the package installed anew"
