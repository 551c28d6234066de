#include "dicom/save-file.hh"

#include <dcmtk/dcmdata/dcostrma.h>
#include <dcmtk/dcmdata/dcwcache.h>

#include <limits>

#include "base/error.h"

namespace {

// Where DCMTK's stream ends: in an output of ours.
class Consumer : public DcmConsumer {
public:
  explicit Consumer(DemurFileOutput *output) : output_(output) {
  }
  ~Consumer() override {
    g_clear_error(&error_);
  }
  Consumer(const Consumer &) = delete;
  Consumer &operator=(const Consumer &) = delete;
  OFBool good() const override {
    return error_ == nullptr;
  }
  OFCondition status() const override {
    return error_ == nullptr ? EC_Normal : EC_InvalidStream;
  }
  OFBool isFlushed() const override {
    return OFTrue;
  }
  offile_off_t avail() const override {
    return std::numeric_limits<Sint32>::max(); // never asks the object to wait
  }
  offile_off_t write(const void *bytes, offile_off_t n) override {
    if (error_ != nullptr ||
        !demur_file_output_write(output_, bytes, static_cast<size_t>(n), &error_))
      return 0;
    return n;
  }
  void flush() override {
  }
  GError *take() {
    return g_steal_pointer(&error_);
  }

private:
  DemurFileOutput *output_;
  GError *error_ = nullptr;
};

class Stream : public DcmOutputStream {
public:
  explicit Stream(Consumer *consumer) : DcmOutputStream(consumer) {
  }
};

} // namespace

gboolean
demur_save_file(DcmFileFormat &file, const char *path, E_TransferSyntax syntax,
                E_GrpLenEncoding group_length, DemurFileFlags flags, GError **error) {
  g_autoptr(DemurFileOutput) output = demur_file_output_open(path, flags, error);
  if (output == nullptr)
    return FALSE;
  Consumer consumer(output);
  Stream stream(&consumer);
  DcmWriteCache cache;
  file.transferInit();
  OFCondition condition =
      file.write(stream, syntax, EET_ExplicitLength, &cache, group_length, EPD_noChange);
  file.transferEnd();
  stream.flush(); // a deflated object's last bytes
  GError *cause = consumer.take();
  if (cause != nullptr) {
    g_propagate_error(error, cause);
    return FALSE;
  }
  if (condition.good())
    condition = stream.status();
  if (condition.bad()) {
    demur_error_set(error, DEMUR_ERROR_OUTPUT,
                    "%s can't be written as DICOM: %s; the object it would hold is not sound", path,
                    condition.text());
    return FALSE;
  }
  return demur_file_output_commit(output, error);
}
