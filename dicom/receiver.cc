// Processes: the caller (settles studies) <- one pipe of lines <- a listener (accepts, checks the
// host, limits) -> a process for each connection (one association). Numbers, and who is at which
// stage, are in memory that all of them share. A child says of an association:
//   T PID FOLDER OPEN  it stores objects of the study in FOLDER, under that mark (once a study)
//   B PID FOLDER   an object of the study in FOLDER was refused, and the disk takes no mark of it
//   L PID          it leaves a log of objects whose files are not on the disk yet
//   E PID 1|0      it ended: released in good order or not
//   P SENTENCE     what a person should know
// and the listener says E for one that was killed. A line is shorter than PIPE_BUF: written whole.
#include "dicom/receiver.h"

#include "dicom/commitment-check.hh"
#include "dicom/commitment.h"
#include "dicom/files.h"
#include "dicom/library.h"
#include "dicom/network-common.hh"
#include "dicom/object-folder.h"
#include "dicom/receiver-journal.hh"
#include "dicom/tls-layer.hh"
#include "dicom/data-set.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmnet/diutil.h>
#include <dcmtk/dcmnet/dul.h>
#include <dcmtk/dcmnet/dcmtrans.h>
#include <dcmtk/dcmnet/scp.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <iterator>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/error.h"
#include "base/translate.h"
#include "base/file-output.h"

namespace {

constexpr guint usual_associations = 20;
constexpr int max_pending = 64;         // connections that have not asked for an association yet
constexpr int max_pending_of_host = 32; // .. of one address
constexpr int max_slots = 1024 + max_pending;
constexpr size_t max_missing = 100000;  // objects that could not be kept and are known by their UID
constexpr size_t usual_lacking = 10000; // DemurReceiver.max_lacking
constexpr guint stall_factor = 20;      // an object may take so many timeouts
// A log is made and removed at the price of some syncs: a shorter association does without.
constexpr guint objects_without_log = 4;
constexpr size_t max_left_logs = 20; // of associations that ended, until one sync removes them
constexpr int last_words_ms = 2000;  // of a process that is ended
constexpr off_t max_commitment = 16 << 20;        // bytes of a message
constexpr guint report_pauses[] = {0, 2, 10, 30}; // seconds before each attempt

enum Stage : int { free_slot, pending, associated };

struct Slot {
  int stage;
  pid_t pid;
  char host[INET6_ADDRSTRLEN];
};

// Shared by all processes; every member is changed atomically.
struct Shared {
  guint64 n_associations, n_refused, n_broken, n_received, n_rejected, n_known, n_not_kept;
  guint64 last_number; // of beginnings of associations and losses, in one sequence
  int n_open;
  Slot slots[max_slots];
};

size_t
max_lacking(const DemurReceiver &receiver) {
  return receiver.max_lacking > 0 ? receiver.max_lacking : usual_lacking;
}

void
count(guint64 &number) {
  __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
}

guint64
next_number(Shared &shared) {
  return __atomic_add_fetch(&shared.last_number, 1, __ATOMIC_ACQ_REL);
}

// A whole line to the caller; what does not fit a line is cut.
void
say(int pipe, std::string line) {
  if (line.size() >= PIPE_BUF)
    line.resize(PIPE_BUF - 1);
  for (char &c : line)
    if (c == '\n')
      c = ' ';
  line += '\n';
  while (write(pipe, line.data(), line.size()) < 0 && errno == EINTR)
    ;
}

void
tell(int pipe, const std::string &sentence) {
  say(pipe, "P " + sentence);
}

const char *
folder_name(const char *uid) {
  return demur_object_is_uid(uid) ? uid : "unnamed";
}

// --- one association, in a process of its own ---

class Association : private GuardHolder, public DcmSCP {
public:
  Association(const DemurReceiver &receiver, Shared &shared, Slot &slot, int pipe)
      : GuardHolder(false), receiver_(receiver), shared_(shared), slot_(slot), pipe_(pipe) {
  }

  // Serves the connected socket, and returns when its association has ended.
  void serve(int socket) {
    dcmExternalSocketHandle.set(socket);
    dcmSocketReceiveTimeout.set(static_cast<Sint32>(receiver_.timeout_seconds));
    dcmSocketSendTimeout.set(static_cast<Sint32>(receiver_.timeout_seconds));
    setPort(static_cast<Uint16>(receiver_.port));
    setAETitle(receiver_.ae);
    setConnectionBlockingMode(DUL_NOBLOCK);
    setConnectionTimeout(static_cast<Uint32>(receiver_.timeout_seconds));
    setDIMSEBlockingMode(DIMSE_NONBLOCKING);
    setDIMSETimeout(receiver_.timeout_seconds);
    setACSETimeout(receiver_.timeout_seconds);
    setMaxReceivePDULength(ASC_MAXIMUMPDUSIZE);
    setHostLookupEnabled(OFFalse);
    setEnableVerification();
    g_autoptr(GError) error = nullptr;
    if (receiver_.tls != nullptr) {
      tls_ = demur_tls_layer(*receiver_.tls, nullptr, &error);
      if (tls_ == nullptr) {
        refuse(error->message);
        return;
      }
      guard.carry_by(tls_.get());
    }
    getConfig().setTransportLayer(&guard);
    add_contexts();
    alarm(receiver_.timeout_seconds); // for the whole request: a byte a second is no way in
    if (openListenPort().good())
      acceptAssociations();
    report();
  }

protected:
  OFBool checkCalledAETitleAccepted(const OFString &called) override {
    return called == receiver_.ae ? OFTrue : refuse("called by another AE title");
  }

