#include "dicom/network-scu.hh"
#include "dicom/tls-layer.hh"

bool
Scu::encrypt(const DemurPeer &peer, GError **error) {
  if (peer.tls == nullptr)
    return true;
  tls_ = demur_tls_layer(*peer.tls, peer.host, error);
  guard.carry_by(tls_.get());
  return tls_ != nullptr;
}

OFCondition
Scu::open() {
  const OFCondition condition = initNetwork();
  return condition.good() ? useSecureConnection(&guard) : condition;
}

std::string
demur_peer_name(const DemurPeer &peer) {
  return std::string(peer.called) + " at " + peer.host + ":" + std::to_string(peer.port);
}

void
demur_scu_set_up(DcmSCU &scu, const DemurPeer &peer) {
  scu.setAETitle(peer.calling);
  scu.setPeerAETitle(peer.called);
  scu.setPeerHostName(peer.host);
  scu.setPeerPort(static_cast<Uint16>(peer.port));
  scu.setDIMSEBlockingMode(DIMSE_NONBLOCKING);
  scu.setDIMSETimeout(peer.timeout_seconds);
  scu.setACSETimeout(peer.timeout_seconds);
  scu.setConnectionTimeout(static_cast<Sint32>(peer.timeout_seconds));
}

gboolean
demur_scu_associate(Scu &scu, const DemurPeer &peer, GError **error) {
  if (!scu.encrypt(peer, error))
    return FALSE;
  OFCondition condition = scu.open();
  if (condition.good())
    condition = scu.negotiateAssociation();
  if (condition.good())
    return TRUE;
  const std::string what = "no association with " + demur_peer_name(peer);
  return demur_network_fail(error, what.c_str(), demur_condition_words(condition).c_str());
}
