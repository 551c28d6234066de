// A TID 1500 report through DCMTK's cmr, and an Encapsulated PDF. What the templates leave open is
// coded in a scheme of our own, 99DEMUR, declared in the object.
#include "dicom/result.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/translate.h"
#include "dicom/library.h"
#include "dicom/save-file.hh"
#include "dicom/study.h"
#include "dicom/writer.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmsr/cmr/tid1500.h>
#include <dcmtk/dcmsr/codes/dcm.h>
#include <dcmtk/dcmsr/codes/sct.h>
#include <dcmtk/dcmsr/codes/ucum.h>
#include <dcmtk/dcmsr/dsrdoc.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace {

constexpr char scheme[] = "99DEMUR";

gboolean
fail(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "the result can't be written as DICOM: %s", what);
  return FALSE;
}

// Keeps the first failure of many calls.
class Steps {
public:
  void operator()(const OFCondition &condition) {
    if (first_.good() && condition.bad())
      first_ = condition;
  }
  bool bad() const {
    return first_.bad();
  }
  const char *text() const {
    return first_.text();
  }

private:
  OFCondition first_ = EC_Normal;
};

OFString
text_of(const char *text) {
  return OFString(text != nullptr ? text : "");
}

// DS has at most 16 characters.
OFString
decimal(double value) {
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd(buffer, sizeof buffer, "%.9g", value);
  return OFString(buffer);
}

DSRCodedEntryValue
own_code(const char *value, const char *meaning) {
  return DSRCodedEntryValue(value, scheme, meaning);
}

struct Moment {
  OFString date, time;
};

// "2026-01-31T12:00:00Z" -> DA and TM, in UTC; the object says so by its offset.
Moment
moment_of(const char *created) {
  Moment moment{"19700101", "000000"};
  std::string digits;
  for (const char *at = created; at != nullptr && *at != '\0'; at++)
    if (g_ascii_isdigit(*at))
      digits += *at;
  if (digits.size() >= 14) {
    moment.date = digits.substr(0, 8).c_str();
    moment.time = digits.substr(8, 6).c_str();
  }
  return moment;
}

std::string
uid_of(const std::string &name) {
  g_autofree char *uid = demur_writer_uid(name.c_str());
  return uid;
}

bool
has_interval(const DemurResult &result) {
  return std::isfinite(result.risk) && result.risk_high > result.risk_low;
}

// Everything the result says, for UIDs that differ where results do.
std::string
fingerprint(const DemurResult &result, const DemurSeries &series) {
  std::string text = text_of(series.scan_id).c_str();
  const char *const parts[] = {result.verdict,  result.model,           result.model_version,
                               result.selector, result.selector_digest, result.version,
                               result.created};
  for (const char *part : parts)
    text += std::string("\n") + text_of(part).c_str();
  for (const char *const *reason = result.reasons; reason != nullptr && *reason != nullptr;
       reason++)
    text += std::string("\n") + *reason;
  if (result.remark != nullptr)
    text += std::string("\n") + result.remark;
  text += std::string("\n") + decimal(result.risk).c_str() + " " + decimal(result.score).c_str();
  if (has_interval(result))
    text += std::string("\n") + decimal(result.risk_low).c_str() + " " +
            decimal(result.risk_high).c_str();
  return text;
}

// The references that TID 1600 needs of one image.
void
fill_reference(DcmDataset &image, const DemurSeries &series, const DemurSlice &slice) {
  image.putAndInsertString(DCM_SOPClassUID, series.sop_class_uid);
  image.putAndInsertString(DCM_SOPInstanceUID, slice.sop_instance_uid);
  image.putAndInsertString(DCM_Modality, "CT");
  image.putAndInsertString(DCM_StudyInstanceUID, series.study_uid);
  image.putAndInsertString(DCM_SeriesInstanceUID, series.series_uid);
}

using Group = TID1500_MeasurementReport::TID1501_Measurements;
using Concept = CID7469_GenericIntensityAndSizeMeasurements;
using Unit = CID7181_AbstractMultiDimensionalImageModelComponentUnits;