  OFBool checkCallingAETitleAccepted(const OFString &calling) override {
    if (receiver_.callers == nullptr || g_strv_contains(receiver_.callers, calling.c_str()))
      return OFTrue;
    return refuse("the calling AE title is not on the list");
  }

  void notifyAssociationRequest(const T_ASC_Parameters &, DcmSCPActionType &action) override {
    if (take_turn())
      return;
    refuse("too many associations at once");
    action = DCMSCP_ACTION_REFUSE_ASSOCIATION;
  }

  void notifyAssociationAcknowledge() override {
    alarm(0);
    count(shared_.n_associations);
    begun_ = next_number(shared_);
    g_autofree char *title = g_strstrip(g_strdup(getPeerAETitle().c_str()));
    ae_ = title;
    acknowledged_ = true;
  }

  // Before the release is acknowledged: a peer that is told so has a study that came whole, whatever
  // ends this process then.
  void notifyReleaseRequest() override {
    released_ = true;
    close_studies();
    DcmSCP::notifyReleaseRequest();
  }

  void notifyAssociationTermination() override {
    ended_ = true;
    alarm(0);
    if (!acknowledged_)
      return;
    close_studies();
    say(pipe_, "E " + std::to_string(getpid()) + (released_ ? " 1" : " 0"));
    DcmSCP::notifyAssociationTermination();
  }

  // There is one connection only: an association that ended, or none that came.
  OFBool stopAfterConnectionTimeout() override {
    return OFTrue;
  }
  OFBool stopAfterCurrentAssociation() override {
    return OFTrue;
  }

  OFCondition handleIncomingCommand(T_DIMSE_Message *message,
                                    const DcmPresentationContextInfo &info) override {
    alarm(receiver_.timeout_seconds * stall_factor);
    if (message->CommandField == DIMSE_N_ACTION_RQ)
      return take_question(message->msg.NActionRQ, info);
    if (message->CommandField == DIMSE_N_EVENT_REPORT_RQ)
      return take_answer(message->msg.NEventReportRQ, info);
    if (message->CommandField != DIMSE_C_STORE_RQ)
      return DcmSCP::handleIncomingCommand(message, info);
    T_DIMSE_C_StoreRQ &request = message->msg.CStoreRQ;
    const int memory = memfd_create("object", MFD_CLOEXEC);
    if (memory < 0) {
      tell(pipe_, std::string("an object could not be received: ") + g_strerror(errno));
      return DIMSE_OUTOFRESOURCES;
    }
    const std::string part = "/proc/self/fd/" + std::to_string(memory);
    OFCondition condition =
        receiveSTORERequest(request, info.presentationContextID, OFString(part.c_str()));
    if (condition.good())
      condition = sendSTOREResponse(info.presentationContextID, request, keep(memory));
    close(memory);
    return condition;
  }

private:
  // Brings what came to the disk and marks its studies; once.
  void close_studies() {
    if (closed_)
      return;
    closed_ = true;
    if (log_ != nullptr)
      say(pipe_, "L " + std::to_string(getpid()));
    demur_arrival_log_leave(g_steal_pointer(&log_));
    for (const std::string &folder : touched_) {
      const std::string open = demur_mark_open(getpid(), ae_);
      // The loss before what is mended: between them the study is no whole one.
      if (!released_)
        (void)demur_loss_of_open(folder, open, next_number(shared_));
      const bool whole = released_ && kept_.count(folder) > 0 && lacking_.count(folder) == 0 &&
                         lacking_.size() < max_lacking(receiver_);
      demur_losses_mend(folder, {came_[folder], whole, ae_, begun_});
      if (released_)
        demur_mark_clear(folder, open.c_str());
    }
  }

  // The data set of a message about storage commitment: it comes unparsed as an object does, and is
  // walked before DCMTK looks at it.
  OFCondition receive_commitment(const DcmPresentationContextInfo &info,
                                 CommitmentMessage &message) {
    T_DIMSE_C_StoreRQ as_object = {};
    as_object.DataSetType = DIMSE_DATASET_PRESENT;
    g_strlcpy(as_object.AffectedSOPClassUID, UID_StorageCommitmentPushModelSOPClass,
              sizeof as_object.AffectedSOPClassUID);
    g_strlcpy(as_object.AffectedSOPInstanceUID, UID_StorageCommitmentPushModelSOPInstance,
              sizeof as_object.AffectedSOPInstanceUID);
    const int memory = memfd_create("commitment", MFD_CLOEXEC);
    if (memory < 0)
      return DIMSE_OUTOFRESOURCES;
    const std::string part = "/proc/self/fd/" + std::to_string(memory);
    const OFCondition condition =
        receiveSTORERequest(as_object, info.presentationContextID, OFString(part.c_str()));
    if (condition.good() && lseek(memory, 0, SEEK_END) <= max_commitment) {
      g_autoptr(DemurSource) source = demur_source_open(part.c_str(), nullptr);
      DcmFileFormat file;
      if (source != nullptr && demur_data_set_check(&source, nullptr) &&
          file.loadFile(part.c_str()).good() &&
          !demur_commitment_parse(*file.getDataset(), message))
        message = {};
    }
    close(memory);
    return condition;
  }

