#include "dicom/commitment.h"
#include "dicom/commitment-message.hh"
#include "dicom/files.h"
#include "dicom/network-scu.hh"
#include "dicom/object-folder.h"

#include "base/error.h"
#include "base/translate.h"
#include "base/file-input.h"
#include "base/file-output.h"

#include <dcmtk/dcmnet/diutil.h>

#include <glib/gstdio.h>

namespace {

// DCMTK finds no context of which we are the provider; an association has one context at least.
constexpr T_ASC_PresentationContextID only_context = 1;
constexpr int answer_seconds = 2; // for the answer over the association that asked

std::string
path_of(const char *folder, const char *transaction_uid) {
  return std::string(folder) + "/.journal/commitments/" + transaction_uid;
}

void
fill_sequence(DcmItem &dataset, const DcmTagKey &tag, const std::vector<CommitmentItem> &items) {
  for (const CommitmentItem &item : items) {
    DcmItem *entry = nullptr;
    dataset.findOrCreateSequenceItem(tag, entry, -2);
    if (entry == nullptr)
      return;
    entry->putAndInsertString(DCM_ReferencedSOPClassUID, item.sop_class.c_str());
    entry->putAndInsertString(DCM_ReferencedSOPInstanceUID, item.instance.c_str());
    if (item.failure != 0)
      entry->putAndInsertUint16(DCM_FailureReason, item.failure);
  }
}

void
parse_sequence(DcmItem &dataset, const DcmTagKey &tag, std::vector<CommitmentItem> &items) {
  DcmSequenceOfItems *sequence = nullptr;
  if (dataset.findAndGetSequence(tag, sequence).bad() || sequence == nullptr)
    return;
  for (unsigned long i = 0; i < sequence->card(); i++) {
    OFString sop_class, instance;
    Uint16 failure = 0;
    DcmItem *entry = sequence->getItem(i);
    entry->findAndGetOFString(DCM_ReferencedSOPClassUID, sop_class);
    entry->findAndGetOFString(DCM_ReferencedSOPInstanceUID, instance);
    entry->findAndGetUint16(DCM_FailureReason, failure);
    items.push_back({sop_class.c_str(), instance.c_str(), failure});
  }
}

// The objects of the files.
gboolean
find_items(const char *const *paths, CommitmentMessage &message, GError **error) {
  for (; *paths != nullptr; paths++) {
    g_autoptr(DemurSource) source = demur_source_open(*paths, error);
    g_autoptr(DemurHeader) header = source != nullptr ? demur_header_read(&source, error) : nullptr;
    if (header == nullptr)
      return FALSE;
    if (header->sop_class_uid == nullptr || header->sop_instance_uid == nullptr) {
      demur_error_set(error, DEMUR_ERROR_INPUT, "%s has no SOP class or instance UID", *paths);
      return FALSE;
    }
    message.items.push_back({header->sop_class_uid, header->sop_instance_uid, 0});
  }
  return TRUE;
}

// What came over the association that asked.
DemurCommitment
await_answer(Scu &scu, const char *transaction_uid) {
  DcmDataset *answer = nullptr;
  Uint16 event = 0;
  const OFCondition condition = scu.handleEVENTREPORTRequest(answer, event, answer_seconds);
  CommitmentMessage message;
  const bool ours = condition.good() && answer != nullptr &&
                    demur_commitment_parse(*answer, message) &&
                    message.transaction == transaction_uid;
  delete answer;
  if (!ours)
    return DEMUR_COMMITMENT_AWAITED;
  return event == commitment_success && message.failed.empty() ? DEMUR_COMMITMENT_GIVEN
                                                               : DEMUR_COMMITMENT_REFUSED;
}

gboolean
commit(const DemurPeer &peer, const CommitmentMessage &message, DemurCommitment &outcome,
       GError **error) {
  Scu scu;
  demur_scu_set_up(scu, peer);
  const OFList<OFString> plain = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
  scu.addPresentationContext(UID_StorageCommitmentPushModelSOPClass, plain);
  if (!demur_scu_associate(scu, peer, error))
    return FALSE;
  const T_ASC_PresentationContextID context =
      scu.findPresentationContextID(UID_StorageCommitmentPushModelSOPClass, "");
  DcmDataset dataset;
  demur_commitment_fill(dataset, message);
  Uint16 status = 0;
  const OFCondition condition =
      context != 0 ? scu.sendACTIONRequest(context, UID_StorageCommitmentPushModelSOPInstance,
                                           commitment_request, &dataset, status)
                   : DIMSE_NOVALIDPRESENTATIONCONTEXTID;
  const bool taken = condition.good() && (status == STATUS_Success || (status & 0xF000) == 0xB000);
  if (taken)
    outcome = await_answer(scu, message.transaction.c_str());
  if (scu.isConnected())
    scu.releaseAssociation();
  char code[32];
  g_snprintf(code, sizeof code, "status 0x%04X", status);
  return taken ? TRUE
               : demur_network_fail(
                     error, N_("the archive takes no question for storage commitment"),
                     condition.bad() ? demur_condition_words(condition).c_str() : code);
}

} // namespace

