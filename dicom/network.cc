#include "dicom/network.h"
#include "dicom/charset.h"
#include "dicom/files.h"
#include "dicom/library.h"
#include "dicom/transport-guard.hh"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmnet/diutil.h>
#include <dcmtk/dcmnet/dul.h>
#include <dcmtk/dcmnet/scp.h>
#include <dcmtk/dcmnet/scu.h>
#include <dcmtk/ofstd/ofstd.h>

#include <glib/gstdio.h>
#include <csignal>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr size_t max_contexts = 128; // of an association, PS3.8

gboolean
fail(GError **error, const char *what, const char *why) {
  g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE, "%s: %s", what, why);
  return FALSE;
}

// DCMTK's words, on one line.
std::string
words(const OFCondition &condition) {
  std::string text = condition.text() != nullptr ? condition.text() : "unknown";
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return text;
}

void
prepare() {
  static std::once_flag once;
  std::call_once(once, [] {
    OFStandard::initializeNetwork();
    // DCMTK's own switch: else each object waits twice 40 ms for a delayed acknowledgement.
    g_setenv("TCP_NODELAY", "1", FALSE);
    // A peer that goes away must be an error, not the end of the program.
    std::signal(SIGPIPE, SIG_IGN);
    // Addresses are compared as they are; no name server is asked.
    dcmDisableGethostbyaddr.set(OFTrue);
  });
}

// Before the base that uses it, so that it is there until that is gone.
struct GuardHolder {
  explicit GuardHolder(bool data_are_parsed) : guard(data_are_parsed) {
  }
  GuardedTransport guard;
};

class Scu : private GuardHolder, public DcmSCU {
public:
  Scu() : GuardHolder(true) {
  }

  // DCMTK calls every transport of one's own a secure one; nothing is encrypted.
  OFCondition open() {
    const OFCondition condition = initNetwork();
    return condition.good() ? useSecureConnection(&guard) : condition;
  }
};

void
set_up(DcmSCU &scu, const DemurPeer &peer) {
  scu.setAETitle(peer.calling);
  scu.setPeerAETitle(peer.called);
  scu.setPeerHostName(peer.host);
  scu.setPeerPort(static_cast<Uint16>(peer.port));
  scu.setDIMSEBlockingMode(DIMSE_NONBLOCKING);
  scu.setDIMSETimeout(peer.timeout_seconds);
  scu.setACSETimeout(peer.timeout_seconds);
  scu.setConnectionTimeout(static_cast<Sint32>(peer.timeout_seconds));
}

std::string
name_of(const DemurPeer &peer) {
  return std::string(peer.called) + " at " + peer.host + ":" + std::to_string(peer.port);
}

// Connects with the contexts added before.
gboolean
associate(Scu &scu, const DemurPeer &peer, GError **error) {
  OFCondition condition = scu.open();
  if (condition.good())
    condition = scu.negotiateAssociation();
  if (condition.good())
    return TRUE;
  const std::string what = "no association with " + name_of(peer);
  return fail(error, what.c_str(), words(condition).c_str());
}

gboolean
echo(const DemurPeer &peer, GError **error) {
  Scu scu;
  set_up(scu, peer);
  OFList<OFString> syntaxes;
  syntaxes.push_back(UID_LittleEndianImplicitTransferSyntax);
  scu.addPresentationContext(UID_VerificationSOPClass, syntaxes);
  if (!associate(scu, peer, error))
    return FALSE;
  const OFCondition condition = scu.sendECHORequest(0);
  scu.releaseAssociation();
  return condition.good() ? TRUE : fail(error, "no answer to the echo", words(condition).c_str());
}

// One object to be sent.
struct Item {
  const char *path;
  std::string sop_class, syntax, instance;
};

void
note(DemurSending &sending, const std::string &sentence) {
  g_ptr_array_add(sending.problems, g_strdup(sentence.c_str()));
}

