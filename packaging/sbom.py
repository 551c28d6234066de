#!/usr/bin/env python3
"""The bill of materials of built packages: what they hold and what they need, as SPDX 2.3 (JSON), and the notices
of the libraries as text.

    sbom.py OUT.spdx.json NOTICES.txt PACKAGE.deb..

Every package that a built one depends on, and those in turn, with the versions installed here, which are those that
it was built against. Alternatives count where one is installed; where none is (what only runs, such as numpy, need not be there to build),
the first stands in the bill without a version. Deterministic: sorted, dated by SOURCE_DATE_EPOCH.
The licences of a library are the short names in its Debian copyright file, as they stand there: no judgement of ours,
so licenseDeclared is NOASSERTION."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

SPDX = "SPDXRef-"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def field(deb, name):
    return output("dpkg-deb", "--field", deb, name).strip()


def names_of(depends):
    """[[alternative, ..], ..] of a Depends field, versions and architectures left out."""
    return [[re.sub(r"[\s(:\[].*", "", word.strip()) for word in group.split("|")] for group in depends.split(",")
            if group.strip()]


def installed():
    """{name: (version, source, depends, homepage)} of everything installed here."""
    table = {}
    text = output("dpkg-query", "--show", "--showformat",
                  "${Package}\t${Version}\t${source:Package}\t${db:Status-Status}\t${Homepage}\t${Pre-Depends}, ${Depends}\n")
    for line in text.splitlines():
        name, version, source, status, homepage, depends = line.split("\t", 5)
        if status == "installed":
            table[name] = (version, source, names_of(depends), homepage)
    return table


def licences_of(name):
    try:
        with open(f"/usr/share/doc/{name}/copyright", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    if "copyright-format" not in text[:2000]:
        return []
    return sorted({word.strip() for word in re.findall(r"^License:[ \t]*(\S.*)$", text, re.M)})


def closure(wanted, table):
    """Names of installed packages that the groups of alternatives need, and what those need; and of what is not installed."""
    found, missing, queue = set(), set(), list(wanted)
    while queue:
        group = queue.pop()
        there = [name for name in group if name in table]
        if not there:
            missing.add(group[0])
            continue
        for name in there[:1]:
            if name not in found:
                found.add(name)
                queue.extend(table[name][2])
    return found, missing


def taken(group, table):
    """Which of a group of alternatives the bill names: the first that is installed, else the first."""
    return next((name for name in group if name in table), group[0])


def reference(name):
    return SPDX + "Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def main(out, notices, debs):
    table = installed()
    built, packages, relations = {}, [], []
    for deb in sorted(debs):
        with open(deb, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        built[field(deb, "Package")] = (deb, field(deb, "Version"), digest,
                                        names_of(", ".join([field(deb, "Pre-Depends"), field(deb, "Depends")])))
    needed, absent = set(), set()
    for name, (deb, version, digest, depends) in sorted(built.items()):
        packages.append({
            "SPDXID": reference(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "packageFileName": os.path.basename(deb), "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
            "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
            "copyrightText": "2026 The Demur developers", "supplier": "Organization: The Demur developers"})
        relations.append((SPDX + "DOCUMENT", "DESCRIBES", reference(name)))
        own = [group for group in depends if any(word in built for word in group)]
        others = [group for group in depends if group not in own]
        for group in own:
            relations.append((reference(name), "DEPENDS_ON", reference(next(w for w in group if w in built))))
        direct, missing = closure(others, table)
        for group in others:
            relations.append((reference(name), "DEPENDS_ON", reference(taken(group, table))))
        needed |= direct
        absent |= missing
    for name in sorted(needed):
        version, source, depends, homepage = table[name]
        licences = licences_of(name)
        packages.append({
            "SPDXID": reference(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "sourceInfo": f"built from Debian source package {source}",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "licenseComments": "; ".join(licences) or "not in machine-readable form in its Debian copyright file",
            "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
            **({"homepage": homepage} if homepage else {}),
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]})
        for group in depends:
            relations.append((reference(name), "DEPENDS_ON", reference(taken(group, table))))
    for name in sorted(absent):
        packages.append({
            "SPDXID": reference(name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "comment": "no package of this name was installed where the packages were built: its version, its licence and what it needs are not known",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION", "supplier": "NOASSERTION"})
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    text = json.dumps(packages, sort_keys=True)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": SPDX + "DOCUMENT", "name": "demur",
        "documentNamespace": "urn:sha256:" + hashlib.sha256(text.encode()).hexdigest(),
        "creationInfo": {"created": created, "creators": ["Tool: demur packaging/sbom.py"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in sorted(set(relations))]}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, sort_keys=True)
        file.write("\n")
    with open(notices, "w", encoding="utf-8") as file:
        file.write("Libraries and data that demur's packages need, as Debian delivers them; none is part of them. The texts of\n"
                   "their licences: /usr/share/doc/PACKAGE/copyright where they are installed.\n\n")
        for name in sorted(needed):
            file.write(f"{name} {table[name][0]} ({table[name][1]}): {'; '.join(licences_of(name)) or 'see there'}\n")
        for name in sorted(absent):
            file.write(f"{name} (not installed where the packages were built): see there\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: sbom.py OUT.spdx.json NOTICES.txt PACKAGE.deb..")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
