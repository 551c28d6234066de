#include "dicom/network-common.hh"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/dul.h>
#include <dcmtk/ofstd/ofcond.h>
#include <dcmtk/ofstd/ofstd.h>

#include <csignal>
#include <mutex>

#include "base/error.h"
#include "dicom/tls-layer.hh"

std::string
demur_condition_words(const OFCondition &condition) {
  std::string text = condition.text() != nullptr ? condition.text() : "unknown";
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return text;
}

OFList<OFString>
demur_network_syntaxes(DemurExchange exchange) {
  OFList<OFString> uids;
  size_t n;
  const DemurTransferSyntax *syntaxes = demur_transfer_syntaxes(&n);
  for (size_t i = 0; i < n; i++)
    if (syntaxes[i].exchange == exchange)
      uids.push_back(syntaxes[i].uid);
  return uids;
}

void
demur_network_prepare() {
  static std::once_flag once;
  std::call_once(once, [] {
    OFStandard::initializeNetwork();
    demur_tls_prepare();
    // A peer that goes away must be an error, not the end of the program.
    std::signal(SIGPIPE, SIG_IGN);
    // Addresses are compared as they are; no name server is asked.
    dcmDisableGethostbyaddr.set(OFTrue);
  });
}

gboolean
demur_network_fail(GError **error, const char *what, const char *why) {
  demur_error_set(error, DEMUR_ERROR_STATE, "%s: %s", what, why);
  return FALSE;
}