// What can be sent; every object is walked whole here.
std::vector<Item>
find_items(const char *const *paths, DemurSending &sending) {
  std::vector<Item> items;
  for (; *paths != nullptr; paths++) {
    g_autoptr(GError) cause = nullptr;
    g_autoptr(DemurSource) source = demur_source_open(*paths, &cause);
    g_autofree char *name = demur_files_display(*paths, nullptr);
    g_autoptr(DemurHeader) header =
        source != nullptr ? demur_header_read(&source, &cause) : nullptr;
    if (header == nullptr) {
      sending.n_skipped++;
      note(sending, std::string(name) + ": " + cause->message);
      continue;
    }
    // From its beginning again: a deflated object was replaced by what was in it.
    g_autoptr(DemurSource) whole = demur_source_open(*paths, &cause);
    const bool sound = whole != nullptr && demur_data_set_check(&whole, &cause);
    if (!sound || header->sop_class_uid == nullptr || header->sop_instance_uid == nullptr) {
      sending.n_failed++;
      note(sending, std::string(name) + ": " +
                        (cause != nullptr ? cause->message : "no SOP class or instance UID"));
      continue;
    }
    items.push_back(
        {*paths, header->sop_class_uid, header->transfer_syntax_uid, header->sop_instance_uid});
  }
  return items;
}

// Stores the items of one association; FALSE with error where it broke off.
gboolean
store_items(DcmSCU &scu, const DemurPeer &peer, const std::vector<Item> &items,
            const DemurProgress *progress, DemurSending &sending, GError **error) {
  for (size_t i = 0; i < items.size(); i++) {
    const Item &item = items[i];
    if (!demur_progress_step(progress, static_cast<double>(i) / static_cast<double>(items.size()),
                             "sending", error)) {
      scu.abortAssociation();
      return FALSE;
    }
    const T_ASC_PresentationContextID context =
        scu.findPresentationContextID(item.sop_class.c_str(), item.syntax.c_str());
    if (context == 0) {
      sending.n_failed++;
      note(sending, item.instance + ": the peer takes no " + item.sop_class + " as " + item.syntax);
      continue;
    }
    Uint16 status = 0;
    const OFCondition condition =
        scu.sendSTORERequest(context, OFFilename(item.path), nullptr, status);
    if (condition.bad() && !scu.isConnected()) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                  "the association with %s broke off after %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                  " objects: %s",
                  name_of(peer).c_str(), sending.n_sent, items.size(), words(condition).c_str());
      return FALSE;
    }
    // 0xB000 and its kin: stored, with a remark.
    if (condition.good() && (status == 0 || (status & 0xF000) == 0xB000)) {
      sending.n_sent++;
      continue;
    }
    sending.n_failed++;
    char code[16];
    g_snprintf(code, sizeof code, "0x%04X", status);
    note(sending, item.instance + ": " +
                      (condition.bad() ? words(condition) : std::string("status ") + code));
    if (condition.bad()) {
      g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_STATE,
                  "%s does not answer any more after %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                  " objects: %s",
                  name_of(peer).c_str(), sending.n_sent, items.size(), words(condition).c_str());
      scu.abortAssociation();
      return FALSE;
    }
  }
  scu.releaseAssociation();
  return TRUE;
}

gboolean
send(const DemurPeer &peer, const char *const *paths, const DemurProgress *progress,
     DemurSending &sending, GError **error) {
  const std::vector<Item> items = find_items(paths, sending);
  std::set<std::pair<std::string, std::string>> contexts;
  for (const Item &item : items)
    contexts.insert({item.sop_class, item.syntax});
  if (contexts.empty())
    return TRUE;
  if (contexts.size() > max_contexts)
    return fail(error, "too many kinds of objects for one association",
                "send fewer at once (at most 128 pairs of SOP class and transfer syntax)");
  Scu scu;
  set_up(scu, peer);
  for (const auto &context : contexts) {
    OFList<OFString> syntaxes;
    syntaxes.push_back(context.second.c_str());
    scu.addPresentationContext(context.first.c_str(), syntaxes);
  }
  return associate(scu, peer, error) && store_items(scu, peer, items, progress, sending, error);
}

void
want(DcmDataset &keys, const DcmTagKey &tag, const char *value) {
  keys.putAndInsertString(tag, value != nullptr ? value : "");
}

char *
found_text(DcmDataset &answer, const DcmTagKey &tag, const char *character_set) {
  const char *text = nullptr;
  answer.findAndGetString(tag, text);
  return demur_charset_to_utf8(text != nullptr ? text : "", text != nullptr ? std::strlen(text) : 0,
                               character_set);
}