void
add_number(Steps &step, Group &group, const DSRCodedEntryValue &name, double value) {
  if (!std::isfinite(value))
    return;
  step(group.addMeasurement(Concept(name),
                            Group::MeasurementValue(decimal(value), Unit(Unit::NoUnits))));
}

bool
has_numbers(const DemurResult &result) {
  bool any = std::isfinite(result.risk) || std::isfinite(result.score);
  for (const double risk : result.yearly_risks)
    any = any || std::isfinite(risk);
  return any;
}

// LO and SH-like texts hold 64 characters and no backslash (PS3.5, 6.2).
bool
fits_name(const std::string &text) {
  return g_utf8_strlen(text.c_str(), -1) <= 64 && text.find('\\') == std::string::npos;
}

// "Predicted risk of stroke", with what follows behind it; without the outcome where that is not
// known or makes the meaning of a code too long.
std::string
risk_meaning(const DemurResult &result, const std::string &behind) {
  const std::string plain = "Predicted risk";
  const std::string full =
      result.outcome != nullptr ? plain + " of " + result.outcome + behind : std::string();
  return !full.empty() && fits_name(full) ? full : plain + behind;
}

void
add_numbers(Steps &step, TID1500_MeasurementReport &report, const DemurResult &result,
            const std::string &uid) {
  Group &group = report.getIndividualMeasurements();
  // A prediction is no finding: nothing here says that a tumour was seen.
  step(group.setTrackingIdentifier("Risk prediction"));
  step(group.setTrackingUniqueIdentifier(uid_of(uid + "\ntracking").c_str()));
  bool yearly = false;
  for (int year = 0; year < DEMUR_RESULT_N_YEARS; year++) {
    const std::string value = "RISK" + std::to_string(year + 1);
    const std::string meaning = risk_meaning(result, " within " + std::to_string(year + 1) +
                                                         (year == 0 ? " year" : " years"));
    add_number(step, group, own_code(value.c_str(), meaning.c_str()), result.yearly_risks[year]);
    yearly = yearly || std::isfinite(result.yearly_risks[year]);
  }
  if (!yearly || result.risk != result.yearly_risks[DEMUR_RESULT_N_YEARS - 1])
    add_number(step, group, own_code("RISK", risk_meaning(result, "").c_str()), result.risk);
  if (has_interval(result)) {
    add_number(step, group, own_code("RISKLOW", "Lower 95 % limit of the risk at its hospital"),
               result.risk_low);
    add_number(step, group, own_code("RISKHIGH", "Upper 95 % limit of the risk at its hospital"),
               result.risk_high);
  }
  if (result.horizon_years > 0 && std::isfinite(result.risk))
    add_number(step, group, own_code("HORIZON", "Years of the predicted risk"),
               result.horizon_years);
  add_number(step, group, own_code("SCORE", "Selector score"), result.score);
  add_number(step, group, own_code("THRESHOLD", "Selector threshold"), result.threshold);
  add_number(step, group, own_code("COVERAGE", "Requested coverage"), result.coverage);
  step(group.addQualitativeEvaluation(CODE_DCM_AlgorithmName, text_of(result.model)));
  step(group.addQualitativeEvaluation(
      CODE_DCM_AlgorithmVersion,
      text_of(result.model_version != nullptr ? result.model_version : "not recorded")));
}

