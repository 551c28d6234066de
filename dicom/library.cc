#include "dicom/library.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdict.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <mutex>
#ifdef __GLIBC__
#include <malloc.h>

#include "base/error.h"
#endif

namespace {
std::mutex mutex;
bool registered = false;

// A decoder takes about two megabytes for every slice and gives them back. glibc would return them
// to the system each time, and fetching them again costs as much as half of the decoding: so each
// thread's heap keeps up to 16 MB.
void
keep_freed_memory() {
#ifdef __GLIBC__
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, 4 << 20));
  static_cast<void>(mallopt(M_TRIM_THRESHOLD, 16 << 20));
#endif
}
} // namespace

gboolean
demur_dicom_init(GError **error) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (registered)
    return TRUE;
  OFLog::configure(OFLogger::OFF_LOG_LEVEL);
  if (!dcmDataDict.isDictionaryLoaded()) {
    demur_error_set(
        error, DEMUR_ERROR_STATE,
        "DCMTK's data dictionary (dicom.dic) is not found; install it (Debian: libdcmtk17) "
        "or set DCMDICTPATH to its file");
    return FALSE;
  }
  keep_freed_memory();
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