DemurFound *
found_new(DcmDataset &answer, bool series) {
  const char *set = nullptr;
  answer.findAndGetString(DCM_SpecificCharacterSet, set);
  DemurFound *found = g_new0(DemurFound, 1);
  found->patient_id = found_text(answer, DCM_PatientID, set);
  found->study_uid = found_text(answer, DCM_StudyInstanceUID, set);
  found->study_date = found_text(answer, DCM_StudyDate, set);
  found->accession_number = found_text(answer, DCM_AccessionNumber, set);
  found->study_description = found_text(answer, DCM_StudyDescription, set);
  found->series_uid = found_text(answer, DCM_SeriesInstanceUID, set);
  found->series_number = found_text(answer, DCM_SeriesNumber, set);
  found->modality = found_text(answer, series ? DCM_Modality : DCM_ModalitiesInStudy, set);
  found->series_description = found_text(answer, DCM_SeriesDescription, set);
  found->n_instances = found_text(
      answer, series ? DCM_NumberOfSeriesRelatedInstances : DCM_NumberOfStudyRelatedInstances, set);
  return found;
}

void
found_free(gpointer data) {
  auto *found = static_cast<DemurFound *>(data);
  char *texts[] = {found->patient_id,       found->study_uid,         found->study_date,
                   found->accession_number, found->study_description, found->series_uid,
                   found->series_number,    found->modality,          found->series_description,
                   found->n_instances};
  for (char *text : texts)
    g_free(text);
  g_free(found);
}

void
fill_keys(DcmDataset &keys, const DemurQuery &query, bool series) {
  want(keys, DCM_QueryRetrieveLevel, series ? "SERIES" : "STUDY");
  want(keys, DCM_StudyInstanceUID, query.study_uid);
  if (series) {
    want(keys, DCM_SeriesInstanceUID, query.series_uid);
    want(keys, DCM_SeriesNumber, nullptr);
    want(keys, DCM_Modality, query.modality);
    want(keys, DCM_SeriesDescription, nullptr);
    want(keys, DCM_NumberOfSeriesRelatedInstances, nullptr);
    return;
  }
  want(keys, DCM_PatientID, query.patient_id);
  want(keys, DCM_AccessionNumber, query.accession_number);
  want(keys, DCM_StudyDate, query.study_date);
  want(keys, DCM_ModalitiesInStudy, query.modality);
  want(keys, DCM_StudyDescription, nullptr);
  want(keys, DCM_NumberOfStudyRelatedInstances, nullptr);
}

void
add_uncompressed(DcmSCU &scu, const char *sop_class) {
  OFList<OFString> syntaxes;
  syntaxes.push_back(UID_LittleEndianExplicitTransferSyntax);
  syntaxes.push_back(UID_LittleEndianImplicitTransferSyntax);
  scu.addPresentationContext(sop_class, syntaxes);
}

template <typename Response>
void
clear_list(OFList<Response *> &responses) {
  for (auto at = responses.begin(); at != responses.end(); ++at)
    delete *at;
  responses.clear();
}

GPtrArray *
find(const DemurPeer &peer, const DemurQuery &query, GError **error) {
  const bool series = query.study_uid != nullptr;
  Scu scu;
  set_up(scu, peer);
  add_uncompressed(scu, UID_FINDStudyRootQueryRetrieveInformationModel);
  if (!associate(scu, peer, error))
    return nullptr;
  const T_ASC_PresentationContextID context =
      scu.findPresentationContextID(UID_FINDStudyRootQueryRetrieveInformationModel, "");
  DcmDataset keys;
  fill_keys(keys, query, series);
  OFList<QRResponse *> responses;
  const OFCondition condition = context != 0 ? scu.sendFINDRequest(context, &keys, &responses)
                                             : DIMSE_NOVALIDPRESENTATIONCONTEXTID;
  scu.releaseAssociation();
  GPtrArray *list = g_ptr_array_new_with_free_func(found_free);
  Uint16 last = 0;
  for (auto at = responses.begin(); at != responses.end(); ++at) {
    last = (*at)->m_status;
    if ((*at)->m_dataset != nullptr && DICOM_PENDING_STATUS(last))
      g_ptr_array_add(list, found_new(*(*at)->m_dataset, series));
  }
  clear_list(responses);
  if (condition.good() && last == STATUS_Success)
    return list;
  g_ptr_array_unref(list);
  char code[32];
  g_snprintf(code, sizeof code, "status 0x%04X", last);
  fail(error, "the query was not answered", condition.bad() ? words(condition).c_str() : code);
  return nullptr;
}

