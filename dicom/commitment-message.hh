// The data sets of storage commitment, PS3.4 J.3.2 and J.3.3: what user and provider share.
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <string>
#include <vector>

struct CommitmentItem {
  std::string sop_class, instance;
  Uint16 failure = 0; // 0: none
};

struct CommitmentMessage {
  std::string transaction;
  std::vector<CommitmentItem> items, failed;
};

constexpr Uint16 commitment_request = 1;        // action type
constexpr Uint16 commitment_success = 1;        // event type
constexpr Uint16 commitment_failures = 2;       // event type: some or all failed
constexpr Uint16 commitment_no_object = 0x0112; // failure reasons
constexpr Uint16 commitment_conflict = 0x0119;

// The event type that tells of it.
inline Uint16
demur_commitment_event(const CommitmentMessage &message) {
  return message.failed.empty() ? commitment_success : commitment_failures;
}

void demur_commitment_fill(DcmItem &dataset, const CommitmentMessage &message);

// Tells the peer what became of its question, over an association of its own.
bool demur_commitment_report(const struct DemurPeer &peer, const CommitmentMessage &message);

// False where it names no transaction.
bool demur_commitment_parse(DcmItem &dataset, CommitmentMessage &message);
