// Processes: the caller (settles studies) <- one pipe of lines <- a listener (accepts, checks the
// host, limits) -> a process for each connection (one association, or one request over HTTP:
// stow-server.cc). Numbers, and who is at which
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
#include "dicom/receiver-arrival.hh"
#include "dicom/receiver-journal.hh"
#include "dicom/stow-server.hh"
#include "dicom/tls-layer.hh"
#include "dicom/data-set.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmnet/diutil.h>
#include <dcmtk/dcmnet/dul.h>
#include <dcmtk/dcmnet/dcmtrans.h>
#include <dcmtk/dcmnet/scp.h>

#include <algorithm>
#include <array>
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
constexpr size_t max_missing = 100000;  // objects that could not be kept and are known by their UID
constexpr guint stall_factor = 20;      // an object may take so many timeouts
constexpr size_t max_left_logs = 20;    // of associations that ended, until one sync removes them
constexpr int last_words_ms = 2000;     // of a process that is ended
constexpr off_t max_commitment = 16 << 20;        // bytes of a message
constexpr guint report_pauses[] = {0, 2, 10, 30}; // seconds before each attempt

// --- one association, in a process of its own ---

class Association : private GuardHolder, public DcmSCP {
public:
  Association(const DemurReceiver &receiver, ReceiverShared &shared, ReceiverSlot &slot, int pipe)
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
    g_autofree char *title = g_strstrip(g_strdup(getPeerAETitle().c_str()));
    arrival_.begin(title);
    acknowledged_ = true;
  }

  // Before the release is acknowledged: a peer that is told so has a study that came whole, whatever
  // ends this process then.
  void notifyReleaseRequest() override {
    released_ = true;
    arrival_.close(true);
    DcmSCP::notifyReleaseRequest();
  }

  void notifyAssociationTermination() override {
    alarm(0);
    if (!acknowledged_)
      return;
    arrival_.end(released_);
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
      demur_receiver_tell(pipe_,
                          std::string("an object could not be received: ") + g_strerror(errno));
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
      demur_receiver_tell(
          pipe_, "a peer asked for storage commitment and did not wait for it: name its address "
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
        demur_receiver_tell(pipe_, "a peer does not take the storage commitment that it asked for");
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
    demur_receiver_count(shared_.n_refused);
    demur_receiver_tell(pipe_, std::string("an association was refused: ") + why);
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
          __atomic_store_n(&slot_.stage, receiver_associated, __ATOMIC_RELEASE);
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
      return arrival_.out_of_room(nullptr, cause->message);
    g_autoptr(GBytes) bytes = g_mapped_file_get_bytes(file);
    ArrivalObject object;
    return arrival_.keep(bytes, nullptr, &object);
  }

  const DemurReceiver &receiver_;
  ReceiverShared &shared_;
  ReceiverSlot &slot_;
  const int pipe_;
  Arrival arrival_{receiver_, shared_, pipe_};
  std::vector<CommitmentMessage> reports_; // to be told when this association has ended
  std::string asker_;                      // AE title of who asked
  bool acknowledged_ = false, released_ = false;
};

// --- the listener ---

// Sockets that listen; -1: none does.
using Doors = std::array<int, receiver_n_doors>;

class Listener {
public:
  Listener(const DemurReceiver &receiver, ReceiverShared &shared, const Doors &doors, int pipe)
      : receiver_(receiver), shared_(shared), doors_(doors), pipe_(pipe) {
  }

