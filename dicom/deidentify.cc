#include "dicom/deidentify.h"
#include "dicom/library.h"
#include "dicom/save-file.hh"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dctk.h>

#include <glib/gstdio.h>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace {

enum class Action { remove, keep, uid, date, moment };

struct Rule {
  guint32 first, last; // tags, both included
  Action action;
};

// Ascending. (0028,xxxx) describes pixels and holds no person but in the gaps left here.
const Rule rules[] = {
    {DEMUR_TAG(0x0008, 0x0005), DEMUR_TAG(0x0008, 0x0005), Action::keep},   // character set
    {DEMUR_TAG(0x0008, 0x0008), DEMUR_TAG(0x0008, 0x0008), Action::keep},   // ImageType
    {DEMUR_TAG(0x0008, 0x0016), DEMUR_TAG(0x0008, 0x0016), Action::keep},   // SOPClassUID
    {DEMUR_TAG(0x0008, 0x0018), DEMUR_TAG(0x0008, 0x0018), Action::uid},    // SOPInstanceUID
    {DEMUR_TAG(0x0008, 0x0020), DEMUR_TAG(0x0008, 0x0023), Action::date},   // study to content
    {DEMUR_TAG(0x0008, 0x002A), DEMUR_TAG(0x0008, 0x002A), Action::moment}, // AcquisitionDateTime
    {DEMUR_TAG(0x0008, 0x0030), DEMUR_TAG(0x0008, 0x0033), Action::keep},   // their times
    {DEMUR_TAG(0x0008, 0x0060), DEMUR_TAG(0x0008, 0x0060), Action::keep},   // Modality
    {DEMUR_TAG(0x0008, 0x0070), DEMUR_TAG(0x0008, 0x0070), Action::keep},   // Manufacturer
    {DEMUR_TAG(0x0008, 0x1090), DEMUR_TAG(0x0008, 0x1090), Action::keep},   // its model
    {DEMUR_TAG(0x0008, 0x9205), DEMUR_TAG(0x0008, 0x9207), Action::keep},   // of volumes
    {DEMUR_TAG(0x0018, 0x0015), DEMUR_TAG(0x0018, 0x0015), Action::keep},   // BodyPartExamined
    {DEMUR_TAG(0x0018, 0x0022), DEMUR_TAG(0x0018, 0x0022), Action::keep},   // ScanOptions
    {DEMUR_TAG(0x0018, 0x0050), DEMUR_TAG(0x0018, 0x0060), Action::keep},   // thickness, kVp
    {DEMUR_TAG(0x0018, 0x0088), DEMUR_TAG(0x0018, 0x0090), Action::keep},   // spacing, collection
    {DEMUR_TAG(0x0018, 0x1100), DEMUR_TAG(0x0018, 0x1190), Action::keep},   // of the acquisition
    {DEMUR_TAG(0x0018, 0x1210), DEMUR_TAG(0x0018, 0x1210), Action::keep},   // ConvolutionKernel
    {DEMUR_TAG(0x0018, 0x5100), DEMUR_TAG(0x0018, 0x5100), Action::keep},   // PatientPosition
    {DEMUR_TAG(0x0018, 0x9004), DEMUR_TAG(0x0018, 0x9004), Action::keep},   // content qualification
    {DEMUR_TAG(0x0018, 0x9073), DEMUR_TAG(0x0018, 0x9073), Action::keep},   // AcquisitionDuration
    {DEMUR_TAG(0x0018, 0x9074), DEMUR_TAG(0x0018, 0x9074), Action::moment}, // FrameAcquisition..
    {DEMUR_TAG(0x0018, 0x9151), DEMUR_TAG(0x0018, 0x9151), Action::moment}, // FrameReference..
    {DEMUR_TAG(0x0018, 0x9220), DEMUR_TAG(0x0018, 0x9220), Action::keep},   // FrameAcquisitionDur..
    {DEMUR_TAG(0x0018, 0x9301), DEMUR_TAG(0x0018, 0x9361), Action::keep},   // enhanced CT
    {DEMUR_TAG(0x0020, 0x000D), DEMUR_TAG(0x0020, 0x000E), Action::uid},    // study, series
    {DEMUR_TAG(0x0020, 0x0011), DEMUR_TAG(0x0020, 0x0013), Action::keep},   // numbers
    {DEMUR_TAG(0x0020, 0x0032), DEMUR_TAG(0x0020, 0x0037), Action::keep},   // position, orientation
    {DEMUR_TAG(0x0020, 0x0052), DEMUR_TAG(0x0020, 0x0052), Action::uid},    // FrameOfReferenceUID
    {DEMUR_TAG(0x0020, 0x0060), DEMUR_TAG(0x0020, 0x0062), Action::keep},   // laterality
    {DEMUR_TAG(0x0020, 0x0100), DEMUR_TAG(0x0020, 0x0110), Action::keep},   // temporal
    {DEMUR_TAG(0x0020, 0x1040), DEMUR_TAG(0x0020, 0x1041), Action::keep},   // SliceLocation
    {DEMUR_TAG(0x0020, 0x9056), DEMUR_TAG(0x0020, 0x9057), Action::keep},   // stack
    {DEMUR_TAG(0x0020, 0x9111), DEMUR_TAG(0x0020, 0x9157), Action::keep},   // frame content
    {DEMUR_TAG(0x0020, 0x9161), DEMUR_TAG(0x0020, 0x9161), Action::uid},    // ConcatenationUID
    {DEMUR_TAG(0x0020, 0x9162), DEMUR_TAG(0x0020, 0x9163), Action::keep},
    {DEMUR_TAG(0x0020, 0x9164), DEMUR_TAG(0x0020, 0x9164), Action::uid}, // DimensionOrganization
    {DEMUR_TAG(0x0020, 0x9165), DEMUR_TAG(0x0020, 0x9167), Action::keep},
    {DEMUR_TAG(0x0020, 0x9221), DEMUR_TAG(0x0020, 0x9228), Action::keep},
    {DEMUR_TAG(0x0028, 0x0002), DEMUR_TAG(0x0028, 0x0301), Action::keep}, // pixels
    {DEMUR_TAG(0x0028, 0x1050), DEMUR_TAG(0x0028, 0x1056), Action::keep}, // window, rescale
    {DEMUR_TAG(0x0028, 0x1101), DEMUR_TAG(0x0028, 0x1103), Action::keep}, // palette
    {DEMUR_TAG(0x0028, 0x1201), DEMUR_TAG(0x0028, 0x1203), Action::keep},
    {DEMUR_TAG(0x0028, 0x2110), DEMUR_TAG(0x0028, 0x2114), Action::keep}, // lossy
    {DEMUR_TAG(0x0028, 0x9110), DEMUR_TAG(0x0028, 0x9145), Action::keep}, // functional groups
    {DEMUR_TAG(0x2050, 0x0020), DEMUR_TAG(0x2050, 0x0020), Action::keep}, // PresentationLUTShape
    {DEMUR_TAG(0x5200, 0x9229), DEMUR_TAG(0x5200, 0x9230), Action::keep}, // functional groups
    {DEMUR_TAG(0x7FE0, 0x0010), DEMUR_TAG(0x7FE0, 0x0010), Action::keep}, // PixelData
};