gboolean
move(const DemurPeer &peer, const char *destination, const char *study_uid, const char *series_uid,
     DemurMoved &moved, GError **error) {
  Scu scu;
  set_up(scu, peer);
  add_uncompressed(scu, UID_MOVEStudyRootQueryRetrieveInformationModel);
  if (!associate(scu, peer, error))
    return FALSE;
  const T_ASC_PresentationContextID context =
      scu.findPresentationContextID(UID_MOVEStudyRootQueryRetrieveInformationModel, "");
  DcmDataset keys;
  want(keys, DCM_QueryRetrieveLevel, series_uid != nullptr ? "SERIES" : "STUDY");
  want(keys, DCM_StudyInstanceUID, study_uid);
  if (series_uid != nullptr)
    want(keys, DCM_SeriesInstanceUID, series_uid);
  OFList<RetrieveResponse *> responses;
  const OFCondition condition = context != 0
                                    ? scu.sendMOVERequest(context, destination, &keys, &responses)
                                    : DIMSE_NOVALIDPRESENTATIONCONTEXTID;
  scu.releaseAssociation();
  Uint16 last = STATUS_Success;
  for (auto at = responses.begin(); at != responses.end(); ++at) {
    last = (*at)->m_status;
    moved.n_completed =
        MAX(moved.n_completed, static_cast<guint>((*at)->m_numberOfCompletedSubops));
    moved.n_failed = MAX(moved.n_failed, static_cast<guint>((*at)->m_numberOfFailedSubops));
    moved.n_warnings = MAX(moved.n_warnings, static_cast<guint>((*at)->m_numberOfWarningSubops));
  }
  clear_list(responses);
  if (condition.good() && last == STATUS_Success && moved.n_failed == 0)
    return TRUE;
  char code[96];
  g_snprintf(code, sizeof code, "status 0x%04X, %u objects moved, %u not", last, moved.n_completed,
             moved.n_failed);
  return fail(error, "the archive did not move all of it",
              condition.bad() ? words(condition).c_str() : code);
}

bool
is_uid(const char *text) {
  const size_t n = text != nullptr ? std::strlen(text) : 0;
  return n > 0 && n <= 64 && std::strspn(text, "0123456789.") == n && text[0] != '.';
}

const char *
folder_name(const char *uid) {
  return is_uid(uid) ? uid : "unnamed";
}

bool
same_bytes(const char *one, const char *other) {
  g_autoptr(GMappedFile) a = g_mapped_file_new(one, FALSE, nullptr);
  g_autoptr(GMappedFile) b = g_mapped_file_new(other, FALSE, nullptr);
  return a != nullptr && b != nullptr &&
         g_mapped_file_get_length(a) == g_mapped_file_get_length(b) &&
         std::memcmp(g_mapped_file_get_contents(a), g_mapped_file_get_contents(b),
                     g_mapped_file_get_length(a)) == 0;
}

class Server : private GuardHolder, public DcmSCP {
public:
  Server(const DemurReceiver &receiver, DemurReceived &received, const DemurProgress *progress)
      : GuardHolder(false), receiver_(receiver), received_(received), progress_(progress) {
  }

