// DCMTK's layer for TLS, set up from our files.
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmnet/dcmlayer.h>

#include <memory>

#include "base/error.h"
#include "dicom/tls.h"

// To be called once, before any thread: OpenSSL's own set-up.
void demur_tls_prepare();

// The layer of a server, or, with the name of the host that is called, of a caller. Null with
// DEMUR_ERROR_INPUT naming the file that can't be used and what is wanted.
std::unique_ptr<DcmTransportLayer> demur_tls_layer(const DemurTls &tls, const char *host,
                                                   GError **error);