// Set by the profile itself, or empty because the standard wants them there.
const guint32 set_tags[] = {
    DEMUR_TAG(0x0008, 0x0050), DEMUR_TAG(0x0008, 0x0090), DEMUR_TAG(0x0008, 0x0100),
    DEMUR_TAG(0x0008, 0x0102), DEMUR_TAG(0x0008, 0x0104), DEMUR_TAG(0x0010, 0x0010),
    DEMUR_TAG(0x0010, 0x0020), DEMUR_TAG(0x0010, 0x0030), DEMUR_TAG(0x0010, 0x0040),
    DEMUR_TAG(0x0012, 0x0062), DEMUR_TAG(0x0012, 0x0063), DEMUR_TAG(0x0012, 0x0064),
    DEMUR_TAG(0x0020, 0x0010), DEMUR_TAG(0x0028, 0x0303)};

Action
action_of(guint32 tag) {
  for (const Rule &rule : rules)
    if (tag >= rule.first && tag <= rule.last)
      return rule.action;
  return Action::remove;
}

// What only the key can make again.
class Secret {
public:
  Secret(const void *key, size_t length)
      : key_(static_cast<const char *>(key), static_cast<const char *>(key) + length) {
  }

  std::vector<guint8> digest(const char *purpose, const std::string &text) const {
    std::vector<guint8> bytes(32);
    gsize length = bytes.size();
    GHmac *hmac =
        g_hmac_new(G_CHECKSUM_SHA256, reinterpret_cast<const guchar *>(key_.data()), key_.size());
    g_hmac_update(hmac, reinterpret_cast<const guchar *>(purpose),
                  static_cast<gssize>(std::strlen(purpose) + 1));
    g_hmac_update(hmac, reinterpret_cast<const guchar *>(text.data()),
                  static_cast<gssize>(text.size()));
    g_hmac_get_digest(hmac, bytes.data(), &length);
    g_hmac_unref(hmac);
    return bytes;
  }

