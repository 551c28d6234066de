// C-GET: the archive stores what was asked for over the association that asks, so that it need not
// know us or reach us. DCMTK's own session parses what the archive says at its end; ours reads no
// more than its numbers.
#include "dicom/network-scu.hh"
#include "dicom/object-folder.h"

#include "base/error.h"
#include "base/translate.h"

#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmnet/diutil.h>

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Wanted {
  const char *study_uid, *series_uid, *folder;
};

class Getter : public Scu {
public:
  Getter(const Wanted &wanted, DemurGot &got) : Scu(false), wanted_(wanted), got_(got) {
  }

  gboolean get(const DemurProgress *progress, GError **error) {
    const T_ASC_PresentationContextID context =
        findPresentationContextID(UID_GETStudyRootQueryRetrieveInformationModel, "");
    if (context == 0)
      return demur_network_fail(error, N_("the archive"), N_("it knows no C-GET: use C-MOVE"));
    OFCondition condition = ask(context);
    bool last = false;
    while (condition.good() && !last) {
      if (!demur_progress_step(progress, 0.0, "fetching", error)) {
        abortAssociation();
        return FALSE;
      }
      condition = take(last);
    }
    if (condition.bad()) {
      abortAssociation();
      return demur_network_fail(error, N_("the archive broke off"),
                                demur_condition_words(condition).c_str());
    }
    // A list of what failed may follow: nobody needs it.
    if (ends_plain_)
      releaseAssociation();
    else
      abortAssociation();
    if (status_ == STATUS_Success && got_.n_failed == 0)
      return TRUE;
    char code[96];
    g_snprintf(code, sizeof code, "status 0x%04X, %zu objects came, %u not", status_,
               got_.n_objects + got_.n_known, got_.n_failed);
    return demur_network_fail(error, N_("the archive did not send all of it"), code);
  }

private:
  OFCondition ask(T_ASC_PresentationContextID context) {
    DcmDataset keys;
    keys.putAndInsertString(DCM_QueryRetrieveLevel,
                            wanted_.series_uid != nullptr ? "SERIES" : "STUDY");
    keys.putAndInsertString(DCM_StudyInstanceUID, wanted_.study_uid);
    if (wanted_.series_uid != nullptr)
      keys.putAndInsertString(DCM_SeriesInstanceUID, wanted_.series_uid);
    T_DIMSE_Message message = {};
    message.CommandField = DIMSE_C_GET_RQ;
    T_DIMSE_C_GetRQ &request = message.msg.CGetRQ;
    request.MessageID = 1;
    g_strlcpy(request.AffectedSOPClassUID, UID_GETStudyRootQueryRetrieveInformationModel,
              sizeof request.AffectedSOPClassUID);
    request.Priority = DIMSE_PRIORITY_MEDIUM;
    request.DataSetType = DIMSE_DATASET_PRESENT;
    return sendDIMSEMessage(context, &message, &keys);
  }

  // The next message: an object, or how far it is.
  OFCondition take(bool &last) {
    T_DIMSE_Message message = {};
    T_ASC_PresentationContextID context = 0;
    DcmDataset *detail = nullptr;
    const OFCondition condition = receiveDIMSECommand(&context, &message, &detail);
    delete detail;
    if (condition.bad())
      return condition;
    if (message.CommandField == DIMSE_C_STORE_RQ)
      return store(context, message.msg.CStoreRQ);
    if (message.CommandField != DIMSE_C_GET_RSP)
      return DIMSE_BADCOMMANDTYPE;
    const T_DIMSE_C_GetRSP &response = message.msg.CGetRSP;
    if (response.NumberOfFailedSubOperations > got_.n_failed)
      got_.n_failed = response.NumberOfFailedSubOperations;
    if (DICOM_PENDING_STATUS(response.DimseStatus))
      return response.DataSetType == DIMSE_DATASET_NULL ? EC_Normal : DIMSE_BADMESSAGE;
    last = true;
    status_ = response.DimseStatus;
    ends_plain_ = response.DataSetType == DIMSE_DATASET_NULL;
    return EC_Normal;
  }

