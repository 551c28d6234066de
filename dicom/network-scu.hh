// A user of a peer's services: what every kind of association that we open needs.
#pragma once

#include "dicom/library.h"
#include "dicom/network-common.hh"
#include "dicom/network.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/scu.h>

#include <exception>
#include <string>

class Scu : private GuardHolder, public DcmSCU {
public:
  // data_are_parsed: as in transport-guard.hh; not where the peer sends objects.
  explicit Scu(bool data_are_parsed = true) : GuardHolder(data_are_parsed) {
  }

  // The transport of the peer; false with error where its certificates can't be used.
  bool encrypt(const DemurPeer &peer, GError **error);

  // DCMTK calls every transport of one's own a secure one, encrypted or not.
  OFCondition open();
};

// "ARCHIVE at 10.0.0.5:104"
std::string demur_peer_name(const DemurPeer &peer);

void demur_scu_set_up(DcmSCU &scu, const DemurPeer &peer);

// Connects with the contexts added before. DEMUR_ERROR_STATE.
gboolean demur_scu_associate(Scu &scu, const DemurPeer &peer, GError **error);

// Runs a function that opens an association, with what they all need.
template <typename Function>
auto
demur_scu_guarded(GError **error, Function function) -> decltype(function()) {
  if (!demur_dicom_init(error))
    return {};
  demur_network_prepare();
  try {
    return function();
  } catch (const std::exception &exception) {
    demur_network_fail(error, "the network failed", exception.what());
    return {};
  }
}