  guint64 number(const char *purpose, const std::string &text) const {
    guint64 number = 0;
    for (int i = 0; i < 8; i++)
      number = (number << 8) | digest(purpose, text)[static_cast<size_t>(i)];
    return number;
  }

  // 2.25. and a number, PS3.5 annex B.2.
  std::string uid(const std::string &text) const {
    g_autofree char *uid =
        g_strdup_printf("2.25.%" G_GUINT64_FORMAT "%09" G_GUINT64_FORMAT, number("uid", text) | 1u,
                        number("uid again", text) % G_GUINT64_CONSTANT(1000000000));
    return uid;
  }

private:
  std::vector<char> key_;
};

// What one patient becomes.
struct Person {
  std::string name;
  int days_back;
};

std::string
first_string(DcmItem &item, const DcmTagKey &tag) {
  OFString text;
  item.findAndGetOFString(tag, text);
  return text.c_str();
}

// The date at the start of text goes back; what is no date goes away.
std::string
shift_date(const std::string &text, int days_back, bool rest) {
  if (text.size() < 8 || text.find_first_not_of("0123456789") < 8)
    return "";
  g_autofree GDate *date = g_date_new();
  const auto part = [&](size_t at, size_t n) {
    return static_cast<guint>(std::stoul(text.substr(at, n)));
  };
  const guint year = part(0, 4), month = part(4, 2), day = part(6, 2);
  if (year < 1000 || !g_date_valid_dmy(static_cast<GDateDay>(day), static_cast<GDateMonth>(month),
                                       static_cast<GDateYear>(year)))
    return "";
  g_date_set_dmy(date, static_cast<GDateDay>(day), static_cast<GDateMonth>(month),
                 static_cast<GDateYear>(year));
  g_date_subtract_days(date, static_cast<guint>(days_back));
  char shifted[16];
  g_snprintf(shifted, sizeof shifted, "%04u%02u%02u", g_date_get_year(date),
             static_cast<guint>(g_date_get_month(date)), g_date_get_day(date));
  return rest ? shifted + text.substr(8) : std::string(shifted);
}

void clean(DcmItem &item, const Secret &secret, const Person &person, int depth);

void
clean_sequence(DcmSequenceOfItems &sequence, const Secret &secret, const Person &person,
               int depth) {
  for (unsigned long i = 0; i < sequence.card(); i++)
    clean(*sequence.getItem(i), secret, person, depth + 1);
}

// Replaces every value of a UID element.
void
replace_uids(DcmElement &element, const Secret &secret) {
  OFString value;
  std::string uids;
  const unsigned long n = element.getVM();
  for (unsigned long i = 0; i < n; i++)
    if (element.getOFString(value, i).good() && !value.empty())
      uids += (uids.empty() ? "" : "\\") + secret.uid(value.c_str());
  element.putString(uids.c_str());
}

void
replace_dates(DcmElement &element, const Person &person, bool rest) {
  OFString value;
  element.getOFString(value, 0);
  element.putString(shift_date(value.c_str(), person.days_back, rest).c_str());
}

// Depth is bounded: the walk before has refused what is nested deeper than its own limit.
void
clean(DcmItem &item, const Secret &secret, const Person &person, int depth) {
  for (unsigned long i = item.card(); i-- > 0;) {
    DcmElement *element = item.getElement(i);
    const guint32 tag = DEMUR_TAG(element->getTag().getGTag(), element->getTag().getETag());
    const DcmEVR vr = element->ident();
    Action action = action_of(tag);
    // Of unknown type, or a name: never on the list for a reason.
    if (vr == EVR_UN || vr == EVR_PN || depth > DEMUR_ELEMENTS_MAX_DEPTH)
      action = Action::remove;
    switch (action) {
    case Action::remove:
      delete item.remove(i);
      break;
    case Action::uid:
      replace_uids(*element, secret);
      break;
    case Action::date:
      replace_dates(*element, person, false);
      break;
    case Action::moment:
      replace_dates(*element, person, true);
      break;
    case Action::keep:
      if (vr == EVR_SQ)
        clean_sequence(*static_cast<DcmSequenceOfItems *>(element), secret, person, depth);
      break;
    }
  }
}