void
add_verdict(Steps &step, TID1500_MeasurementReport &report, const DemurResult &result) {
  step(report.addQualitativeEvaluation(own_code("VERDICT", "Verdict"),
                                       own_code(result.verdict, result.verdict_meaning)));
  for (const char *const *reason = result.reasons; reason != nullptr && *reason != nullptr;
       reason++)
    step(report.addQualitativeEvaluation(own_code("REASON", "Reason"), OFString(*reason)));
  // A code's meaning is short; the outcome's name need not be.
  if (result.outcome != nullptr &&
      risk_meaning(result, " within 6 years").find(result.outcome) == std::string::npos)
    step(report.addQualitativeEvaluation(own_code("OUTCOME", "Predicted outcome"),
                                         text_of(result.outcome)));
  if (result.remark != nullptr)
    step(report.addQualitativeEvaluation(own_code("REMARK", "Remark"), text_of(result.remark)));
  if (result.simulated)
    step(report.addQualitativeEvaluation(own_code("SIMULATED", "Simulated"),
                                         OFString("Simulated data: nothing was measured on a "
                                                  "person")));
  step(report.addQualitativeEvaluation(own_code("USE", "Intended use"),
                                       OFString("For research use, not a cleared device")));
  const std::string selector = std::string("Demur selector ") + text_of(result.selector).c_str();
  step(report.addQualitativeEvaluation(CODE_DCM_AlgorithmName, OFString(selector.c_str())));
  step(report.addQualitativeEvaluation(CODE_DCM_AlgorithmVersion, text_of(result.version)));
  step(report.addQualitativeEvaluation(own_code("DIGEST", "Selector digest"),
                                       text_of(result.selector_digest)));
  if (result.log_head != nullptr && *result.log_head != '\0')
    step(report.addQualitativeEvaluation(own_code("LOGHEAD", "Head of the workspace's log"),
                                         text_of(result.log_head)));
}

void
fill_report(Steps &step, TID1500_MeasurementReport &report, const DemurResult &result,
            const DemurSeries &series, const std::string &uid) {
  step(report.setLanguage(CID5000_Languages::English_US));
  step(report.getObservationContext().addDeviceObserver(uid_of("demur device observer").c_str(),
                                                        "Demur", "Demur project", "Demur",
                                                        text_of(result.version)));
  step(report.addProcedureReported(
      CID100_QuantitativeDiagnosticImagingProcedures::CTUnspecifiedBodyRegion));
  TID1600_ImageLibrary &library = report.getImageLibrary();
  if (!library.isValid())
    step(library.createNewImageLibrary());
  step(library.addImageGroup());
  for (size_t i = 0; i < series.n_slices && !step.bad(); i++) {
    if (i > 0 &&
        std::strcmp(series.slices[i].sop_instance_uid, series.slices[i - 1].sop_instance_uid) == 0)
      continue; // frames of one object
    DcmDataset image;
    fill_reference(image, series, series.slices[i]);
    step(library.addImageEntry(image, TID1600_ImageLibrary::withoutDescriptors));
  }
  if (has_numbers(result))
    add_numbers(step, report, result, uid);
  add_verdict(step, report, result);
}

std::string
title_of(const char *outcome) {
  const std::string full = std::string("Demur: ") + text_of(outcome).c_str() + " risk";
  return outcome != nullptr && fits_name(full) ? full : std::string("Demur: predicted risk");
}

// A template that was made but not used would leave an empty container.
void
remove_empty_measurements(DSRDocument &document) {
  DSRDocumentTree &tree = document.getTree();
  if (tree.gotoNamedNode(CODE_DCM_ImagingMeasurements) > 0 && !tree.hasChildNodes())
    tree.removeSubTree();
}

void
fill_document(Steps &step, DSRDocument &document, const DemurResult &result,
              const DemurSeries &series, const DemurStudy &study) {
  step(document.setSpecificCharacterSetType(DSRTypes::CS_UTF8));
  step(document.createNewSeriesInStudy(study.study_uid));
  const std::string title = title_of(result.outcome);
  const struct {
    OFCondition (DSRDocument::*set)(const OFString &, const OFBool);
    const char *value;
  } texts[] = {{&DSRDocument::setPatientName, study.patient_name},
               {&DSRDocument::setPatientID, study.patient_id},
               {&DSRDocument::setPatientBirthDate, study.patient_birth_date},
               {&DSRDocument::setPatientSex, study.patient_sex},
               {&DSRDocument::setStudyDate, study.study_date},
               {&DSRDocument::setStudyTime, study.study_time},
               {&DSRDocument::setStudyID, study.study_id},
               {&DSRDocument::setStudyDescription, study.study_description},
               {&DSRDocument::setAccessionNumber, study.accession_number},
               {&DSRDocument::setReferringPhysicianName, study.referring_physician},
               {&DSRDocument::setManufacturer, "Demur project"},
               {&DSRDocument::setManufacturerModelName, "Demur"},
               {&DSRDocument::setDeviceSerialNumber, "1"},
               {&DSRDocument::setSoftwareVersions, result.version},
               {&DSRDocument::setSeriesNumber, "9001"},
               {&DSRDocument::setInstanceNumber, "1"},
               {&DSRDocument::setSeriesDescription, title.c_str()}};
  // What a hospital wrote is repeated as it stands: unchecked.
  for (const auto &text : texts)
    step((document.*text.set)(text_of(text.value), OFFalse));
  for (size_t i = 0; i < series.n_slices; i++)
    step(document.getCurrentRequestedProcedureEvidence().addItem(
        study.study_uid, series.series_uid, series.sop_class_uid,
        series.slices[i].sop_instance_uid));
  if (result.predecessor_uid != nullptr)
    step(document.getPredecessorDocuments().addItem(study.study_uid, result.predecessor_series_uid,
                                                    UID_EnhancedSRStorage, result.predecessor_uid));
  step(document.completeDocument("The result as Demur gave it"));
}