  // A peer asks us to answer for what it sent.
  OFCondition take_question(const T_DIMSE_N_ActionRQ &request,
                            const DcmPresentationContextInfo &info) {
    CommitmentMessage message;
    OFCondition condition =
        request.DataSetType != DIMSE_DATASET_NULL ? receive_commitment(info, message) : EC_Normal;
    if (condition.bad())
      return condition;
    const Uint16 status =
        info.abstractSyntax != UID_StorageCommitmentPushModelSOPClass ? STATUS_N_NoSuchSOPClass
        : request.ActionTypeID != commitment_request                  ? STATUS_N_NoSuchAction
        : message.transaction.empty() || message.items.empty() ? STATUS_N_InvalidArgumentValue
                                                               : STATUS_Success;
    condition =
        sendACTIONResponse(info.presentationContextID, request.MessageID,
                           request.RequestedSOPClassUID, request.RequestedSOPInstanceUID, status);
    if (condition.bad() || status != STATUS_Success)
      return condition;
    demur_commitment_check(receiver_.folder, message);
    if (!address_of(getPeerAETitle().c_str()).empty()) {
      reports_.push_back(message); // behind this association
      asker_ = getPeerAETitle().c_str();
      return condition;
    }
    DcmDataset dataset;
    demur_commitment_fill(dataset, message);
    Uint16 answer = 0;
    condition = sendEVENTREPORTRequest(info.presentationContextID,
                                       UID_StorageCommitmentPushModelSOPInstance,
                                       static_cast<Uint16>(request.MessageID + 1),
                                       demur_commitment_event(message), &dataset, answer);
    if (condition.bad())
      tell(pipe_, "a peer asked for storage commitment and did not wait for it: name its address "
                  "in commit-to");
    return condition;
  }

  // An archive answers for what we sent it.
  OFCondition take_answer(const T_DIMSE_N_EventReportRQ &request,
                          const DcmPresentationContextInfo &info) {
    CommitmentMessage message;
    const OFCondition condition =
        request.DataSetType != DIMSE_DATASET_NULL ? receive_commitment(info, message) : EC_Normal;
    if (condition.bad())
      return condition;
    const bool given = request.EventTypeID == commitment_success && message.failed.empty();
    const bool taken = !message.transaction.empty() &&
                       demur_commitment_note(receiver_.folder, message.transaction.c_str(), given);
    T_DIMSE_Message answer = {};
    answer.CommandField = DIMSE_N_EVENT_REPORT_RSP;
    T_DIMSE_N_EventReportRSP &response = answer.msg.NEventReportRSP;
    response.MessageIDBeingRespondedTo = request.MessageID;
    response.DimseStatus = static_cast<Uint16>(taken ? STATUS_Success : STATUS_N_NoSuchSOPInstance);
    response.DataSetType = DIMSE_DATASET_NULL;
    response.EventTypeID = request.EventTypeID;
    g_strlcpy(response.AffectedSOPClassUID, request.AffectedSOPClassUID,
              sizeof response.AffectedSOPClassUID);
    g_strlcpy(response.AffectedSOPInstanceUID, request.AffectedSOPInstanceUID,
              sizeof response.AffectedSOPInstanceUID);
    response.opts = O_NEVENTREPORT_EVENTTYPEID | O_NEVENTREPORT_AFFECTEDSOPCLASSUID |
                    O_NEVENTREPORT_AFFECTEDSOPINSTANCEUID;
    return sendDIMSEMessage(info.presentationContextID, &answer, nullptr);
  }

  // "HOST:PORT" where the peer of that title takes reports; "": not known.
  std::string address_of(const char *title) const {
    for (const char *const *at = receiver_.commit_to; at != nullptr && *at != nullptr; at++) {
      const char *equals = std::strchr(*at, '=');
      if (equals != nullptr && std::string(*at, equals) == title)
        return equals + 1;
    }
    return "";
  }

  // Tells a peer that takes reports at an address of its own; a few times.
  void report() {
    const std::string address = address_of(asker_.c_str());
    const size_t colon = address.rfind(':');
    if (reports_.empty() || colon == std::string::npos)
      return;
    const std::string host = address.substr(0, colon);
    const DemurPeer peer = {
        host.c_str(),
        static_cast<guint>(std::strtoul(address.c_str() + colon + 1, nullptr, 10)),
        asker_.c_str(),
        receiver_.ae,
        receiver_.timeout_seconds,
        receiver_.tls};
    for (const CommitmentMessage &message : reports_) {
      bool told = false;
      for (guint pause : report_pauses) {
        g_usleep(pause * G_USEC_PER_SEC);
        if ((told = demur_commitment_report(peer, message)))
          break;
      }
      if (!told)
        tell(pipe_, "a peer does not take the storage commitment that it asked for");
    }
  }

