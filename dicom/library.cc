#include "dicom/library.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdict.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <mutex>

namespace {
std::mutex mutex;
bool registered = false;
} // namespace

gboolean
demur_dicom_init(GError **error) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (registered)
    return TRUE;
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);
  if (!dcmDataDict.isDictionaryLoaded()) {
    g_set_error_literal(
        error, DEMUR_ERROR, DEMUR_ERROR_STATE,
        "DCMTK's data dictionary (dicom.dic) is not found; install it (Debian: libdcmtk17) "
        "or set DCMDICTPATH to its file");
    return FALSE;
  }
  DJDecoderRegistration::registerCodecs();
  DJLSDecoderRegistration::registerCodecs();
  DcmRLEDecoderRegistration::registerCodecs();
  registered = true;
  return TRUE;
}

void
demur_dicom_cleanup(void) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!registered)
    return;
  DcmRLEDecoderRegistration::cleanup();
  DJLSDecoderRegistration::cleanup();
  DJDecoderRegistration::cleanup();
  registered = false;
}
