// The stream of PDUs, PS3.8 section 9.3: type, reserved, length (4, big endian), body; in the body
// of a P-DATA-TF, items of length (4), context (1), control (1: bit 0 command, bit 1 last), bytes.
#include "dicom/transport-guard.hh"

#include <dcmtk/dcmnet/dcmtrans.h>

#include <cerrno>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace {

class GuardedConnection : public DcmTransportConnection {
public:
  GuardedConnection(DcmNativeSocketType socket, std::unique_ptr<DcmTransportConnection> carrier,
                    bool data_are_parsed)
      : DcmTransportConnection(socket), carrier_(std::move(carrier)),
        data_are_parsed_(data_are_parsed) {
    hurry(TCP_NODELAY);
  }

  OFCondition serverSideHandshake() override {
    return carrier_->serverSideHandshake();
  }
  OFCondition clientSideHandshake() override {
    return carrier_->clientSideHandshake();
  }
  OFCondition renegotiate(const char *suite) override {
    return carrier_->renegotiate(suite);
  }
  // DCMTK writes a PDU in two parts. The head of one with data is kept back until its body comes, and
  // both go at once: one call, one packet, and one waking of the peer, where there were two.
  ssize_t write(void *buffer, size_t size) override {
    if (kept_.empty() && size == data_head && *static_cast<const unsigned char *>(buffer) == 0x04) {
      keep(buffer, size);
      return static_cast<ssize_t>(size);
    }
    if (kept_.empty())
      return carrier_->write(buffer, size);
    if (size > max_joined)
      return send_kept() ? carrier_->write(buffer, size) : -1;
    keep(buffer, size);
    return send_kept() ? static_cast<ssize_t>(size) : -1;
  }
  void close() override {
    (void)send_kept();
    carrier_->close();
  }
  void closeTransportConnection() override {
    (void)send_kept();
    carrier_->closeTransportConnection();
  }
  unsigned long getPeerCertificateLength() override {
    return carrier_->getPeerCertificateLength();
  }
  unsigned long getPeerCertificate(void *buffer, unsigned long length) override {
    return carrier_->getPeerCertificate(buffer, length);
  }
  OFBool networkDataAvailable(int timeout) override {
    (void)send_kept();
    return carrier_->networkDataAvailable(timeout);
  }
  OFBool isTransparentConnection() override {
    return carrier_->isTransparentConnection();
  }
  OFString &dumpConnectionParameters(OFString &text) override {
    return carrier_->dumpConnectionParameters(text);
  }

  ssize_t read(void *buffer, size_t size) override {
    (void)send_kept();
    const ssize_t n = carrier_->read(buffer, size);
    hurry(TCP_QUICKACK);
    const auto *bytes = static_cast<const unsigned char *>(buffer);
    for (ssize_t i = 0; i < n; i++)
      if (!accept(bytes[i], static_cast<size_t>(n - i), i)) {
        errno = EPROTO;
        return -1;
      }
    return n;
  }

private:
  static constexpr size_t data_head = 12;     // of a P-DATA-TF and its only item
  static constexpr size_t max_joined = 65536; // a longer body goes alone

  void keep(const void *buffer, size_t size) {
    const auto *bytes = static_cast<const unsigned char *>(buffer);
    kept_.insert(kept_.end(), bytes, bytes + size);
  }

  bool send_kept() {
    size_t sent = 0;
    while (sent < kept_.size()) {
      const ssize_t n = carrier_->write(kept_.data() + sent, kept_.size() - sent);
      if (n <= 0)
        break;
      sent += static_cast<size_t>(n);
    }
    const bool all = sent == kept_.size();
    kept_.clear();
    return all;
  }

  // Nothing waits for a kernel that keeps acknowledgements back for 40 ms: neither the second part of
  // a PDU of ours, nor that of a peer that waits by Nagle's rule (DCMTK writes each PDU in two parts:
  // twice an object). The latter holds for what came by now only, so it is said behind every read.
  // Where a socket takes no such wish it is slow, and right.
  void hurry(int wish) {
    const int on = 1;
    (void)setsockopt(getSocket(), IPPROTO_TCP, wish, &on, sizeof on);
  }

  // Takes a byte, or moves *at over those of left that need no look; false where it is too much.
  bool accept(unsigned char byte, size_t left, ssize_t &at) {
    if (n_skip_ > 0) {
      const size_t n = n_skip_ < left ? n_skip_ : left;
      n_skip_ -= n;
      at += static_cast<ssize_t>(n) - 1;
      return true;
    }
    head_[n_head_++] = byte;
    if (n_head_ < 6)
      return true;
    n_head_ = 0;
    if (n_pdu_ == 0) {
      const size_t length = length_at(2);
      if (length > GuardedTransport::max_pdu)
        return false;
      (head_[0] == 0x04 ? n_pdu_ : n_skip_) = length;
      return true;
    }
    const size_t length = length_at(0);
    if (n_pdu_ < 6 || length < 2 || length > n_pdu_ - 4)
      return false;
    n_pdu_ -= length + 4;
    n_skip_ = length - 2;
    const bool command = (head_[5] & 1) != 0, last = (head_[5] & 2) != 0;
    size_t &total = command ? n_command_ : n_data_;
    total += n_skip_;
    if ((command || data_are_parsed_) && total > GuardedTransport::max_parsed)
      return false;
    if (last)
      total = 0;
    return true;
  }

  size_t length_at(size_t i) const {
    return (static_cast<size_t>(head_[i]) << 24) | (static_cast<size_t>(head_[i + 1]) << 16) |
           (static_cast<size_t>(head_[i + 2]) << 8) | head_[i + 3];
  }

  const std::unique_ptr<DcmTransportConnection> carrier_;
  const bool data_are_parsed_;
  unsigned char head_[6] = {};
  size_t n_head_ = 0;
  size_t n_pdu_ = 0;  // left of the P-DATA-TF
  size_t n_skip_ = 0; // of bytes that need no look
  size_t n_command_ = 0, n_data_ = 0;
  std::vector<unsigned char> kept_; // of a PDU whose body has not come
};

} // namespace

DcmTransportConnection *
GuardedTransport::createConnection(DcmNativeSocketType socket, OFBool) {
  std::unique_ptr<DcmTransportConnection> carrier(
      layer_ != nullptr ? layer_->createConnection(socket, OFTrue) : new DcmTCPConnection(socket));
  return carrier != nullptr ? new GuardedConnection(socket, std::move(carrier), data_are_parsed_)
                            : nullptr;
}