  void add_contexts() {
    // Peers ask us (as users), and answer what we asked (as providers). First: DCMTK takes
    // 128 contexts, and there are more storage classes.
    const OFList<OFString> plain = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
    addPresentationContext(UID_StorageCommitmentPushModelSOPClass, plain, ASC_SC_ROLE_SCUSCP);
    setAlwaysAcceptDefaultRole(OFTrue);
    // As sent: whichever of these a peer proposes.
    OFList<OFString> list = plain;
    for (const OFString &syntax : demur_network_syntaxes(DEMUR_EXCHANGE_AS_IS))
      list.push_back(syntax);
    for (int i = 0; i < numberOfDcmAllStorageSOPClassUIDs; i++)
      addPresentationContext(dcmAllStorageSOPClassUIDs[i], list);
  }

  OFBool refuse(const char *why) {
    count(shared_.n_refused);
    tell(pipe_, std::string("an association was refused: ") + why);
    return OFFalse;
  }

  // Waits for one of the places; false where none became free in time.
  bool take_turn() {
    const int places = static_cast<int>(receiver_.max_associations > 0 ? receiver_.max_associations
                                                                       : usual_associations);
    for (guint waited = 0; waited < receiver_.timeout_seconds * 10; waited++) {
      int open = __atomic_load_n(&shared_.n_open, __ATOMIC_ACQUIRE);
      while (open < places)
        if (__atomic_compare_exchange_n(&shared_.n_open, &open, open + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
          __atomic_store_n(&slot_.stage, associated, __ATOMIC_RELEASE);
          return true;
        }
      if (waited == 0)
        alarm(2 * receiver_.timeout_seconds); // the wait is ours, not the peer's
      g_usleep(G_USEC_PER_SEC / 10);
    }
    return false;
  }

  // Looks at what came and puts it in its place; the DIMSE status.
  Uint16 keep(int memory) {
    g_autoptr(GError) cause = nullptr;
    g_autoptr(GMappedFile) file = g_mapped_file_new_from_fd(memory, FALSE, &cause);
    if (file == nullptr)
      return out_of_room(nullptr, cause->message);
    g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(file);
    g_autoptr(DemurSource) source = demur_source_bytes(bytes);
    const bool sound = demur_data_set_check(&source, &cause);
    g_autoptr(DemurSource) again = sound ? demur_source_bytes(bytes) : nullptr;
    g_autoptr(DemurHeader) header = again != nullptr ? demur_header_read(&again, &cause) : nullptr;
    if (header == nullptr || !demur_object_is_uid(header->sop_instance_uid)) {
      count(shared_.n_rejected);
      tell(pipe_, std::string("an object was rejected: ") +
                      (cause != nullptr ? cause->message : "its SOPInstanceUID is no UID"));
      return STATUS_STORE_Error_CannotUnderstand;
    }
    const std::string study = std::string(receiver_.folder) + "/" + folder_name(header->study_uid);
    const Uint16 status = keep_in(study, *header, bytes);
    if (status == STATUS_Success)
      note_kept(study, header->sop_instance_uid);
    else
      note_lost(study, header->sop_instance_uid);
    return status;
  }

  void note_kept(const std::string &study, const char *uid) {
    kept_.insert(study);
    if (demur_loss_has(study, uid))
      came_[study].insert(uid);
  }

  void note_lost(const std::string &study, const char *uid) {
    // A peer may go on with ever other studies: behind so many, none that it sends is whole.
    if (lacking_.size() < max_lacking(receiver_))
      lacking_.insert(study);
    const auto came = came_.find(study);
    if (came != came_.end())
      came->second.erase(uid);
    const bool marked =
        n_lost_++ < max_missing ? demur_loss_of_object(study, uid) : demur_loss_unnamed(study);
    if (marked || unmarked_.count(study) > 0)
      return;
    if (unmarked_.size() < max_lacking(receiver_))
      unmarked_.insert(study);
    say(pipe_, "B " + std::to_string(getpid()) + " " + study.substr(study.rfind('/') + 1));
    if (touched_.count(study) > 0)
      (void)demur_open_unname(study, demur_mark_open(getpid(), ae_));
  }

  Uint16 keep_in(const std::string &study, const DemurHeader &header, GBytes *bytes) {
    const char *uid = header.sop_instance_uid;
    g_autoptr(GError) cause = nullptr;
    if (!has_room())
      return out_of_room(uid, "the disk is full but for what is kept free");
    if (touched_.count(study) == 0) {
      if (!demur_folder_make(study.c_str(), &cause))
        return out_of_room(uid, cause->message);
      // Whatever ends this process, the study is told to be a part.
      const std::string open = demur_mark_open(getpid(), ae_);
      if (!demur_mark_set(study, open.c_str()))
        return out_of_room(uid, "the journal can't be written");
      touched_.insert(study);
      say(pipe_,
          "T " + std::to_string(getpid()) + " " + folder_name(header.study_uid) + " " + open);
    }
    // Before the object: one that is there and told by no mark would never be read.
    if (!demur_mark_set(study, demur_mark_new))
      return out_of_room(uid, "the journal can't be written");
    const std::string series =
        std::string(folder_name(header.study_uid)) + "/" + folder_name(header.series_uid);
    return put(bytes, {receiver_.folder, series.c_str(), uid});
  }

  // Whether more than the reserve is free.
  bool has_room() const {
    struct statvfs disk;
    return receiver_.reserve_mb == 0 || statvfs(receiver_.folder, &disk) != 0 ||
           disk.f_bavail >= (static_cast<guint64>(receiver_.reserve_mb) << 20) / disk.f_frsize;
  }

  // The log of this association; NULL while it is too short to be worth one.
  DemurArrivalLog *log() {
    if (n_put_++ == objects_without_log)
      log_ = demur_arrival_log_open(receiver_.folder, getpid(), nullptr);
    return log_;
  }

  // Under the instance's name, or behind a number beside another object of that name.
  Uint16 put(GBytes *bytes, const DemurObjectPlace &place) {
    gsize n = 0;
    const auto *data = static_cast<const char *>(g_bytes_get_data(bytes, &n));
    gboolean known = FALSE;
    g_autoptr(GError) error = nullptr;
    if (!demur_object_put(&place, data, n, log(), &known, &error))
      return out_of_room(place.instance_uid, error->message);
    if (__atomic_load_n(&shared_.n_not_kept, __ATOMIC_RELAXED) > 0)
      say(pipe_, std::string("K ") + place.instance_uid);
    count(known ? shared_.n_known : shared_.n_received);
    return STATUS_Success;
  }

  Uint16 out_of_room(const char *uid, const char *why) {
    count(shared_.n_rejected);
    count(shared_.n_not_kept);
    say(pipe_, std::string("M ") + (uid != nullptr ? uid : "unread"));
    tell(pipe_, std::string("an object could not be kept: ") + why);
    return STATUS_STORE_Refused_OutOfResources;
  }

  const DemurReceiver &receiver_;
  Shared &shared_;
  Slot &slot_;
  const int pipe_;
  std::set<std::string> touched_;            // study folders of this association
  std::set<std::string> kept_;               // .. of which objects were kept
  std::set<std::string> lacking_, unmarked_; // .. were refused; .. and the disk takes no mark of it
  std::map<std::string, std::set<std::string>> came_; // UIDs that were lost before, by study folder
  guint n_put_ = 0;
  size_t n_lost_ = 0;
  DemurArrivalLog *log_ = nullptr;
  std::vector<CommitmentMessage> reports_; // to be told when this association has ended
  std::string asker_;                      // AE title of who asked
  std::string ae_;                         // calling AE title
  guint64 begun_ = 0;                      // its number
  bool acknowledged_ = false, released_ = false, closed_ = false, ended_ = false;
};

// --- the listener ---

class Listener {
public:
  Listener(const DemurReceiver &receiver, Shared &shared, int socket, int pipe)
      : receiver_(receiver), shared_(shared), socket_(socket), pipe_(pipe) {
  }

