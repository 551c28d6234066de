// DCMTK parses every command, and every answer to a query, while it comes in, and its parser calls
// itself for each level of nesting: a peer could overflow its stack. This transport counts what
// comes before DCMTK sees it and ends the connection where a message that DCMTK would parse grows
// beyond any honest size; 16 bytes are needed for a level, so nesting stays where the stack holds.
// It also asks the kernel to hold no small packet and no acknowledgement back.
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/dcmlayer.h>

#include <cstddef>

class GuardedTransport : public DcmTransportLayer {
public:
  static constexpr size_t max_pdu = 1u << 20;
  static constexpr size_t max_parsed = 16384; // bytes of one command, or one answer

  // data_are_parsed: data sets too, not only commands (they go to files unparsed in a receiver).
  explicit GuardedTransport(bool data_are_parsed) : data_are_parsed_(data_are_parsed) {
  }

  // What carries the bytes: TLS. Borrowed; without it they go as they are.
  void carry_by(DcmTransportLayer *layer) {
    layer_ = layer;
  }

  DcmTransportConnection *createConnection(DcmNativeSocketType socket,
                                           OFBool use_secure_layer) override;

private:
  bool data_are_parsed_;
  DcmTransportLayer *layer_ = nullptr;
};