void
put(Steps &step, DcmItem &item, const DcmTagKey &tag, const std::string &value) {
  step(item.putAndInsertString(tag, value.c_str()));
}

// Replaces what DCMTK takes from the clock and its random UIDs.
void
settle(Steps &step, DcmDataset &dataset, const std::string &uid, const Moment &moment) {
  put(step, dataset, DCM_SOPInstanceUID, uid_of(uid + "\ninstance"));
  put(step, dataset, DCM_SeriesInstanceUID, uid_of(uid + "\nseries"));
  for (const DcmTagKey &tag : {DCM_InstanceCreationDate, DCM_ContentDate, DCM_SeriesDate})
    put(step, dataset, tag, moment.date.c_str());
  for (const DcmTagKey &tag : {DCM_InstanceCreationTime, DCM_ContentTime, DCM_SeriesTime})
    put(step, dataset, tag, moment.time.c_str());
  put(step, dataset, DCM_TimezoneOffsetFromUTC, "+0000");
  dataset.findAndDeleteElement(DCM_InstanceCreatorUID);
}

// Says what 99DEMUR is.
void
declare_scheme(Steps &step, DcmDataset &dataset) {
  dataset.findAndDeleteElement(DCM_CodingSchemeIdentificationSequence);
  DcmItem *item = nullptr;
  step(dataset.findOrCreateSequenceItem(DCM_CodingSchemeIdentificationSequence, item, -2));
  if (item == nullptr)
    return;
  put(step, *item, DCM_CodingSchemeDesignator, scheme);
  put(step, *item, DCM_CodingSchemeName, "Demur codes");
  put(step, *item, DCM_CodingSchemeResponsibleOrganization, "Demur project");
}

gboolean
save(DcmFileFormat &file, const char *path, GError **error) {
  return demur_save_file(file, path, EXS_LittleEndianExplicit, EGL_recalcGL, DEMUR_FILE_REPLACE,
                         error);
}

gboolean
check_references(const DemurSeries &series, GError **error) {
  bool whole = series.n_slices > 0 && series.study_uid != nullptr && series.series_uid != nullptr &&
               series.sop_class_uid != nullptr;
  for (size_t i = 0; whole && i < series.n_slices; i++)
    whole = series.slices[i].sop_instance_uid != nullptr;
  if (!whole)
    demur_error_set(error, DEMUR_ERROR_STATE,
                    "scan %s can't be referred to: its images lack a study, series or instance UID",
                    series.scan_id);
  return whole ? TRUE : FALSE;
}

gboolean
write_report(const DemurResult &result, const DemurSeries &series, const DemurStudy &study,
             const char *path, GError **error) {
  Steps step;
  const std::string uid = fingerprint(result, series);
  DSRDocument document(DSRTypes::DT_EnhancedSR);
  TID1500_MeasurementReport report(
      CID7021_MeasurementReportDocumentTitles::ImagingMeasurementReport);
  fill_report(step, report, result, series, uid);
  if (step.bad())
    return fail(error, step.text());
  step(document.setTreeFromRootTemplate(report));
  if (step.bad())
    return fail(error, step.text());
  remove_empty_measurements(document);
  fill_document(step, document, result, series, study);
  DcmFileFormat file;
  step(document.write(*file.getDataset()));
  settle(step, *file.getDataset(), uid, moment_of(result.created));
  declare_scheme(step, *file.getDataset());
  return step.bad() ? fail(error, step.text()) : save(file, path, error);
}