  // Accepts until its parent is gone or it is told to end.
  [[noreturn]] void run(pid_t parent) {
    die_with_parent(parent);
    std::signal(SIGINT, SIG_IGN); // Ctrl-C is the caller's: it ends the listener
    std::signal(SIGTERM, SIG_DFL);
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    for (;;) {
      reap();
      struct pollfd waiting = {socket_, POLLIN, 0};
      if (poll(&waiting, 1, 200) <= 0)
        continue;
      struct sockaddr_storage address;
      socklen_t length = sizeof address;
      const int connection =
          accept4(socket_, reinterpret_cast<struct sockaddr *>(&address), &length, SOCK_CLOEXEC);
      if (connection >= 0) {
        take(connection, address);
        close(connection);
      }
    }
  }

private:
  static void die_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
      _exit(0);
  }

  static std::string host_of(const struct sockaddr_storage &address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET)
      inet_ntop(AF_INET, &reinterpret_cast<const struct sockaddr_in &>(address).sin_addr, text,
                sizeof text);
    else if (address.ss_family == AF_INET6)
      inet_ntop(AF_INET6, &reinterpret_cast<const struct sockaddr_in6 &>(address).sin6_addr, text,
                sizeof text);
    // An IPv4 peer of a socket for both is written as such.
    return std::strncmp(text, "::ffff:", 7) == 0 ? text + 7 : text;
  }

  bool allowed(const std::string &host) const {
    static const char *const loopback[] = {"127.0.0.1", "::1", nullptr};
    const char *const *hosts = receiver_.hosts != nullptr ? receiver_.hosts : loopback;
    return g_strv_contains(hosts, host.c_str()) || g_strv_contains(hosts, "any");
  }

  void refuse(const char *why) {
    count(shared_.n_refused);
    tell(pipe_, std::string("an association was refused: ") + why);
  }