  OFCondition store(T_ASC_PresentationContextID context, T_DIMSE_C_StoreRQ &request) {
    const int memory = memfd_create("object", MFD_CLOEXEC);
    if (memory < 0)
      return DIMSE_OUTOFRESOURCES;
    const std::string part = "/proc/self/fd/" + std::to_string(memory);
    OFCondition condition = handleSTORERequestFile(&context, part.c_str(), &request);
    if (condition.good())
      condition = sendSTOREResponse(context, keep(memory), request);
    close(memory);
    return condition;
  }

  Uint16 keep(int memory) {
    const off_t n = lseek(memory, 0, SEEK_END);
    void *bytes = n > 0 ? mmap(nullptr, static_cast<size_t>(n), PROT_READ, MAP_SHARED, memory, 0)
                        : MAP_FAILED;
    if (bytes == MAP_FAILED)
      return STATUS_STORE_Error_CannotUnderstand;
    gboolean known = FALSE;
    g_autoptr(GError) error = nullptr;
    const gboolean kept = demur_object_keep(wanted_.folder, wanted_.study_uid, wanted_.series_uid,
                                            bytes, static_cast<size_t>(n), &known, &error);
    munmap(bytes, static_cast<size_t>(n));
    if (kept) {
      (known ? got_.n_known : got_.n_objects)++;
      return STATUS_Success;
    }
    got_.n_failed++;
    return g_error_matches(error, DEMUR_ERROR, DEMUR_ERROR_OUTPUT)
               ? STATUS_STORE_Refused_OutOfResources
               : STATUS_STORE_Error_CannotUnderstand;
  }

  const Wanted &wanted_;
  DemurGot &got_;
  Uint16 status_ = STATUS_Success;
  bool ends_plain_ = true;
};

// What a study of CT can hold, as it is stored; we are who stores it.
void
add_storage(DcmSCU &scu) {
  static const char *const images[] = {UID_CTImageStorage, UID_EnhancedCTImageStorage,
                                       UID_LegacyConvertedEnhancedCTImageStorage,
                                       UID_SecondaryCaptureImageStorage};
  static const char *const others[] = {UID_BasicTextSRStorage,
                                       UID_EnhancedSRStorage,
                                       UID_ComprehensiveSRStorage,
                                       UID_KeyObjectSelectionDocumentStorage,
                                       UID_EncapsulatedPDFStorage,
                                       UID_GrayscaleSoftcopyPresentationStateStorage,
                                       UID_XRayRadiationDoseSRStorage,
                                       UID_PositronEmissionTomographyImageStorage,
                                       UID_SegmentationStorage,
                                       UID_RawDataStorage,
                                       UID_MRImageStorage,
                                       UID_DigitalXRayImageStorageForPresentation,
                                       UID_ComputedRadiographyImageStorage};
  const OFList<OFString> plain = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
  for (const char *image : images) {
    for (const OFString &syntax : demur_network_syntaxes(DEMUR_EXCHANGE_AS_IS)) {
      OFList<OFString> one;
      one.push_back(syntax);
      scu.addPresentationContext(image, one, ASC_SC_ROLE_SCP);
    }
    scu.addPresentationContext(image, plain, ASC_SC_ROLE_SCP);
  }
  for (const char *other : others)
    scu.addPresentationContext(other, plain, ASC_SC_ROLE_SCP);
}

gboolean
get(const DemurPeer &peer, const Wanted &wanted, DemurGot &got, const DemurProgress *progress,
    GError **error) {
  Getter getter(wanted, got);
  demur_scu_set_up(getter, peer);
  const OFList<OFString> plain = demur_network_syntaxes(DEMUR_EXCHANGE_PLAIN);
  getter.addPresentationContext(UID_GETStudyRootQueryRetrieveInformationModel, plain);
  add_storage(getter);
  return demur_scu_associate(getter, peer, error) && getter.get(progress, error);
}

} // namespace

gboolean
demur_network_get(const DemurPeer *peer, const char *study_uid, const char *series_uid,
                  const char *folder, DemurGot *got, const DemurProgress *progress,
                  GError **error) {
  *got = DemurGot{};
  const Wanted wanted = {study_uid, series_uid, folder};
  return demur_scu_guarded(error, [&] { return get(*peer, wanted, *got, progress, error); });
}