  // Accepts until its parent is gone or it is told to end.
  [[noreturn]] void run(pid_t parent) {
    die_with_parent(parent);
    std::signal(SIGINT, SIG_IGN); // Ctrl-C is the caller's: it ends the listener
    std::signal(SIGTERM, SIG_DFL);
    for (const int socket : doors_)
      if (socket >= 0)
        fcntl(socket, F_SETFL, O_NONBLOCK);
    for (;;) {
      reap();
      struct pollfd waiting[receiver_n_doors];
      for (int door = 0; door < receiver_n_doors; door++)
        waiting[door] = {doors_[door], POLLIN, 0}; // one of -1 is passed over
      if (poll(waiting, receiver_n_doors, 200) <= 0)
        continue;
      for (int door = 0; door < receiver_n_doors; door++)
        if (waiting[door].revents != 0)
          accept_at(static_cast<ReceiverDoor>(door));
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

  void accept_at(ReceiverDoor door) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    const int connection =
        accept4(doors_[door], reinterpret_cast<struct sockaddr *>(&address), &length, SOCK_CLOEXEC);
    if (connection < 0)
      return;
    take(connection, address, door);
    close(connection);
  }

  void refuse(int door, const char *why) {
    demur_receiver_count(shared_.n_refused);
    demur_receiver_tell(pipe_,
                        std::string(door == receiver_door_stow ? "a request over HTTP was refused: "
                                                               : "an association was refused: ") +
                            why);
  }

  // Connections that count against a door's limits: those that asked for no association yet, or all.
  static bool counts(const ReceiverSlot &slot, int stage, ReceiverDoor door) {
    return slot.door == door &&
           (door == receiver_door_stow ? stage != receiver_free : stage == receiver_pending);
  }

  void take(int connection, const struct sockaddr_storage &address, ReceiverDoor door) {
    const std::string host = host_of(address);
    if (!allowed(host))
      return refuse(door, "the calling host is not on the list");
    const bool stow = door == receiver_door_stow;
    const int most = stow ? static_cast<int>(receiver_.stow->max_connections) : max_pending;
    const int most_of_host =
        stow ? static_cast<int>(receiver_.stow->max_of_peer) : max_pending_of_host;
    int n_pending = 0, n_of_host = 0;
    ReceiverSlot *place = nullptr;
    for (ReceiverSlot &slot : shared_.slots) {
      const int stage = __atomic_load_n(&slot.stage, __ATOMIC_ACQUIRE);
      if (stage == receiver_free && place == nullptr)
        place = &slot;
      n_pending += counts(slot, stage, door);
      n_of_host += counts(slot, stage, door) && host == slot.host;
    }
    if (place == nullptr || n_pending >= most || n_of_host >= most_of_host)
      return refuse(door, stow ? "too many connections at once"
                               : "too many connections wait to ask for an association");
    place->door = door;
    g_strlcpy(place->host, host.c_str(), sizeof place->host);
    place->stage = receiver_pending;
    const pid_t self = getpid(), child = fork();
    if (child == 0) {
      die_with_parent(self);
      for (const int socket : doors_)
        if (socket >= 0)
          close(socket);
      std::signal(SIGALRM, SIG_DFL);
      try {
        if (stow)
          demur_stow_serve(receiver_, shared_, *place, pipe_, connection);
        else
          Association(receiver_, shared_, *place, pipe_).serve(connection);
      } catch (const std::exception &) {
        _exit(1); // the listener says that it broke off
      }
      _exit(0);
    }
    if (child < 0) {
      place->stage = receiver_free;
      return refuse(door, "no process can be started for it");
    }
    place->pid = child;
  }

  // Gives the places of ended processes back.
  void reap() {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
      for (ReceiverSlot &slot : shared_.slots) {
        if (slot.stage == receiver_free || slot.pid != pid)
          continue;
        if (slot.stage == receiver_pending && WIFSIGNALED(status))
          refuse(slot.door, "it was not asked for in time");
        else if (slot.stage == receiver_associated && slot.door == receiver_door_dimse)
          __atomic_fetch_sub(&shared_.n_open, 1, __ATOMIC_ACQ_REL);
        // Time ran out, or the server ends; all else is a fault of ours.
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM && WTERMSIG(status) != SIGTERM &&
            WTERMSIG(status) != SIGKILL)
          demur_receiver_tell(pipe_, "the process of an association was ended by signal " +
                                         std::to_string(WTERMSIG(status)));
        // The caller has it already where the association ended as it should.
        demur_receiver_say(pipe_, "E " + std::to_string(pid) + " 0");
        slot.stage = receiver_free;
        break;
      }
  }

  const DemurReceiver &receiver_;
  ReceiverShared &shared_;
  const Doors &doors_;
  const int pipe_;
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
  Keeper(const DemurReceiver &receiver, ReceiverShared &shared, const DemurProgress *progress)
      : receiver_(receiver), shared_(shared), progress_(progress) {
  }

  // What an earlier server acknowledged and did not read.
  void recall() {
    recover(0);
    shared_.last_number = demur_losses_last(receiver_.folder);
    for (const std::string &folder :
         demur_losses_recall(receiver_.folder, demur_receiver_next_number(shared_)))
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
        study.lost =
            !demur_loss_of_open(folder, open, demur_receiver_next_number(shared_)) || study.lost;
      study.broken = study.lost || demur_mark_has(folder, demur_mark_broken);
      study.quiet_since = g_get_monotonic_time();
    }
    if (!touched || released)
      return;
    demur_receiver_count(shared_.n_broken);
    if (receiver_.problem != nullptr)
      receiver_.problem("an association broke off: its studies wait until they are sent again",
                        receiver_.data);
  }

  // The disk takes no mark of what a study lacks. Behind so many studies that are known by this alone
  // they are not told apart: all that are here may be parts.
  void note_lost(const std::string &of_study) {
    if (studies_.count(of_study) > 0 || n_lost_alone_++ < demur_receiver_max_lacking(receiver_))
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
  ReceiverShared &shared_;
  const DemurProgress *progress_;
  std::map<std::string, Study> studies_; // by folder
  std::vector<int> left_logs_;           // by the process that wrote them
  std::set<std::string> missing_;        // UIDs of what could not be kept until now
  size_t n_lost_alone_ = 0;              // studies that are here for what the disk takes no mark of
  bool any_lost_ = false;                // .. and there were more of them
  size_t n_unnamed_ = 0;                 // more of them, not told apart
  std::string rest_;                     // of a line
};