// The marks that the profile asks for.
void
mark(DcmDataset &dataset, const Person &person) {
  dataset.putAndInsertString(DCM_PatientName, person.name.c_str());
  dataset.putAndInsertString(DCM_PatientID, person.name.c_str());
  for (const DcmTagKey &tag : {DCM_PatientBirthDate, DCM_PatientSex, DCM_AccessionNumber,
                               DCM_ReferringPhysicianName, DCM_StudyID})
    dataset.insertEmptyElement(tag, OFTrue);
  dataset.putAndInsertString(DCM_PatientIdentityRemoved, "YES");
  dataset.putAndInsertString(DCM_DeidentificationMethod,
                             "Demur: PS3.15 E basic profile, dates modified");
  static const struct {
    const char *value, *meaning;
  } codes[] = {{"113100", "Basic Application Confidentiality Profile"},
               {"113107", "Retain Longitudinal Temporal Information Modified Dates Option"}};
  for (const auto &code : codes) {
    DcmItem *item = nullptr;
    dataset.findOrCreateSequenceItem(DCM_DeidentificationMethodCodeSequence, item, -2);
    item->putAndInsertString(DCM_CodeValue, code.value);
    item->putAndInsertString(DCM_CodingSchemeDesignator, "DCM");
    item->putAndInsertString(DCM_CodeMeaning, code.meaning);
  }
  dataset.putAndInsertString(DCM_LongitudinalTemporalInformationModified, "MODIFIED");
}

bool
is_ct(const std::string &sop_class) {
  return sop_class == UID_CTImageStorage || sop_class == UID_EnhancedCTImageStorage ||
         sop_class == UID_LegacyConvertedEnhancedCTImageStorage;
}

// A file name not taken yet, under the new UIDs; "" where no folder can be made.
std::string
place_of(DcmDataset &dataset, const char *folder) {
  g_autofree char *series =
      g_build_filename(folder, first_string(dataset, DCM_StudyInstanceUID).c_str(),
                       first_string(dataset, DCM_SeriesInstanceUID).c_str(), nullptr);
  if (g_mkdir_with_parents(series, 0700) != 0)
    return "";
  const std::string stem = std::string(series) + "/" + first_string(dataset, DCM_SOPInstanceUID);
  std::string name = stem + ".dcm";
  for (int copy = 2; g_file_test(name.c_str(), G_FILE_TEST_EXISTS); copy++)
    name = stem + "-" + std::to_string(copy) + ".dcm";
  return name;
}

// One copy; why not, in words, or "".
std::string
copy_one(const DemurFile &file, const char *folder, const Secret &secret) {
  g_autoptr(GError) cause = nullptr;
  g_autoptr(DemurSource) checked = demur_files_open(file.path, file.entry, &cause);
  if (checked == nullptr || !demur_data_set_check(&checked, &cause))
    return cause->message;
  g_autoptr(DemurSource) source = demur_files_open(file.path, file.entry, &cause);
  const guint64 size = source != nullptr ? demur_source_size(source) : 0;
  const guint8 *bytes = size > 0 && size < G_MAXINT32
                            ? demur_source_peek(source, 0, static_cast<size_t>(size))
                            : nullptr;
  if (bytes == nullptr)
    return "it can't be read whole";
  DcmInputBufferStream stream;
  stream.setBuffer(bytes, static_cast<offile_off_t>(size));
  stream.setEos();
  DcmFileFormat original;
  if (original.read(stream).bad())
    return "DCMTK can't read it";
  original.loadAllDataIntoMemory();
  DcmDataset &dataset = *original.getDataset();
  // The meta header's class stands for one that the data set lacks.
  if (file.header->sop_class_uid == nullptr || !is_ct(file.header->sop_class_uid))
    return "no CT image: only those are copied, others may show names in their pixels";
  if (first_string(dataset, DCM_BurnedInAnnotation) == "YES" ||
      (file.header->image_type != nullptr &&
       std::strstr(file.header->image_type, "SCREEN SAVE") != nullptr))
    return "it says that text is burned into its pixels";
  if (file.header->study_uid == nullptr || file.header->series_uid == nullptr ||
      file.header->sop_instance_uid == nullptr)
    return "it lacks a study, series or instance UID";
  const std::string who =
      std::string(file.header->patient_id != nullptr ? file.header->patient_id : "");
  const std::string unique = who.empty() ? std::string("study ") + file.header->study_uid : who;
  g_autofree char *name =
      g_strdup_printf("DEID-%016" G_GINT64_MODIFIER "X", secret.number("patient", unique));
  const Person person{name, 1 + static_cast<int>(secret.number("days", unique) % 3650)};
  const E_TransferSyntax syntax = dataset.getOriginalXfer();
  if (first_string(dataset, DCM_SOPClassUID).empty())
    dataset.putAndInsertString(DCM_SOPClassUID, file.header->sop_class_uid);
  if (first_string(dataset, DCM_SOPInstanceUID).empty())
    dataset.putAndInsertString(DCM_SOPInstanceUID, file.header->sop_instance_uid);
  clean(dataset, secret, person, 0);
  mark(dataset, person);
  const std::string path = place_of(dataset, folder);
  if (path.empty())
    return "its folder can't be made";
  // A file of its own: nothing of the old meta header or preamble goes along.
  DcmFileFormat made(&dataset);
  if (!demur_save_file(made, path.c_str(), syntax, EGL_withoutGL, DEMUR_FILE_NEW, &cause))
    return cause->message;
  return "";
}

