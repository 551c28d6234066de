"""What the normal tests cost: processor seconds of each, with all that it started, those that cost most first, and their sum.

Usage: costs.py BUILD [REGEX]: one by one, those whose name holds REGEX. No test fails by its time: the clock of a busy machine is
another's, and so is the processor's by a quarter. What stands above MOST is told, and belongs to the long tests or made cheaper.
"""
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import time

MOST = 30  # an eightieth of what two processors do in 20 minutes
PR_SET_CHILD_SUBREAPER = 36


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def reap():
    """What a test left running ends with its display or its server: waited for, so that it is counted."""
    end = time.monotonic() + 3
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return


def main():
    build, pattern = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    listed = subprocess.run(["ctest", "--test-dir", build, "-LE", "long", "--show-only=json-v1"], capture_output=True, text=True, check=True)
    costs = []
    for test in json.loads(listed.stdout)["tests"]:
        if not pattern.search(test["name"]):
            continue
        properties = {each["name"]: each["value"] for each in test["properties"]}
        environment = dict(os.environ, **dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", [])))
        before = used()
        result = subprocess.run(test["command"], cwd=properties.get("WORKING_DIRECTORY"), env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, check=False)
        reap()
        skipped = result.returncode == properties.get("SKIP_RETURN_CODE")
        costs.append((used() - before, test["name"], "skipped" if skipped else "" if result.returncode == 0 else f"failed ({result.returncode})"))
    for seconds, name, how in sorted(costs, reverse=True):
        print(f"{seconds:8.2f} {name} {'over ' + str(MOST) if seconds > MOST else ''} {how}".rstrip())
    print(f"{sum(cost[0] for cost in costs):8.2f} in all, {len(costs)} tests")


main()