  OFCondition open() {
    setPort(static_cast<Uint16>(receiver_.port));
    setAETitle(receiver_.ae);
    setConnectionBlockingMode(DUL_NOBLOCK);
    setConnectionTimeout(1);
    setDIMSEBlockingMode(DIMSE_NONBLOCKING);
    setDIMSETimeout(receiver_.timeout_seconds);
    setACSETimeout(receiver_.timeout_seconds);
    setMaxReceivePDULength(ASC_MAXIMUMPDUSIZE);
    setHostLookupEnabled(OFFalse);
    setEnableVerification();
    getConfig().setTransportLayer(&guard);
    // As sent: whichever of these a peer proposes.
    static const char *const syntaxes[] = {
        UID_LittleEndianExplicitTransferSyntax,
        UID_LittleEndianImplicitTransferSyntax,
        UID_BigEndianExplicitTransferSyntax,
        UID_DeflatedExplicitVRLittleEndianTransferSyntax,
        UID_JPEGProcess14SV1TransferSyntax,
        UID_JPEGProcess14TransferSyntax,
        UID_JPEGLSLosslessTransferSyntax,
        UID_JPEG2000LosslessOnlyTransferSyntax,
        UID_RLELosslessTransferSyntax,
        UID_JPEGLSLossyTransferSyntax,
        UID_JPEG2000TransferSyntax,
        UID_JPEGProcess1TransferSyntax,
        UID_JPEGProcess2_4TransferSyntax,
    };
    OFList<OFString> list;
    for (const char *syntax : syntaxes)
      list.push_back(syntax);
    for (int i = 0; i < numberOfDcmAllStorageSOPClassUIDs; i++)
      addPresentationContext(dcmAllStorageSOPClassUIDs[i], list);
    return openListenPort();
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

  // (checkCallingHostAccepted is given an empty text by DCMTK 3.6.7.)
  void notifyAssociationRequest(const T_ASC_Parameters &parameters,
                                DcmSCPActionType &action) override {
    static const char *const loopback[] = {"127.0.0.1", "::1", nullptr};
    const char *const *hosts = receiver_.hosts != nullptr ? receiver_.hosts : loopback;
    if (g_strv_contains(hosts, parameters.DULparams.callingPresentationAddress) ||
        g_strv_contains(hosts, "any"))
      return;
    refuse("the calling host is not on the list");
    action = DCMSCP_ACTION_REFUSE_ASSOCIATION;
  }

  void notifyAssociationAcknowledge() override {
    received_.n_associations++;
    released_ = false;
    touched_.clear();
  }

  void notifyReleaseRequest() override {
    released_ = true;
    DcmSCP::notifyReleaseRequest();
  }

  void notifyAssociationTermination() override {
    if (!released_ && !touched_.empty()) {
      received_.n_broken++;
      tell("an association broke off: its studies wait until they are sent again");
    }
    for (const std::string &folder : touched_) {
      complete_.erase(folder);
      if (released_)
        complete_.insert(folder);
    }
    touched_.clear();
    quiet_since_ = g_get_monotonic_time();
    DcmSCP::notifyAssociationTermination();
  }

  void notifyConnectionTimeout() override {
    if (!demur_progress_step(progress_, 0.0, "receiving", nullptr))
      stop_ = true;
    const gint64 quiet = g_get_monotonic_time() - quiet_since_;
    if (stop_ || complete_.empty() ||
        quiet < static_cast<gint64>(receiver_.settle_seconds) * G_USEC_PER_SEC)
      return;
    std::vector<const char *> folders;
    for (const std::string &folder : complete_)
      folders.push_back(folder.c_str());
    folders.push_back(nullptr);
    if (!receiver_.settled(folders.data(), receiver_.data))
      stop_ = true;
    complete_.clear();
  }

  OFBool stopAfterConnectionTimeout() override {
    return stop_ ? OFTrue : OFFalse;
  }
  OFBool stopAfterCurrentAssociation() override {
    if (!demur_progress_step(progress_, 0.0, "receiving", nullptr))
      stop_ = true;
    return stop_ ? OFTrue : OFFalse;
  }

  OFCondition handleIncomingCommand(T_DIMSE_Message *message,
                                    const DcmPresentationContextInfo &info) override {
    if (!demur_progress_step(progress_, 0.0, "receiving", nullptr)) {
      stop_ = true;
      return DIMSE_ILLEGALASSOCIATION; // ends the association
    }
    if (message->CommandField != DIMSE_C_STORE_RQ)
      return DcmSCP::handleIncomingCommand(message, info);
    T_DIMSE_C_StoreRQ &request = message->msg.CStoreRQ;
    g_autofree char *part = g_strdup_printf("%s/.incoming-%u-%" G_GUINT64_FORMAT, receiver_.folder,
                                            receiver_.port, ++n_parts_);
    const OFCondition condition =
        receiveSTORERequest(request, info.presentationContextID, OFString(part));
    if (condition.bad()) { // a full disk, or a peer that is gone
      g_unlink(part);
      return condition;
    }
    return sendSTOREResponse(info.presentationContextID, request, keep(part));
  }

private:
  void tell(const char *sentence) {
    if (receiver_.problem != nullptr)
      receiver_.problem(sentence, receiver_.data);
  }

  OFBool refuse(const char *why) {
    received_.n_refused++;
    const std::string sentence = std::string("an association was refused: ") + why;
    tell(sentence.c_str());
    return OFFalse;
  }

  // Looks at what came and puts it in its place; the DIMSE status.
  Uint16 keep(const char *part) {
    g_autoptr(GError) cause = nullptr;
    g_autoptr(DemurSource) source = demur_source_open(part, &cause);
    const bool sound = source != nullptr && demur_data_set_check(&source, &cause);
    g_autoptr(DemurSource) again = sound ? demur_source_open(part, &cause) : nullptr;
    g_autoptr(DemurHeader) header = again != nullptr ? demur_header_read(&again, &cause) : nullptr;
    if (header == nullptr || !is_uid(header->sop_instance_uid)) {
      received_.n_rejected++;
      const std::string sentence =
          std::string("an object was rejected: ") +
          (cause != nullptr ? cause->message : "its SOPInstanceUID is no UID");
      tell(sentence.c_str());
      g_unlink(part);
      return STATUS_STORE_Error_CannotUnderstand;
    }
    g_autofree char *study =
        g_build_filename(receiver_.folder, folder_name(header->study_uid), nullptr);
    g_autofree char *series = g_build_filename(study, folder_name(header->series_uid), nullptr);
    if (g_mkdir_with_parents(series, 0700) != 0)
      return out_of_room(part);
    for (int copy = 1;; copy++) {
      g_autofree char *name =
          copy == 1 ? g_strdup_printf("%s/%s.dcm", series, header->sop_instance_uid)
                    : g_strdup_printf("%s/%s-%d.dcm", series, header->sop_instance_uid, copy);
      if (g_file_test(name, G_FILE_TEST_EXISTS)) {
        if (!same_bytes(name, part))
          continue;
        received_.n_known++;
        g_unlink(part);
      } else if (g_rename(part, name) != 0) {
        return out_of_room(part);
      } else {
        received_.n_received++;
      }
      touched_.insert(study);
      return STATUS_Success;
    }
  }

  Uint16 out_of_room(const char *part) {
    received_.n_rejected++;
    tell("an object could not be kept: the folder can't be written");
    g_unlink(part);
    return STATUS_STORE_Refused_OutOfResources;
  }

  const DemurReceiver &receiver_;
  DemurReceived &received_;
  const DemurProgress *progress_;
  std::set<std::string> touched_;  // study folders of this association
  std::set<std::string> complete_; // and of those released since the last settling
  gint64 quiet_since_ = 0;
  guint64 n_parts_ = 0;
  bool released_ = false, stop_ = false;
};

gboolean
receive(const DemurReceiver &receiver, DemurReceived &received, const DemurProgress *progress,
        GError **error) {
  if (g_mkdir_with_parents(receiver.folder, 0700) != 0) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "the folder %s can't be made",
                receiver.folder);
    return FALSE;
  }
  Server server(receiver, received, progress);
  const OFCondition opened = server.open();
  if (opened.bad()) {
    const std::string what = "port " + std::to_string(receiver.port) + " can't be opened";
    return fail(error, what.c_str(), words(opened).c_str());
  }
  if (receiver.listening != nullptr)
    receiver.listening(receiver.data);
  server.acceptAssociations();
  return TRUE;
}

