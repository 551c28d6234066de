#include "dicom/tls-layer.hh"

#include <dcmtk/dcmnet/assoc.h>
#include <dcmtk/dcmtls/tlslayer.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>

#include <unistd.h>

#include "base/error.h"
#include "base/translate.h"
#include "base/file-input.h"
#include "base/limits.h"

namespace {

bool
fail(GError **error, const char *file, const char *what) {
  g_autofree char *name = g_filename_display_name(file != nullptr ? file : "(none)");
  demur_error_set(error, DEMUR_ERROR_INPUT, "TLS: %s %s", name, what);
  return false;
}

// OpenSSL would wait for a FIFO's writer, and read a device without an end.
bool
are_files(const DemurTls &tls, GError **error) {
  for (const char *path : {tls.authorities, tls.certificate, tls.key}) {
    guint64 size = 0;
    const int fd = path != nullptr ? demur_file_input_open(path, &size, error) : -1;
    if (path != nullptr && fd < 0)
      return false;
    if (fd >= 0)
      close(fd);
    if (size > DEMUR_LIMIT_SETTINGS_BYTES)
      return fail(error, path,
                  N_("is larger than 1 MiB: it holds more than certificates or a key"));
  }
  return true;
}

bool
load_own(DcmTLSTransportLayer &layer, const DemurTls &tls, bool server, GError **error) {
  if (tls.certificate == nullptr && tls.key == nullptr)
    return !server ||
           fail(error, nullptr, N_("is no certificate: a server needs one, and its key"));
  if (tls.certificate == nullptr || tls.key == nullptr)
    return fail(error, tls.certificate != nullptr ? tls.certificate : tls.key,
                N_("stands alone: a certificate and its key go together"));
  if (layer.setPrivateKeyFile(tls.key, DCF_Filetype_PEM).bad())
    return fail(error, tls.key, N_("can't be read as a private key (PEM, without a password)"));
  if (layer.setCertificateFile(tls.certificate, DCF_Filetype_PEM).bad())
    return fail(error, tls.certificate, N_("can't be read as a certificate (PEM)"));
  return layer.checkPrivateKeyMatchesCertificate() ||
         fail(error, tls.key, N_("is not the key of the certificate"));
}

// OpenSSL itself compares the certificate with the name, or the address, that was called.
bool
expect_host(DcmTLSTransportLayer &layer, const char *host) {
  X509_VERIFY_PARAM *wanted = SSL_CTX_get0_param(layer.getNativeHandle());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_ip_asc(wanted, host) == 1 ||
         X509_VERIFY_PARAM_set1_host(wanted, host, 0) == 1;
}

} // namespace

void
demur_tls_prepare() {
  DcmTLSTransportLayer::initializeOpenSSL();
}

std::unique_ptr<DcmTransportLayer>
demur_tls_layer(const DemurTls &tls, const char *host, GError **error) {
  const bool server = host == nullptr;
  if (!are_files(tls, error))
    return nullptr;
  auto layer = std::make_unique<DcmTLSTransportLayer>(server ? NET_ACCEPTOR : NET_REQUESTOR,
                                                      nullptr, OFFalse);
  if (!*layer || layer->setTLSProfile(TSP_Profile_BCP195_ND).bad()) {
    (void)fail(error, nullptr, N_("is not provided by this machine's OpenSSL"));
    return nullptr;
  }
  if (tls.authorities == nullptr) {
    (void)fail(error, nullptr,
               N_("names no authorities: give the certificates that are trusted (PEM)"));
    return nullptr;
  }
  if (layer->addTrustedCertificateFile(tls.authorities, DCF_Filetype_PEM).bad()) {
    (void)fail(error, tls.authorities, N_("can't be read as certificates of authorities (PEM)"));
    return nullptr;
  }
  if (!load_own(*layer, tls, server, error))
    return nullptr;
  layer->setCertificateVerification(server && tls.any_caller ? DCV_checkCertificate
                                                             : DCV_requireCertificate);
  if (layer->activateCipherSuites().bad() || (!server && !expect_host(*layer, host))) {
    (void)fail(error, host, N_("can't be called by TLS"));
    return nullptr;
  }
  return layer;
}