// A socket that listens at the address; -1 with errno.
int
open_port(const struct sockaddr *address, socklen_t length) {
  const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  if (fd < 0)
    return -1;
  if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      bind(fd, address, length) == 0 && listen(fd, SOMAXCONN) == 0)
    return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

// On every address, or on the loopback where no other host may call.
int
open_dimse(const DemurReceiver &receiver) {
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<guint16>(receiver.port));
  address.sin_addr.s_addr = htonl(receiver.hosts != nullptr ? INADDR_ANY : INADDR_LOOPBACK);
  return open_port(reinterpret_cast<struct sockaddr *>(&address), sizeof address);
}

int
open_stow(const DemurStow &stow) {
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<guint16>(stow.port));
  if (inet_pton(AF_INET, stow.address, &address.sin_addr) == 1)
    return open_port(reinterpret_cast<struct sockaddr *>(&address), sizeof address);
  struct sockaddr_in6 longer = {};
  longer.sin6_family = AF_INET6;
  longer.sin6_port = htons(static_cast<guint16>(stow.port));
  if (inet_pton(AF_INET6, stow.address, &longer.sin6_addr) == 1)
    return open_port(reinterpret_cast<struct sockaddr *>(&longer), sizeof longer);
  errno = EINVAL;
  return -1;
}

void
close_doors(const Doors &doors) {
  for (const int socket : doors)
    if (socket >= 0)
      close(socket);
}

bool
open_doors(const DemurReceiver &receiver, Doors &doors, GError **error) {
  doors = {open_dimse(receiver), -1};
  guint port = receiver.port;
  if (doors[receiver_door_dimse] >= 0 && receiver.stow != nullptr) {
    doors[receiver_door_stow] = open_stow(*receiver.stow);
    port = receiver.stow->port;
  }
  if (doors[receiver_door_dimse] >= 0 &&
      (receiver.stow == nullptr || doors[receiver_door_stow] >= 0))
    return true;
  const std::string what = "port " + std::to_string(port) + " can't be opened";
  (void)demur_network_fail(error, what.c_str(), g_strerror(errno));
  close_doors(doors);
  return false;
}

gboolean
serve(const DemurReceiver &receiver, ReceiverShared &shared, DemurReceived &received,
      const DemurProgress *progress, GError **error) {
  Doors doors;
  if (!open_doors(receiver, doors, error))
    return FALSE;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close_doors(doors);
    return demur_network_fail(error, N_("the server can't start"), g_strerror(errno));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
  Keeper keeper(receiver, shared, progress);
  keeper.recall();
  const pid_t self = getpid(), listener = fork();
  if (listener == 0) {
    close(ends[0]);
    Listener(receiver, shared, doors, ends[1]).run(self);
  }
  close(ends[1]);
  close_doors(doors);
  const bool begun =
      listener > 0 && (receiver.listening == nullptr || receiver.listening(receiver.data, error));
  const bool good = begun && keeper.run(ends[0]);
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
  if (listener > 0 && !begun)
    return FALSE;
  return good ? TRUE
              : demur_network_fail(error, N_("the server ended"), N_("its listener is gone"));
}

gboolean
receive(const DemurReceiver &receiver, DemurReceived &received, const DemurProgress *progress,
        GError **error) {
  if (!demur_folder_make(demur_journal_of(receiver.folder).c_str(), error))
    return FALSE;
  void *memory = mmap(nullptr, sizeof(ReceiverShared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return demur_network_fail(error, N_("the server can't start"), g_strerror(errno));
  auto *shared = static_cast<ReceiverShared *>(memory);
  const gboolean served = serve(receiver, *shared, received, progress, error);
  received.n_associations = shared->n_associations;
  received.n_refused = shared->n_refused;
  received.n_broken = shared->n_broken;
  received.n_received = shared->n_received;
  received.n_rejected = shared->n_rejected;
  received.n_known = shared->n_known;
  munmap(memory, sizeof(ReceiverShared));
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
  if (receiver->stow != nullptr && !demur_stow_check(receiver->stow, error))
    return FALSE;
  return receive(*receiver, *received, progress, error);
}
