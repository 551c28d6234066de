// What comes to a storage server together: in one association, or in one request over HTTP. An object
// is looked at, brought to the disk and marked in the journal before it may be acknowledged; what is
// lost is marked too, in the name of who called (receiver-journal.hh). One process has one at a time.
#pragma once

#include "dicom/arrival-log.h"
#include "dicom/header.h"
#include "dicom/object-folder.h"
#include "dicom/receiver-shared.hh"

#include <map>
#include <set>
#include <string>

#include <dcmtk/config/osconfig.h>
#include <dcmtk/ofstd/oftypes.h>

// What is known of an object that came; "": not known.
struct ArrivalObject {
  std::string sop_class_uid, sop_instance_uid;
};

class Arrival {
public:
  Arrival(const DemurReceiver &receiver, ReceiverShared &shared, int pipe)
      : receiver_(receiver), shared_(shared), pipe_(pipe) {
  }
  ~Arrival() {
    demur_arrival_log_leave(log_);
  }
  Arrival(const Arrival &) = delete;
  Arrival &operator=(const Arrival &) = delete;

  // caller: in whose name it is lost what does not come.
  void begin(const std::string &caller);

  // The status of C-STORE, and the failure reason of STOW-RS (PS3.4 B.2.3, PS3.18 I.2): the object is
  // on the disk where that is success. study: whose objects alone are taken; NULL: any.
  Uint16 keep(GBytes *bytes, const char *study, ArrivalObject *object);

  // .. of an object that is not to be had: it is counted, told, and of no study.
  Uint16 out_of_room(const char *uid, const char *why);
  Uint16 reject(const char *why);

  // Brings what came to the disk and marks its studies; once. whole: nothing of it broke off.
  void close(bool whole);
  // .. and says that it ended.
  void end(bool whole);

private:
  void note_kept(const std::string &study, const char *uid);
  void note_lost(const std::string &study, const char *uid);
  Uint16 keep_in(const std::string &study, const DemurHeader &header, GBytes *bytes);
  bool has_room() const;
  DemurArrivalLog *log();
  Uint16 put(GBytes *bytes, const DemurObjectPlace &place);

  const DemurReceiver &receiver_;
  ReceiverShared &shared_;
  const int pipe_;
  std::set<std::string> touched_;            // study folders of this association
  std::set<std::string> kept_;               // .. of which objects were kept
  std::set<std::string> lacking_, unmarked_; // .. were refused; .. and the disk takes no mark of it
  std::map<std::string, std::set<std::string>> came_; // UIDs that were lost before, by study folder
  guint n_put_ = 0;
  size_t n_lost_ = 0;
  DemurArrivalLog *log_ = nullptr;
  std::string caller_;
  guint64 begun_ = 0; // its number
  bool closed_ = false;
};
