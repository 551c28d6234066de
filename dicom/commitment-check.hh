// Which of the objects that a peer asks about a storage server's folder holds.
#pragma once

#include "dicom/commitment-message.hh"

// Splits message.items into those that are there, of that SOP class, and message.failed with why.
// Each folder below is listed once.
void demur_commitment_check(const char *folder, CommitmentMessage &message);