// What every object that is no report says of patient, study and its series.
void
fill_study(Steps &step, DcmDataset &dataset, const DemurStudy &study) {
  const struct {
    DcmTagKey tag;
    const char *value;
  } texts[] = {{DCM_SpecificCharacterSet, "ISO_IR 192"},
               {DCM_PatientName, study.patient_name},
               {DCM_PatientID, study.patient_id},
               {DCM_PatientBirthDate, study.patient_birth_date},
               {DCM_PatientSex, study.patient_sex},
               {DCM_StudyInstanceUID, study.study_uid},
               {DCM_StudyDate, study.study_date},
               {DCM_StudyTime, study.study_time},
               {DCM_StudyID, study.study_id},
               {DCM_StudyDescription, study.study_description},
               {DCM_AccessionNumber, study.accession_number},
               {DCM_ReferringPhysicianName, study.referring_physician},
               {DCM_Manufacturer, "Demur project"},
               {DCM_InstanceNumber, "1"},
               {DCM_BurnedInAnnotation, "YES"}};
  for (const auto &text : texts)
    put(step, dataset, text.tag, text_of(text.value).c_str());
}

void
fill_pdf(Steps &step, DcmDataset &dataset, const DemurStudy &study, const char *title) {
  fill_study(step, dataset, study);
  put(step, dataset, DCM_SOPClassUID, UID_EncapsulatedPDFStorage);
  put(step, dataset, DCM_Modality, "DOC");
  put(step, dataset, DCM_ConversionType, "SD");
  put(step, dataset, DCM_SeriesNumber, "9002");
  put(step, dataset, DCM_SeriesDescription, "Demur: report");
  put(step, dataset, DCM_AcquisitionDateTime, "");
  put(step, dataset, DCM_MIMETypeOfEncapsulatedDocument, "application/pdf");
  put(step, dataset, DCM_DocumentTitle, title);
  step(dataset.insertEmptyElement(DCM_ConceptNameCodeSequence));
}

void
fill_picture(Steps &step, DcmDataset &dataset, const DemurResultPicture &picture,
             const DemurStudy &study) {
  fill_study(step, dataset, study);
  put(step, dataset, DCM_SOPClassUID, UID_SecondaryCaptureImageStorage);
  put(step, dataset, DCM_Modality, "OT");
  put(step, dataset, DCM_ConversionType, "WSD");
  put(step, dataset, DCM_ImageType, "DERIVED\\SECONDARY");
  put(step, dataset, DCM_SeriesNumber, "9003");
  put(step, dataset, DCM_SeriesDescription, "Demur: verdict");
  put(step, dataset, DCM_BodyPartExamined, "CHEST");
  put(step, dataset, DCM_PatientOrientation, "");
  put(step, dataset, DCM_PhotometricInterpretation, "RGB");
  const struct {
    DcmTagKey tag;
    Uint16 value;
  } numbers[] = {{DCM_SamplesPerPixel, 3},
                 {DCM_PlanarConfiguration, 0},
                 {DCM_Rows, static_cast<Uint16>(picture.height)},
                 {DCM_Columns, static_cast<Uint16>(picture.width)},
                 {DCM_BitsAllocated, 8},
                 {DCM_BitsStored, 8},
                 {DCM_HighBit, 7},
                 {DCM_PixelRepresentation, 0}};
  for (const auto &number : numbers)
    step(dataset.putAndInsertUint16(number.tag, number.value));
}