  void take(int connection, const struct sockaddr_storage &address) {
    const std::string host = host_of(address);
    if (!allowed(host))
      return refuse("the calling host is not on the list");
    int n_pending = 0, n_of_host = 0;
    Slot *place = nullptr;
    for (Slot &slot : shared_.slots) {
      const int stage = __atomic_load_n(&slot.stage, __ATOMIC_ACQUIRE);
      if (stage == free_slot && place == nullptr)
        place = &slot;
      n_pending += stage == pending;
      n_of_host += stage == pending && host == slot.host;
    }
    if (place == nullptr || n_pending >= max_pending || n_of_host >= max_pending_of_host)
      return refuse("too many connections wait to ask for an association");
    g_strlcpy(place->host, host.c_str(), sizeof place->host);
    place->stage = pending;
    const pid_t self = getpid(), child = fork();
    if (child == 0) {
      die_with_parent(self);
      close(socket_);
      std::signal(SIGALRM, SIG_DFL);
      try {
        Association(receiver_, shared_, *place, pipe_).serve(connection);
      } catch (const std::exception &) {
        _exit(1); // the listener says that it broke off
      }
      _exit(0);
    }
    if (child < 0) {
      place->stage = free_slot;
      return refuse("no process can be started for it");
    }
    place->pid = child;
  }

  // Gives the places of ended processes back.
  void reap() {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
      for (Slot &slot : shared_.slots) {
        if (slot.stage == free_slot || slot.pid != pid)
          continue;
        if (slot.stage == associated)
          __atomic_fetch_sub(&shared_.n_open, 1, __ATOMIC_ACQ_REL);
        else if (WIFSIGNALED(status))
          refuse("it was not asked for in time");
        // Time ran out, or the server ends; all else is a fault of ours.
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM && WTERMSIG(status) != SIGTERM &&
            WTERMSIG(status) != SIGKILL)
          tell(pipe_, "the process of an association was ended by signal " +
                          std::to_string(WTERMSIG(status)));
        // The caller has it already where the association ended as it should.
        say(pipe_, "E " + std::to_string(pid) + " 0");
        slot.stage = free_slot;
        break;
      }
  }

  const DemurReceiver &receiver_;
  Shared &shared_;
  const int socket_, pipe_;
};

// --- the caller's side ---

struct Study {
  std::map<pid_t, std::string> open; // associations that store objects of it, and their marks
  bool broken = false, waits = false;
  bool lost = false;     // more than the disk took marks of
  bool unmarked = false; // complete, and the disk took no mark that it is being read
  gint64 quiet_since = 0;
};

class Keeper {
public:
  Keeper(const DemurReceiver &receiver, Shared &shared, const DemurProgress *progress)
      : receiver_(receiver), shared_(shared), progress_(progress) {
  }

  // What an earlier server acknowledged and did not read.
  void recall() {
    recover(0);
    shared_.last_number = demur_losses_last(receiver_.folder);
    for (const std::string &folder : demur_losses_recall(receiver_.folder, next_number(shared_)))
      studies_[folder].lost = true;
    const char *name;
    g_autoptr(GDir) dir = g_dir_open(demur_journal_of(receiver_.folder).c_str(), 0, nullptr);
    while (dir != nullptr && (name = g_dir_read_name(dir)) != nullptr) {
      if (!g_str_has_suffix(name, demur_mark_new) && !g_str_has_suffix(name, demur_mark_reading))
        continue;
      const std::string folder =
          std::string(receiver_.folder) + "/" + std::string(name, std::strrchr(name, '.'));
      Study &study = studies_[folder];
      study.waits = true;
      study.broken = study.lost || demur_mark_has(folder, demur_mark_broken);
      study.quiet_since = g_get_monotonic_time();
    }
  }

  // Until settled ends it, it is cancelled, or the listener is gone (false).
  bool run(int pipe) {
    for (;;) {
      struct pollfd waiting = {pipe, POLLIN, 0};
      const int ready = poll(&waiting, 1, 100);
      if (ready > 0 && !read_lines(pipe))
        return told_to_end();
      if (left_logs_.size() >= max_left_logs)
        remove_logs();
      if (!demur_progress_step(progress_, 0.0, "receiving", nullptr))
        return true;
      if (ready == 0 && !settle())
        return true;
      if (ready == 0)
        remove_logs();
    }
  }

  // A signal to the whole group ends the listener too, perhaps before it is seen here.
  bool told_to_end() {
    for (int i = 0; i < 40; i++) {
      if (!demur_progress_step(progress_, 0.0, "receiving", nullptr))
        return true;
      g_usleep(50000);
    }
    return false;
  }

  size_t n_missing() const {
    return missing_.size() + n_unnamed_;
  }

  // Studies that are kept, or of which something may be, and were not read.
  size_t n_unread() const {
    size_t n = 0;
    for (const auto &[folder, study] : studies_)
      n += study.waits || !study.open.empty() ? 1 : 0;
    return n;
  }

  // .. of which an association was open.
  size_t n_cut() const {
    size_t n = 0;
    for (const auto &[folder, study] : studies_)
      n += study.open.empty() ? 0 : 1;
    return n;
  }

  // What was said before the listener and its associations ended, which have just been told to.
  void hear_out(int pipe) {
    struct pollfd waiting = {pipe, POLLIN, 0};
    while (poll(&waiting, 1, last_words_ms) > 0 && read_lines(pipe))
      ;
  }

  // One sync for the objects of all associations that ended. Where it fails what the files lack is
  // put back from the logs, now or by the next server.
  void remove_logs() {
    if (!demur_arrival_logs_remove(receiver_.folder, left_logs_.data(), left_logs_.size(), nullptr))
      for (const int process : left_logs_)
        recover(process);
    left_logs_.clear();
  }

private:
  // A peer may go on sending other objects to a full disk: behind so many, they are counted alone.
  void note_missing(bool missing, const std::string &uid) {
    if (!missing)
      missing_.erase(uid);
    else if (missing_.size() < max_missing)
      missing_.insert(uid);
    else if (missing_.count(uid) == 0)
      n_unnamed_++;
  }

