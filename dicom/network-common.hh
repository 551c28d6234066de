// What users and servers of the DICOM network share: DCMTK's network set up once, its words, and
// the holder of the transport guard.
#pragma once

#include <glib.h>

#include <memory>
#include <string>

#include "dicom/transport-guard.hh"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/ofstd/oflist.h>
#include <dcmtk/ofstd/ofstring.h>

#include "dicom/transfer-syntax.h"

class OFCondition;

// UIDs of the transfer syntaxes that are exchanged so, in the order in which they are preferred.
OFList<OFString> demur_network_syntaxes(DemurExchange exchange);

// DCMTK's words, on one line.
std::string demur_condition_words(const OFCondition &condition);

// Initialises the network layer; any number of times.
void demur_network_prepare();

// DEMUR_ERROR_STATE "what: why"; always FALSE.
gboolean demur_network_fail(GError **error, const char *what, const char *why);

// Before the base that uses it, so that it is there until that is gone.
struct GuardHolder {
  explicit GuardHolder(bool data_are_parsed) : guard(data_are_parsed) {
  }
  GuardedTransport guard;
  std::unique_ptr<DcmTransportLayer> tls_; // carries guard; null: nothing is encrypted
};
