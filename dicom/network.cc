#include "dicom/dataset-pixels.hh"
#include "base/error.h"
#include "base/translate.h"
#include "dicom/network.h"
#include "dicom/charset.h"
#include "dicom/files.h"
#include "dicom/library.h"
#include "dicom/network-scu.hh"
#include "dicom/data-set.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmnet/diutil.h>
#include <dcmtk/dcmnet/dul.h>
#include <dcmtk/dcmnet/scu.h>
#include <dcmtk/ofstd/ofstd.h>

#include <glib/gstdio.h>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr size_t max_contexts = 128; // of an association, PS3.8

gboolean
echo(const DemurPeer &peer, GError **error) {
  Scu scu;
  demur_scu_set_up(scu, peer);
  OFList<OFString> syntaxes;
  syntaxes.push_back(UID_LittleEndianImplicitTransferSyntax);
  scu.addPresentationContext(UID_VerificationSOPClass, syntaxes);
  if (!demur_scu_associate(scu, peer, error))
    return FALSE;
  const OFCondition condition = scu.sendECHORequest(0);
  scu.releaseAssociation();
  return condition.good() ? TRUE
                          : demur_network_fail(error, N_("no answer to the echo"),
                                               demur_condition_words(condition).c_str());
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

// What the peer takes where it doesn't take an object as it is: plain, explicit rather than
// implicit.
T_ASC_PresentationContextID
plain_context(DcmSCU &scu, const Item &item) {
  const T_ASC_PresentationContextID context =
      scu.findPresentationContextID(item.sop_class.c_str(), UID_LittleEndianExplicitTransferSyntax);
  return context != 0 ? context
                      : scu.findPresentationContextID(item.sop_class.c_str(),
                                                      UID_LittleEndianImplicitTransferSyntax);
}

// Loads the object and takes the compression off its pixels; why that can't be done, or "". Its
// stored values stay what they are.
std::string
load_plain(const Item &item, DcmFileFormat &file) {
  g_autoptr(GError) cause = nullptr;
  g_autoptr(DemurSource) source = demur_source_open(item.path, &cause);
  g_autoptr(DemurHeader) header = source != nullptr ? demur_header_read(&source, &cause) : nullptr;
  if (header == nullptr)
    return cause->message;
  if (file.loadFile(item.path).bad())
    return "DCMTK can't read it";
  file.loadAllDataIntoMemory();
  DcmDataset &dataset = *file.getDataset();
  if (!header->encapsulated)
    return "";
  if (header->samples != 1) {
    const OFCondition status = dataset.chooseRepresentation(EXS_LittleEndianExplicit, nullptr);
    return status.good() ? "" : status.text();
  }
  DemurNativePixels pixels;
  if (!demur_native_pixels(source, header, &pixels, &cause))
    return cause->message;
  const std::string why = demur_put_native_pixels(dataset, *header, pixels);
  demur_native_pixels_clear(&pixels);
  return why;
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
    T_ASC_PresentationContextID context =
        scu.findPresentationContextID(item.sop_class.c_str(), item.syntax.c_str());
    DcmFileFormat plain;
    const bool as_it_is = context != 0;
    std::string why;
    if (!as_it_is) {
      context = plain_context(scu, item);
      why = context != 0 ? load_plain(item, plain) : "";
    }
    if (context == 0 || !why.empty()) {
      sending.n_failed++;
      note(sending, item.instance + ": the peer takes no " + item.sop_class + " as " + item.syntax +
                        (why.empty() ? "" : ", and it can't be sent plain: " + why));
      continue;
    }
    Uint16 status = 0;
    const OFCondition condition =
        as_it_is ? scu.sendSTORERequest(context, OFFilename(item.path), nullptr, status)
                 : scu.sendSTORERequest(context, OFFilename(), plain.getDataset(), status);
    if (condition.bad() && !scu.isConnected()) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "the association with %s broke off after %zu of %zu objects: %s",
                      demur_peer_name(peer).c_str(), sending.n_sent, items.size(),
                      demur_condition_words(condition).c_str());
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
    note(sending,
         item.instance + ": " +
             (condition.bad() ? demur_condition_words(condition) : std::string("status ") + code));
    if (condition.bad()) {
      demur_error_set(error, DEMUR_ERROR_STATE,
                      "%s does not answer any more after %zu of %zu objects: %s",
                      demur_peer_name(peer).c_str(), sending.n_sent, items.size(),
                      demur_condition_words(condition).c_str());
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
  // Plain ones beside, where there is room: a peer that can't unpack gets them unpacked.
  auto with_plain = contexts;
  for (const auto &context : contexts) {
    with_plain.insert({context.first, UID_LittleEndianExplicitTransferSyntax});
    with_plain.insert({context.first, UID_LittleEndianImplicitTransferSyntax});
  }
  if (with_plain.size() <= max_contexts)
    contexts = with_plain;
  if (contexts.empty())
    return TRUE;
  if (contexts.size() > max_contexts)
    return demur_network_fail(
        error, N_("too many kinds of objects for one association"),
        N_("send fewer at once (at most 128 pairs of SOP class and transfer syntax)"));
  Scu scu;
  demur_scu_set_up(scu, peer);
  for (const auto &context : contexts) {
    OFList<OFString> syntaxes;
    syntaxes.push_back(context.second.c_str());
    scu.addPresentationContext(context.first.c_str(), syntaxes);
  }
  return demur_scu_associate(scu, peer, error) &&
         store_items(scu, peer, items, progress, sending, error);
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
  const OFList<OFString> syntaxes = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
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
  demur_scu_set_up(scu, peer);
  add_uncompressed(scu, UID_FINDStudyRootQueryRetrieveInformationModel);
  if (!demur_scu_associate(scu, peer, error))
    return nullptr;
  const T_ASC_PresentationContextID context =
      scu.findPresentationContextID(UID_FINDStudyRootQueryRetrieveInformationModel, "");
  DcmDataset keys;
  fill_keys(keys, query, series);
  OFList<QRResponse *> responses;
  const OFCondition condition = context != 0 ? scu.sendFINDRequest(context, &keys, &responses)
                                             : DIMSE_NOVALIDPRESENTATIONCONTEXTID;
  scu.releaseAssociation();
  GPtrArray *list =
      g_ptr_array_new_with_free_func(reinterpret_cast<GDestroyNotify>(demur_found_free));
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
  demur_network_fail(error, N_("the query was not answered"),
                     condition.bad() ? demur_condition_words(condition).c_str() : code);
  return nullptr;
}

gboolean
move(const DemurPeer &peer, const char *destination, const char *study_uid, const char *series_uid,
     DemurMoved &moved, GError **error) {
  Scu scu;
  demur_scu_set_up(scu, peer);
  add_uncompressed(scu, UID_MOVEStudyRootQueryRetrieveInformationModel);
  if (!demur_scu_associate(scu, peer, error))
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
  return demur_network_fail(error, N_("the archive did not move all of it"),
                            condition.bad() ? demur_condition_words(condition).c_str() : code);
}

} // namespace