  // Objects of the log that an association left which was killed (0: of all, before any begins).
  void recover(pid_t process) {
    g_autoptr(GError) error = nullptr;
    if (!demur_objects_recover(receiver_.folder, process, &error) && receiver_.problem != nullptr)
      receiver_.problem(error->message, receiver_.data);
  }

  // Microseconds until the study is told.
  gint64 quiet_needed(const Study &study) const {
    if (study.broken && receiver_.give_up_seconds == 0)
      return G_MAXINT64;
    return static_cast<gint64>(study.broken ? receiver_.give_up_seconds
                                            : receiver_.settle_seconds) *
           G_USEC_PER_SEC;
  }

  bool read_lines(int pipe) {
    char bytes[65536];
    const ssize_t n = read(pipe, bytes, sizeof bytes);
    if (n < 0)
      return errno == EINTR || errno == EAGAIN;
    if (n == 0)
      return false;
    rest_.append(bytes, static_cast<size_t>(n));
    size_t end;
    while ((end = rest_.find('\n')) != std::string::npos) {
      take(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
    return true;
  }

  void take(const std::string &line) {
    if (line.compare(0, 2, "P ") == 0) {
      if (receiver_.problem != nullptr)
        receiver_.problem(line.c_str() + 2, receiver_.data);
      return;
    }
    if (line[0] == 'M' || line[0] == 'K') {
      note_missing(line[0] == 'M', line.substr(2));
      return;
    }
    char *rest = nullptr;
    const pid_t pid = static_cast<pid_t>(std::strtol(line.c_str() + 2, &rest, 10));
    if (line[0] == 'L') {
      left_logs_.push_back(pid);
      return;
    }
    // "FOLDER OPEN" or "FOLDER" of a study: made of its UID, it holds no space.
    const std::string words = *rest == ' ' ? rest + 1 : "";
    const size_t space = words.find(' ');
    const std::string of_study = std::string(receiver_.folder) + "/" + words.substr(0, space);
    if (line[0] == 'T') {
      studies_[of_study].open[pid] = words.substr(space + 1);
      return;
    }
    if (line[0] == 'B') {
      note_lost(of_study);
      return;
    }
    const bool released = std::strcmp(rest, " 1") == 0;
    bool touched = false;
    if (!released)
      recover(pid);
    for (auto &[folder, study] : studies_) {
      const auto at = study.open.find(pid);
      if (at == study.open.end())
        continue;
      const std::string open = at->second;
      study.open.erase(at);
      touched = true;
      study.waits = true;
      if (!released && demur_mark_has(folder, open.c_str())) // it was killed
        study.lost = !demur_loss_of_open(folder, open, next_number(shared_)) || study.lost;
      study.broken = study.lost || demur_mark_has(folder, demur_mark_broken);
      study.quiet_since = g_get_monotonic_time();
    }
    if (!touched || released)
      return;
    count(shared_.n_broken);
    if (receiver_.problem != nullptr)
      receiver_.problem("an association broke off: its studies wait until they are sent again",
                        receiver_.data);
  }

  // The disk takes no mark of what a study lacks. Behind so many studies that are known by this alone
  // they are not told apart: all that are here may be parts.
  void note_lost(const std::string &of_study) {
    if (studies_.count(of_study) > 0 || n_lost_alone_++ < max_lacking(receiver_))
      studies_[of_study].lost = true;
    else
      any_lost_ = true;
  }

  // Until the disk takes a mark; said once.
  void put_off(Study &study) {
    study.quiet_since = g_get_monotonic_time();
    if (!study.unmarked && receiver_.problem != nullptr)
      receiver_.problem("a study that came whole is not read while the journal can't be written: "
                        "make room",
                        receiver_.data);
    study.unmarked = true;
  }

  // Studies of which nothing was kept, and whose losses the disk knows now.
  void forget_marked() {
    for (auto at = studies_.begin(); at != studies_.end();) {
      const Study &study = at->second;
      at = study.lost || study.waits || !study.open.empty() ? std::next(at) : studies_.erase(at);
    }
    n_lost_alone_ = std::min(n_lost_alone_, studies_.size());
  }

  // Tells the studies that are complete; false where the server is to end.
  bool settle() {
    const gint64 now = g_get_monotonic_time();
    std::vector<const char *> folders;
    for (auto &[folder, study] : studies_) {
      // Whoever reads it, now or after a restart, goes by the mark.
      if (any_lost_ && study.waits && !demur_mark_has(folder, demur_mark_broken))
        study.lost = true;
      if (study.lost) // the disk may take it now
        study.lost = !demur_loss_unnamed(folder);
      study.broken = study.broken || study.lost || demur_mark_has(folder, demur_mark_broken);
      if (study.waits && study.open.empty() && now - study.quiet_since >= quiet_needed(study))
        folders.push_back(folder.c_str());
    }
    forget_marked();
    if (folders.empty())
      return true;
    // What arrives from here on sets a new mark: the study is then read again. Where the disk takes
    // no mark the study keeps the one it has, and is told later.
    std::vector<const char *> marked;
    for (const char *folder : folders) {
      Study &study = studies_[folder];
      if (study.lost || !demur_mark_set(folder, demur_mark_reading)) {
        put_off(study);
        continue;
      }
      study.unmarked = false;
      demur_mark_clear(folder, demur_mark_new);
      marked.push_back(folder);
    }
    folders = marked;
    if (folders.empty())
      return true;
    folders.push_back(nullptr);
    const DemurSettled outcome = receiver_.settled(folders.data(), receiver_.data);
    folders.pop_back();
    for (const std::string folder : folders) {
      if (outcome == DEMUR_SETTLED_AGAIN) {
        studies_[folder].quiet_since = g_get_monotonic_time();
        continue;
      }
      demur_mark_clear(folder, demur_mark_reading);
      studies_[folder].waits = false;
      if (studies_[folder].open.empty())
        studies_.erase(folder);
    }
    return outcome != DEMUR_SETTLED_END;
  }

  const DemurReceiver &receiver_;
  Shared &shared_;
  const DemurProgress *progress_;
  std::map<std::string, Study> studies_; // by folder
  std::vector<int> left_logs_;           // by the process that wrote them
  std::set<std::string> missing_;        // UIDs of what could not be kept until now
  size_t n_lost_alone_ = 0;              // studies that are here for what the disk takes no mark of
  bool any_lost_ = false;                // .. and there were more of them
  size_t n_unnamed_ = 0;                 // more of them, not told apart
  std::string rest_;                     // of a line
};

// A socket that listens on every address, or on the loopback where no other host may call.
int
open_port(const DemurReceiver &receiver) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<guint16>(receiver.port));
  address.sin_addr.s_addr = htonl(receiver.hosts != nullptr ? INADDR_ANY : INADDR_LOOPBACK);
  if (fd < 0)
    return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(fd, reinterpret_cast<struct sockaddr *>(&address), sizeof address) == 0 &&
      listen(fd, SOMAXCONN) == 0)
    return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