void
demur_commitment_fill(DcmItem &dataset, const CommitmentMessage &message) {
  dataset.putAndInsertString(DCM_TransactionUID, message.transaction.c_str());
  fill_sequence(dataset, DCM_ReferencedSOPSequence, message.items);
  fill_sequence(dataset, DCM_FailedSOPSequence, message.failed);
}

bool
demur_commitment_report(const DemurPeer &peer, const CommitmentMessage &message) {
  Scu scu;
  demur_scu_set_up(scu, peer);
  const OFList<OFString> plain = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
  scu.addPresentationContext(UID_StorageCommitmentPushModelSOPClass, plain, ASC_SC_ROLE_SCP);
  if (!demur_scu_associate(scu, peer, nullptr))
    return false;
  DcmDataset dataset;
  demur_commitment_fill(dataset, message);
  Uint16 status = STATUS_N_ProcessingFailure;
  (void)scu.sendEVENTREPORTRequest(only_context, UID_StorageCommitmentPushModelSOPInstance,
                                   demur_commitment_event(message), &dataset, status);
  if (scu.isConnected())
    scu.releaseAssociation();
  return status == STATUS_Success;
}

bool
demur_commitment_parse(DcmItem &dataset, CommitmentMessage &message) {
  OFString transaction;
  dataset.findAndGetOFString(DCM_TransactionUID, transaction);
  message.transaction = transaction.c_str();
  parse_sequence(dataset, DCM_ReferencedSOPSequence, message.items);
  parse_sequence(dataset, DCM_FailedSOPSequence, message.failed);
  return demur_object_is_uid(message.transaction.c_str());
}

gboolean
demur_commitment_await(const char *folder, const char *transaction_uid, GError **error) {
  const std::string path = path_of(folder, transaction_uid);
  return demur_folder_make(path.substr(0, path.rfind('/')).c_str(), error) &&
         demur_file_write(path.c_str(), "", 0, DEMUR_FILE_REPLACE, error);
}

DemurCommitment
demur_commitment_heard(const char *folder, const char *transaction_uid) {
  gsize n = 0;
  g_autofree char *text =
      transaction_uid != nullptr
          ? demur_file_input_read(path_of(folder, transaction_uid).c_str(), 1, &n, nullptr)
          : nullptr;
  if (text == nullptr)
    return DEMUR_COMMITMENT_NONE;
  return n == 0           ? DEMUR_COMMITMENT_AWAITED
         : text[0] == '1' ? DEMUR_COMMITMENT_GIVEN
                          : DEMUR_COMMITMENT_REFUSED;
}

gboolean
demur_commitment_note(const char *folder, const char *transaction_uid, gboolean given) {
  return demur_object_is_uid(transaction_uid) &&
         demur_commitment_heard(folder, transaction_uid) != DEMUR_COMMITMENT_NONE &&
         demur_file_write(path_of(folder, transaction_uid).c_str(), given ? "1" : "0", 1,
                          DEMUR_FILE_REPLACE, nullptr);
}

void
demur_commitment_forget(const char *folder, const char *transaction_uid) {
  if (transaction_uid != nullptr)
    (void)g_unlink(path_of(folder, transaction_uid).c_str());
}

gboolean
demur_network_commit(const DemurPeer *peer, const char *const *paths, const char *transaction_uid,
                     DemurCommitment *outcome, GError **error) {
  CommitmentMessage message;
  message.transaction = transaction_uid;
  *outcome = DEMUR_COMMITMENT_AWAITED;
  if (!find_items(paths, message, error))
    return FALSE;
  return demur_scu_guarded(error, [&] { return commit(*peer, message, *outcome, error); });
}
