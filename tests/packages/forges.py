"""What forges run of a push is packaging/check.sh on Debian 12, in files that they can read.

Usage: forges.py SOURCES   (77 where PyYAML is not installed)
"""
import os
import stat
import sys

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML (python3-yaml)")
    sys.exit(77)

CHECK = "sh packaging/check.sh"


def read(sources, *path):
    with open(os.path.join(sources, *path), encoding="utf-8") as file:
        return yaml.safe_load(file)


def main():
    sources = sys.argv[1]
    hub = read(sources, ".github", "workflows", "check.yml")
    assert set(hub) == {"name", True, "permissions", "jobs"}, set(hub)  # `on` is a truth in YAML 1.1, and GitHub's own readers know it
    assert hub[True] == ["push", "pull_request"] and hub["permissions"] == {"contents": "read"}
    job = hub["jobs"]["check"]
    assert job["container"] == "debian:bookworm" and job["steps"][-1] == {"run": CHECK}, job
    assert [step for step in job["steps"] if "checkout" in step.get("uses", "")], job
    lab = read(sources, ".gitlab-ci.yml")["check"]
    assert lab["image"] == "debian:bookworm" and lab["script"] == [CHECK], lab
    with open(os.path.join(sources, ".ci", "run"), encoding="utf-8") as file:
        assert file.read().splitlines()[-1] == f"exec {CHECK}"
    assert os.stat(os.path.join(sources, ".ci", "run")).st_mode & stat.S_IXUSR
    assert os.path.exists(os.path.join(sources, *CHECK.split()[1].split("/")))
    print("three forges run check.sh")


main()