gboolean
demur_network_echo(const DemurPeer *peer, GError **error) {
  return demur_scu_guarded(error, [&] { return echo(*peer, error); });
}

DemurSending *
demur_network_send(const DemurPeer *peer, const char *const *paths, const DemurProgress *progress,
                   GError **error) {
  g_autoptr(DemurSending) sending = g_new0(DemurSending, 1);
  sending->problems = g_ptr_array_new_with_free_func(g_free);
  if (!demur_scu_guarded(error, [&] { return send(*peer, paths, progress, *sending, error); }))
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

void
demur_found_free(DemurFound *found) {
  if (found == nullptr)
    return;
  char *texts[] = {found->patient_id,       found->study_uid,         found->study_date,
                   found->accession_number, found->study_description, found->series_uid,
                   found->series_number,    found->modality,          found->series_description,
                   found->n_instances};
  for (char *text : texts)
    g_free(text);
  g_free(found);
}

GPtrArray *
demur_network_find(const DemurPeer *peer, const DemurQuery *query, GError **error) {
  return demur_scu_guarded(error, [&] { return find(*peer, *query, error); });
}

gboolean
demur_network_move(const DemurPeer *peer, const char *destination, const char *study_uid,
                   const char *series_uid, DemurMoved *moved, GError **error) {
  *moved = DemurMoved{};
  return demur_scu_guarded(
      error, [&] { return move(*peer, destination, study_uid, series_uid, *moved, error); });
}