gboolean
serve(const DemurReceiver &receiver, Shared &shared, DemurReceived &received,
      const DemurProgress *progress, GError **error) {
  const int socket = open_port(receiver);
  if (socket < 0) {
    const std::string what = "port " + std::to_string(receiver.port) + " can't be opened";
    return demur_network_fail(error, what.c_str(), g_strerror(errno));
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close(socket);
    return demur_network_fail(error, N_("the server can't start"), g_strerror(errno));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  Keeper keeper(receiver, shared, progress);
  keeper.recall();
  const pid_t self = getpid(), listener = fork();
  if (listener == 0) {
    close(ends[0]);
    Listener(receiver, shared, socket, ends[1]).run(self);
  }
  close(ends[1]);
  close(socket);
  gboolean good = listener > 0;
  if (good && receiver.listening != nullptr)
    receiver.listening(receiver.data);
  good = good && keeper.run(ends[0]);
  if (listener > 0) {
    kill(listener, SIGTERM);
    while (waitpid(listener, nullptr, 0) < 0 && errno == EINTR)
      ;
    keeper.hear_out(ends[0]);
  }
  received.n_missing = keeper.n_missing();
  received.n_unread = keeper.n_unread();
  received.n_cut = keeper.n_cut();
  keeper.remove_logs();
  close(ends[0]);
  return good ? TRUE
              : demur_network_fail(error, N_("the server ended"), N_("its listener is gone"));
}

gboolean
receive(const DemurReceiver &receiver, DemurReceived &received, const DemurProgress *progress,
        GError **error) {
  if (!demur_folder_make(demur_journal_of(receiver.folder).c_str(), error))
    return FALSE;
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return demur_network_fail(error, N_("the server can't start"), g_strerror(errno));
  auto *shared = static_cast<Shared *>(memory);
  const gboolean served = serve(receiver, *shared, received, progress, error);
  received.n_associations = shared->n_associations;
  received.n_refused = shared->n_refused;
  received.n_broken = shared->n_broken;
  received.n_received = shared->n_received;
  received.n_rejected = shared->n_rejected;
  received.n_known = shared->n_known;
  munmap(memory, sizeof(Shared));
  return served;
}

} // namespace

gboolean
demur_receiver_is_broken(const char *folder, const char *study) {
  return demur_mark_has(std::string(folder) + "/" + study, demur_mark_broken);
}

gboolean
demur_receiver_is_arriving(const char *folder, const char *study) {
  const std::string path = std::string(folder) + "/" + study;
  return demur_mark_has(path, demur_mark_new) || demur_mark_has(path, demur_mark_reading);
}

gboolean
demur_network_receive(const DemurReceiver *receiver, DemurReceived *received,
                      const DemurProgress *progress, GError **error) {
  *received = DemurReceived{};
  if (!demur_dicom_init(error))
    return FALSE;
  demur_network_prepare();
  // A server whose certificate can't be used says so at once.
  if (receiver->tls != nullptr && demur_tls_layer(*receiver->tls, nullptr, error) == nullptr)
    return FALSE;
  return receive(*receiver, *received, progress, error);
}