// Runs one of the functions above with what they all need.
template <typename Function>
auto
guarded(GError **error, Function function) -> decltype(function()) {
  if (!demur_dicom_init(error))
    return {};
  prepare();
  try {
    return function();
  } catch (const std::exception &exception) {
    fail(error, "the network failed", exception.what());
    return {};
  }
}

} // namespace

gboolean
demur_network_echo(const DemurPeer *peer, GError **error) {
  return guarded(error, [&] { return echo(*peer, error); });
}

DemurSending *
demur_network_send(const DemurPeer *peer, const char *const *paths, const DemurProgress *progress,
                   GError **error) {
  g_autoptr(DemurSending) sending = g_new0(DemurSending, 1);
  sending->problems = g_ptr_array_new_with_free_func(g_free);
  if (!guarded(error, [&] { return send(*peer, paths, progress, *sending, error); }))
    return nullptr;
  return static_cast<DemurSending *>(g_steal_pointer(&sending));
}

void
demur_sending_free(DemurSending *sending) {
  if (sending == nullptr)
    return;
  g_ptr_array_unref(sending->problems);
  g_free(sending);
}

GPtrArray *
demur_network_find(const DemurPeer *peer, const DemurQuery *query, GError **error) {
  return guarded(error, [&] { return find(*peer, *query, error); });
}

gboolean
demur_network_move(const DemurPeer *peer, const char *destination, const char *study_uid,
                   const char *series_uid, DemurMoved *moved, GError **error) {
  *moved = DemurMoved{};
  return guarded(error,
                 [&] { return move(*peer, destination, study_uid, series_uid, *moved, error); });
}

gboolean
demur_network_receive(const DemurReceiver *receiver, DemurReceived *received,
                      const DemurProgress *progress, GError **error) {
  *received = DemurReceived{};
  return guarded(error, [&] { return receive(*receiver, *received, progress, error); });
}
