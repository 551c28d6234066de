// One connection of STOW-RS, in a process of its own (receiver.cc).
#pragma once

#include "dicom/receiver-shared.hh"

// Serves the one request of the connected socket and returns when the connection has ended: as a
// silent or slow peer's does, by SIGALRM, which ends the process.
void demur_stow_serve(const DemurReceiver &receiver, ReceiverShared &shared, ReceiverSlot &slot,
                      int pipe, int connection);
