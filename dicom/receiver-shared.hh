// What the processes of a storage server share (receiver.cc): numbers in one memory, and a pipe of
// lines to its caller.
#pragma once

#include "dicom/receiver.h"

#include <string>

#include <netinet/in.h>
#include <sys/types.h>

// Of a connection: free; accepted; an association, or a request whose head came whole.
enum ReceiverStage : int { receiver_free, receiver_pending, receiver_associated };

// Where it came in.
enum ReceiverDoor : int { receiver_door_dimse, receiver_door_stow, receiver_n_doors };

struct ReceiverSlot {
  int stage, door;
  pid_t pid;
  char host[INET6_ADDRSTRLEN];
};

constexpr int receiver_max_slots = 2048 + 64;

// Shared by all processes; every member is changed atomically.
struct ReceiverShared {
  guint64 n_associations, n_refused, n_broken, n_received, n_rejected, n_known, n_not_kept;
  guint64 last_number; // of beginnings of associations and losses, in one sequence
  int n_open;
  ReceiverSlot slots[receiver_max_slots];
};

void demur_receiver_count(guint64 &number);
guint64 demur_receiver_next_number(ReceiverShared &shared);

// A whole line to the caller; what does not fit a line is cut.
void demur_receiver_say(int pipe, std::string line);
// .. a sentence for a person.
void demur_receiver_tell(int pipe, const std::string &sentence);

// Studies of which a process knows what lacks while the disk takes no mark of it.
size_t demur_receiver_max_lacking(const DemurReceiver &receiver);