gboolean
write_picture(const DemurResultPicture &picture, const DemurSeries &series, const DemurStudy &study,
              const char *path, GError **error) {
  const size_t n = static_cast<size_t>(picture.width) * picture.height * 3;
  g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, picture.rgb, n);
  const std::string uid = std::string(series.scan_id) + "\n" + text_of(picture.name).c_str() +
                          "\n" + text_of(picture.created).c_str() + "\n" + digest;
  Steps step;
  DcmFileFormat file;
  DcmDataset &dataset = *file.getDataset();
  fill_picture(step, dataset, picture, study);
  settle(step, dataset, uid, moment_of(picture.created));
  std::vector<Uint8> bytes(picture.rgb, picture.rgb + n);
  bytes.resize(n + (n & 1u), 0);
  step(dataset.putAndInsertUint8Array(DCM_PixelData, bytes.data(),
                                      static_cast<unsigned long>(bytes.size())));
  return step.bad() ? fail(error, step.text()) : save(file, path, error);
}

gboolean
write_pdf(const void *pdf, size_t length, const char *title, const char *created,
          const DemurSeries &series, const DemurStudy &study, const char *path, GError **error) {
  if (length < 5 || length > 0xFFFFFFF0u || std::memcmp(pdf, "%PDF-", 5) != 0)
    return fail(error, N_("this is no PDF"));
  DemurSha256 sha;
  demur_sha256_init(&sha);
  demur_sha256_update(&sha, pdf, length);
  g_autofree char *digest = demur_sha256_finish_hex(&sha);
  const std::string uid = std::string(series.scan_id) + "\n" + created + "\n" + digest;
  Steps step;
  DcmFileFormat file;
  DcmDataset &dataset = *file.getDataset();
  fill_pdf(step, dataset, study, title);
  settle(step, dataset, uid, moment_of(created));
  // OB has an even length; the true one stands beside it.
  std::vector<Uint8> bytes(static_cast<const Uint8 *>(pdf),
                           static_cast<const Uint8 *>(pdf) + length);
  bytes.resize(length + (length & 1u), 0);
  step(dataset.putAndInsertUint8Array(DCM_EncapsulatedDocument, bytes.data(),
                                      static_cast<unsigned long>(bytes.size())));
  step(dataset.putAndInsertUint32(DCM_EncapsulatedDocumentLength, static_cast<Uint32>(length)));
  return step.bad() ? fail(error, step.text()) : save(file, path, error);
}

} // namespace

void
demur_result_report_uids(const DemurResult *result, const DemurSeries *series, char **series_uid,
                         char **sop_instance_uid) {
  const std::string uid = fingerprint(*result, *series);
  *series_uid = g_strdup(uid_of(uid + "\nseries").c_str());
  *sop_instance_uid = g_strdup(uid_of(uid + "\ninstance").c_str());
}

gboolean
demur_result_write_report(const DemurResult *result, const DemurSeries *series, const char *path,
                          GError **error) {
  g_auto(DemurStudy) study = {};
  if (!demur_dicom_init(error) || !check_references(*series, error) ||
      !demur_study_read(series->slices[0].path, series->slices[0].entry, &study, error))
    return FALSE;
  try {
    return write_report(*result, *series, study, path, error);
  } catch (const std::exception &exception) {
    return fail(error, exception.what());
  }
}

char *
demur_result_title(const char *outcome) {
  return g_strdup(title_of(outcome).c_str());
}

gboolean
demur_result_write_pdf(const void *pdf, size_t length, const char *title, const char *created,
                       const DemurSeries *series, const char *path, GError **error) {
  g_auto(DemurStudy) study = {};
  if (!demur_dicom_init(error) || !check_references(*series, error) ||
      !demur_study_read(series->slices[0].path, series->slices[0].entry, &study, error))
    return FALSE;
  try {
    return write_pdf(pdf, length, title, created, *series, study, path, error);
  } catch (const std::exception &exception) {
    return fail(error, exception.what());
  }
}

gboolean
demur_result_write_picture(const DemurResultPicture *picture, const DemurSeries *series,
                           const char *path, GError **error) {
  g_auto(DemurStudy) study = {};
  if (!demur_dicom_init(error) || !check_references(*series, error) ||
      !demur_study_read(series->slices[0].path, series->slices[0].entry, &study, error))
    return FALSE;
  try {
    return write_picture(*picture, *series, study, path, error);
  } catch (const std::exception &exception) {
    return fail(error, exception.what());
  }
}