gboolean
is_empty_folder(const char *folder) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, nullptr);
  return dir == nullptr ? !g_file_test(folder, G_FILE_TEST_EXISTS)
                        : g_dir_read_name(dir) == nullptr;
}

gboolean
copy_all(const DemurFiles &files, const char *folder, const Secret &secret,
         const DemurProgress *progress, DemurDeidentified &result, GError **error) {
  for (guint i = 0; i < files.images->len; i++) {
    const auto &file = *static_cast<const DemurFile *>(files.images->pdata[i]);
    if (!demur_progress_step(progress, static_cast<double>(i) / files.images->len, "de-identifying",
                             error))
      return FALSE;
    const std::string why = copy_one(file, folder, secret);
    if (why.empty())
      result.n_written++;
    else
      g_ptr_array_add(result.skipped, demur_skipped_new(file.path, file.entry, why.c_str()));
  }
  return TRUE;
}

} // namespace

gboolean
demur_deidentify_may_stand(guint32 tag) {
  for (const guint32 set : set_tags)
    if (tag == set)
      return TRUE;
  return action_of(tag) != Action::remove ? TRUE : FALSE;
}

DemurDeidentified *
demur_deidentify(const char *const *paths, const char *folder, const void *key, size_t key_length,
                 DemurParallel *parallel, const DemurProgress *progress, GError **error) {
  if (key_length < DEMUR_DEIDENTIFY_MIN_KEY) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_USAGE, "a key has at least %d bytes",
                DEMUR_DEIDENTIFY_MIN_KEY);
    return nullptr;
  }
  if (!is_empty_folder(folder)) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_EXISTS,
                "%s holds something already: give a new or empty folder", folder);
    return nullptr;
  }
  if (!demur_dicom_init(error))
    return nullptr;
  g_autoptr(DemurFiles) files =
      demur_files_scan(paths, DEMUR_FILES_HEADERS, parallel, progress, error);
  if (files == nullptr)
    return nullptr;
  g_autoptr(DemurDeidentified) result = g_new0(DemurDeidentified, 1);
  result->skipped =
      g_ptr_array_new_with_free_func(reinterpret_cast<GDestroyNotify>(demur_skipped_free));
  for (guint i = 0; i < files->skipped->len; i++) {
    const auto *skipped = static_cast<const DemurSkipped *>(files->skipped->pdata[i]);
    g_ptr_array_add(result->skipped, demur_skipped_new(skipped->path, nullptr, skipped->reason));
  }
  try {
    if (!copy_all(*files, folder, Secret(key, key_length), progress, *result, error))
      return nullptr;
  } catch (const std::exception &exception) {
    g_set_error(error, DEMUR_ERROR, DEMUR_ERROR_INPUT, "copying failed: %s", exception.what());
    return nullptr;
  }
  return static_cast<DemurDeidentified *>(g_steal_pointer(&result));
}

void
demur_deidentified_free(DemurDeidentified *result) {
  if (result == nullptr)
    return;
  g_ptr_array_unref(result->skipped);
  g_free(result);
}
