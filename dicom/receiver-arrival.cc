#include "dicom/receiver-arrival.hh"

#include "dicom/data-set.h"
#include "dicom/receiver-journal.hh"

#include <dcmtk/dcmnet/dimse.h>

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file-output.h"

namespace {

constexpr size_t max_missing = 100000; // objects that could not be kept and are known by their UID
// A log is made and removed at the price of some syncs: a shorter association does without.
constexpr guint objects_without_log = 4;

const char *
folder_name(const char *uid) {
  return demur_object_is_uid(uid) ? uid : "unnamed";
}

std::string
text_of(const char *text) {
  return text != nullptr ? text : "";
}

} // namespace

void
Arrival::begin(const std::string &caller) {
  demur_receiver_count(shared_.n_associations);
  begun_ = demur_receiver_next_number(shared_);
  caller_ = caller;
}

void
Arrival::close(bool whole) {
  if (closed_)
    return;
  closed_ = true;
  if (log_ != nullptr)
    demur_receiver_say(pipe_, "L " + std::to_string(getpid()));
  demur_arrival_log_leave(g_steal_pointer(&log_));
  for (const std::string &folder : touched_) {
    const std::string open = demur_mark_open(getpid(), caller_);
    // The loss before what is mended: between them the study is no whole one.
    if (!whole)
      (void)demur_loss_of_open(folder, open, demur_receiver_next_number(shared_));
    const bool mends = whole && kept_.count(folder) > 0 && lacking_.count(folder) == 0 &&
                       lacking_.size() < demur_receiver_max_lacking(receiver_);
    demur_losses_mend(folder, {came_[folder], mends, caller_, begun_});
    if (whole)
      demur_mark_clear(folder, open.c_str());
  }
}

void
Arrival::end(bool whole) {
  close(whole);
  demur_receiver_say(pipe_, "E " + std::to_string(getpid()) + (whole ? " 1" : " 0"));
}

Uint16
Arrival::reject(const char *why) {
  demur_receiver_count(shared_.n_rejected);
  demur_receiver_tell(pipe_, std::string("an object was rejected: ") + why);
  return STATUS_STORE_Error_CannotUnderstand;
}

Uint16
Arrival::keep(GBytes *bytes, const char *study_uid, ArrivalObject *object) {
  g_autoptr(GError) cause = nullptr;
  g_autoptr(DemurSource) source = demur_source_bytes(bytes);
  const bool sound = demur_data_set_check(&source, &cause);
  g_autoptr(DemurSource) again = sound ? demur_source_bytes(bytes) : nullptr;
  g_autoptr(DemurHeader) header = again != nullptr ? demur_header_read(&again, &cause) : nullptr;
  if (header == nullptr || !demur_object_is_uid(header->sop_instance_uid))
    return reject(cause != nullptr ? cause->message : "its SOPInstanceUID is no UID");
  object->sop_class_uid = text_of(header->sop_class_uid);
  object->sop_instance_uid = header->sop_instance_uid;
  if (study_uid != nullptr && g_strcmp0(header->study_uid, study_uid) != 0) {
    (void)reject("it is of another study than the one it was sent to");
    return STATUS_STORE_Error_DataSetDoesNotMatchSOPClass;
  }
  const std::string study = std::string(receiver_.folder) + "/" + folder_name(header->study_uid);
  const Uint16 status = keep_in(study, *header, bytes);
  if (status == STATUS_Success)
    note_kept(study, header->sop_instance_uid);
  else
    note_lost(study, header->sop_instance_uid);
  return status;
}

void
Arrival::note_kept(const std::string &study, const char *uid) {
  kept_.insert(study);
  if (demur_loss_has(study, uid))
    came_[study].insert(uid);
}

void
Arrival::note_lost(const std::string &study, const char *uid) {
  // A peer may go on with ever other studies: behind so many, none that it sends is whole.
  if (lacking_.size() < demur_receiver_max_lacking(receiver_))
    lacking_.insert(study);
  const auto came = came_.find(study);
  if (came != came_.end())
    came->second.erase(uid);
  const bool marked =
      n_lost_++ < max_missing ? demur_loss_of_object(study, uid) : demur_loss_unnamed(study);
  if (marked || unmarked_.count(study) > 0)
    return;
  if (unmarked_.size() < demur_receiver_max_lacking(receiver_))
    unmarked_.insert(study);
  demur_receiver_say(pipe_,
                     "B " + std::to_string(getpid()) + " " + study.substr(study.rfind('/') + 1));
  if (touched_.count(study) > 0)
    (void)demur_open_unname(study, demur_mark_open(getpid(), caller_));
}

Uint16
Arrival::keep_in(const std::string &study, const DemurHeader &header, GBytes *bytes) {
  const char *uid = header.sop_instance_uid;
  g_autoptr(GError) cause = nullptr;
  if (!has_room())
    return out_of_room(uid, "the disk is full but for what is kept free");
  if (touched_.count(study) == 0) {
    if (!demur_folder_make(study.c_str(), &cause))
      return out_of_room(uid, cause->message);
    // Whatever ends this process, the study is told to be a part.
    const std::string open = demur_mark_open(getpid(), caller_);
    if (!demur_mark_set(study, open.c_str()))
      return out_of_room(uid, "the journal can't be written");
    touched_.insert(study);
    demur_receiver_say(pipe_, "T " + std::to_string(getpid()) + " " +
                                  folder_name(header.study_uid) + " " + open);
  }
  // Before the object: one that is there and told by no mark would never be read.
  if (!demur_mark_set(study, demur_mark_new))
    return out_of_room(uid, "the journal can't be written");
  const std::string series =
      std::string(folder_name(header.study_uid)) + "/" + folder_name(header.series_uid);
  return put(bytes, {receiver_.folder, series.c_str(), uid});
}

// Whether more than the reserve is free.
bool
Arrival::has_room() const {
  struct statvfs disk;
  return receiver_.reserve_mb == 0 || statvfs(receiver_.folder, &disk) != 0 ||
         disk.f_bavail >= (static_cast<guint64>(receiver_.reserve_mb) << 20) / disk.f_frsize;
}

// The log of this arrival; NULL while it is too short to be worth one.
DemurArrivalLog *
Arrival::log() {
  if (n_put_++ == objects_without_log)
    log_ = demur_arrival_log_open(receiver_.folder, getpid(), nullptr);
  return log_;
}

// Under the instance's name, or behind a number beside another object of that name.
Uint16
Arrival::put(GBytes *bytes, const DemurObjectPlace &place) {
  gsize n = 0;
  const auto *data = static_cast<const char *>(g_bytes_get_data(bytes, &n));
  gboolean known = FALSE;
  g_autoptr(GError) error = nullptr;
  if (!demur_object_put(&place, data, n, log(), &known, &error))
    return out_of_room(place.instance_uid, error->message);
  if (__atomic_load_n(&shared_.n_not_kept, __ATOMIC_RELAXED) > 0)
    demur_receiver_say(pipe_, std::string("K ") + place.instance_uid);
  demur_receiver_count(known ? shared_.n_known : shared_.n_received);
  return STATUS_Success;
}

Uint16
Arrival::out_of_room(const char *uid, const char *why) {
  demur_receiver_count(shared_.n_rejected);
  demur_receiver_count(shared_.n_not_kept);
  demur_receiver_say(pipe_, std::string("M ") + (uid != nullptr ? uid : "unread"));
  demur_receiver_tell(pipe_, std::string("an object could not be kept: ") + why);
  return STATUS_STORE_Refused_OutOfResources;
}
