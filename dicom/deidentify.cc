#include "dicom/deidentify.h"
#include "base/error.h"
#include "dicom/dataset-pixels.hh"
#include "dicom/deidentify-values.h"
#include "dicom/image-kind.h"
#include "dicom/library.h"
#include "dicom/save-file.hh"
#include "dicom/sop-class.h"
#include "dicom/unit.h"
#include "dicom/data-set.h"

#include <inttypes.h>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dctk.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

// keep: numbers, codes and sequences of what may stay; the others name what the value has to be.
enum class Action { remove, keep, uid, moment, ct_class, vendor, model, kernel, filter, codes };

struct Rule {
  guint32 first, last; // tags, both included
  Action action;
};

// Ascending. (0028,xxxx) describes pixels and holds no person but in the gaps left here.
const Rule rules[] = {
    {DEMUR_TAG(0x0008, 0x0008), DEMUR_TAG(0x0008, 0x0008), Action::keep},     // ImageType
    {DEMUR_TAG(0x0008, 0x0016), DEMUR_TAG(0x0008, 0x0016), Action::ct_class}, // SOPClassUID
    {DEMUR_TAG(0x0008, 0x0017), DEMUR_TAG(0x0008, 0x0018), Action::uid},      // acquisition, image
    {DEMUR_TAG(0x0008, 0x0020), DEMUR_TAG(0x0008, 0x0023), Action::moment},   // study to content
    {DEMUR_TAG(0x0008, 0x002A), DEMUR_TAG(0x0008, 0x002A), Action::moment},   // AcquisitionDateTime
    {DEMUR_TAG(0x0008, 0x0030), DEMUR_TAG(0x0008, 0x0033), Action::moment},   // their times
    {DEMUR_TAG(0x0008, 0x0060), DEMUR_TAG(0x0008, 0x0060), Action::keep},     // Modality
    {DEMUR_TAG(0x0008, 0x0070), DEMUR_TAG(0x0008, 0x0070), Action::vendor},   // Manufacturer
    {DEMUR_TAG(0x0008, 0x1090), DEMUR_TAG(0x0008, 0x1090), Action::model},    // its model
    {DEMUR_TAG(0x0008, 0x9205), DEMUR_TAG(0x0008, 0x9207), Action::keep},     // of volumes
    {DEMUR_TAG(0x0008, 0x3010), DEMUR_TAG(0x0008, 0x3010), Action::uid},      // IrradiationEvent
    {DEMUR_TAG(0x0018, 0x0015), DEMUR_TAG(0x0018, 0x0015), Action::keep},     // BodyPartExamined
    {DEMUR_TAG(0x0018, 0x0022), DEMUR_TAG(0x0018, 0x0022), Action::keep},     // ScanOptions
    {DEMUR_TAG(0x0018, 0x0050), DEMUR_TAG(0x0018, 0x0060), Action::keep},     // thickness, kVp
    {DEMUR_TAG(0x0018, 0x0088), DEMUR_TAG(0x0018, 0x0090), Action::keep},     // spacing, collection
    {DEMUR_TAG(0x0018, 0x1100), DEMUR_TAG(0x0018, 0x115F), Action::keep},     // of the acquisition
    {DEMUR_TAG(0x0018, 0x1160), DEMUR_TAG(0x0018, 0x1160), Action::filter},   // FilterType
    {DEMUR_TAG(0x0018, 0x1161), DEMUR_TAG(0x0018, 0x1190), Action::keep},
    {DEMUR_TAG(0x0018, 0x1210), DEMUR_TAG(0x0018, 0x1210), Action::kernel}, // ConvolutionKernel
    {DEMUR_TAG(0x0018, 0x5100), DEMUR_TAG(0x0018, 0x5100), Action::keep},   // PatientPosition
    {DEMUR_TAG(0x0018, 0x9004), DEMUR_TAG(0x0018, 0x9004), Action::keep},   // content qualification
    {DEMUR_TAG(0x0018, 0x9073), DEMUR_TAG(0x0018, 0x9073), Action::keep},   // AcquisitionDuration
    {DEMUR_TAG(0x0018, 0x9074), DEMUR_TAG(0x0018, 0x9074), Action::moment}, // FrameAcquisition..
    {DEMUR_TAG(0x0018, 0x9151), DEMUR_TAG(0x0018, 0x9151), Action::moment}, // FrameReference..
    {DEMUR_TAG(0x0018, 0x9220), DEMUR_TAG(0x0018, 0x9220), Action::keep},   // FrameAcquisitionDur..
    {DEMUR_TAG(0x0018, 0x9301), DEMUR_TAG(0x0018, 0x9361), Action::keep},   // enhanced CT
    {DEMUR_TAG(0x0018, 0x9477), DEMUR_TAG(0x0018, 0x9477), Action::keep},   // irradiation event
    {DEMUR_TAG(0x0020, 0x000D), DEMUR_TAG(0x0020, 0x000E), Action::uid},    // study, series
    {DEMUR_TAG(0x0020, 0x0011), DEMUR_TAG(0x0020, 0x0013), Action::keep},   // numbers
    {DEMUR_TAG(0x0020, 0x0032), DEMUR_TAG(0x0020, 0x0037), Action::keep},   // position, orientation
    {DEMUR_TAG(0x0020, 0x0052), DEMUR_TAG(0x0020, 0x0052), Action::uid},    // FrameOfReferenceUID
    {DEMUR_TAG(0x0020, 0x0060), DEMUR_TAG(0x0020, 0x0062), Action::keep},   // laterality
    {DEMUR_TAG(0x0020, 0x0100), DEMUR_TAG(0x0020, 0x0110), Action::keep},   // temporal
    {DEMUR_TAG(0x0020, 0x1041), DEMUR_TAG(0x0020, 0x1041), Action::keep},   // SliceLocation
    {DEMUR_TAG(0x0020, 0x9056), DEMUR_TAG(0x0020, 0x9057), Action::keep},   // stack
    {DEMUR_TAG(0x0020, 0x9111), DEMUR_TAG(0x0020, 0x9157), Action::keep},   // frame content
    {DEMUR_TAG(0x0020, 0x9161), DEMUR_TAG(0x0020, 0x9161), Action::uid},    // ConcatenationUID
    {DEMUR_TAG(0x0020, 0x9162), DEMUR_TAG(0x0020, 0x9163), Action::keep},
    {DEMUR_TAG(0x0020, 0x9164), DEMUR_TAG(0x0020, 0x9164), Action::uid}, // DimensionOrganization
    {DEMUR_TAG(0x0020, 0x9165), DEMUR_TAG(0x0020, 0x9167), Action::keep},
    {DEMUR_TAG(0x0020, 0x9170), DEMUR_TAG(0x0020, 0x9171), Action::keep}, // taken over unassigned
    {DEMUR_TAG(0x0020, 0x9221), DEMUR_TAG(0x0020, 0x9228), Action::keep},
    {DEMUR_TAG(0x0028, 0x0002), DEMUR_TAG(0x0028, 0x0301), Action::keep},  // pixels
    {DEMUR_TAG(0x0028, 0x1050), DEMUR_TAG(0x0028, 0x1053), Action::keep},  // window, rescale
    {DEMUR_TAG(0x0028, 0x1054), DEMUR_TAG(0x0028, 0x1054), Action::codes}, // RescaleType
    {DEMUR_TAG(0x0028, 0x1056), DEMUR_TAG(0x0028, 0x1056), Action::keep},  // VOILUTFunction
    {DEMUR_TAG(0x0028, 0x2110), DEMUR_TAG(0x0028, 0x2114), Action::keep},  // lossy
    {DEMUR_TAG(0x0028, 0x9110), DEMUR_TAG(0x0028, 0x9145), Action::keep},  // functional groups
    {DEMUR_TAG(0x2050, 0x0020), DEMUR_TAG(0x2050, 0x0020), Action::keep},  // PresentationLUTShape
    {DEMUR_TAG(0x5200, 0x9229), DEMUR_TAG(0x5200, 0x9230), Action::keep},  // functional groups
};

// Set by the profile itself, or empty because the standard wants them there.
const guint32 set_tags[] = {
    DEMUR_TAG(0x0008, 0x0050), DEMUR_TAG(0x0008, 0x0090), DEMUR_TAG(0x0008, 0x0100),
    DEMUR_TAG(0x0008, 0x0102), DEMUR_TAG(0x0008, 0x0104), DEMUR_TAG(0x0010, 0x0010),
    DEMUR_TAG(0x0010, 0x0020), DEMUR_TAG(0x0010, 0x0030), DEMUR_TAG(0x0010, 0x0040),
    DEMUR_TAG(0x0012, 0x0062), DEMUR_TAG(0x0012, 0x0063), DEMUR_TAG(0x0012, 0x0064),
    DEMUR_TAG(0x0020, 0x0010), DEMUR_TAG(0x0020, 0x1040), DEMUR_TAG(0x0028, 0x0303),
    DEMUR_TAG(0x7FE0, 0x0010)};

// Of type 2 in a CT image: where their value can't stay they are left empty, not out.
const guint32 wanted_tags[] = {
    DEMUR_TAG(0x0008, 0x0020), DEMUR_TAG(0x0008, 0x0030), DEMUR_TAG(0x0008, 0x0070),
    DEMUR_TAG(0x0018, 0x0050), DEMUR_TAG(0x0018, 0x0060), DEMUR_TAG(0x0020, 0x0011),
    DEMUR_TAG(0x0020, 0x0012), DEMUR_TAG(0x0020, 0x0013), DEMUR_TAG(0x0020, 0x0060)};

bool
is_wanted(guint32 tag) {
  return std::find(std::begin(wanted_tags), std::end(wanted_tags), tag) != std::end(wanted_tags);
}

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
        g_strdup_printf("2.25.%" PRIu64 "%09" PRIu64, number("uid", text) | 1u,
                        number("uid again", text) % G_GUINT64_CONSTANT(1000000000));
    return uid;
  }

private:
  std::vector<char> key_;
};

// What one patient becomes.
struct Person {
  std::string name;
  int days_back, seconds_back;
};

std::string
first_string(DcmItem &item, const DcmTagKey &tag) {
  OFString text;
  item.findAndGetOFString(tag, text);
  return text.c_str();
}

// What became of the originals: counts by tag (private ones as one), never a value.
class Report {
public:
  void removed(guint32 tag) {
    counts_[key(tag)].first++;
  }
  void cleaned(guint32 tag) {
    counts_[key(tag)].second++;
  }
  GPtrArray *list() const {
    GPtrArray *list = g_ptr_array_new_with_free_func(
        reinterpret_cast<GDestroyNotify>(demur_deidentified_tag_free));
    for (const auto &count : counts_) {
      auto *one = g_new0(DemurDeidentifiedTag, 1);
      one->tag = count.first;
      one->name = g_strdup(count.first == 0 ? "private elements"
                                            : DcmTag(static_cast<Uint16>(count.first >> 16),
                                                     static_cast<Uint16>(count.first & 0xFFFF))
                                                  .getTagName());
      one->n_removed = count.second.first;
      one->n_cleaned = count.second.second;
      g_ptr_array_add(list, one);
    }
    return list;
  }

private:
  static guint32 key(guint32 tag) {
    return ((tag >> 16) & 1u) != 0 ? 0 : tag;
  }
  std::map<guint32, std::pair<size_t, size_t>> counts_;
};

struct Cleaning {
  const Secret &secret;
  const Person &person;
  Report &report;
};

void clean(DcmItem &item, const Cleaning &cleaning, int depth);

std::string
text_of(DcmElement &element) {
  OFString text;
  element.getOFStringArray(text);
  return text.c_str();
}

// Puts what may stay, and frees it; FALSE where nothing may.
bool
put_text(DcmElement &element, char *text, const Cleaning &cleaning, guint32 tag) {
  g_autofree char *owned = text;
  const std::string before = text_of(element);
  g_autofree char *stripped = g_strstrip(g_strdup(before.c_str()));
  if (*owned == '\0')
    return *stripped == '\0'; // what was empty may stand
  if (std::strcmp(owned, stripped) != 0)
    cleaning.report.cleaned(tag);
  return element.putString(owned).good();
}

// Replaces every value of a UID element.
bool
replace_uids(DcmElement &element, const Secret &secret) {
  OFString value;
  std::string uids;
  const unsigned long n = element.getVM();
  for (unsigned long i = 0; i < n; i++)
    if (element.getOFString(value, i).good() && !value.empty())
      uids += (uids.empty() ? "" : "\\") + secret.uid(value.c_str());
  return element.putString(uids.c_str()).good();
}

constexpr unsigned long max_numbers = 8;

// Appends a number as it is written, little endian.
template <typename Number>
void
append(std::string &bytes, Number number) {
  for (size_t b = 0; b < sizeof number; b++)
    bytes += static_cast<char>((number >> (8 * b)) & 0xFF);
}

// The bytes of a binary element's values; "" where one can't be had.
std::string
bytes_of(DcmElement &element, DcmEVR vr) {
  std::string bytes;
  const unsigned long n = element.getVM();
  for (unsigned long i = 0; i < n; i++) {
    Uint16 two = 0;
    Sint16 signed_two = 0;
    Uint32 four = 0;
    Sint32 signed_four = 0;
    Float32 narrow = 0;
    Float64 wide = 0;
    DcmTagKey key;
    if (vr == EVR_US && element.getUint16(two, i).good())
      append(bytes, two);
    else if (vr == EVR_SS && element.getSint16(signed_two, i).good())
      append(bytes, static_cast<Uint16>(signed_two));
    else if (vr == EVR_UL && element.getUint32(four, i).good())
      append(bytes, four);
    else if (vr == EVR_SL && element.getSint32(signed_four, i).good())
      append(bytes, static_cast<Uint32>(signed_four));
    else if (vr == EVR_AT && element.getTagVal(key, i).good()) {
      append(bytes, key.getGroup());
      append(bytes, key.getElement());
    } else if (vr == EVR_FL && element.getFloat32(narrow, i).good()) {
      std::memcpy(&four, &narrow, sizeof four);
      append(bytes, four);
    } else if (vr == EVR_FD && element.getFloat64(wide, i).good()) {
      guint64 eight = 0;
      std::memcpy(&eight, &wide, sizeof eight);
      append(bytes, eight);
    } else {
      return "";
    }
  }
  return bytes;
}

// Whether numbers are letters: a name of four letters in one of 32 bits, or two of 16, padded or parted by NULs, in
// ASCII or in a set of one byte a letter. A floating-point number of 32 bits is four letters by chance in one of a
// hundred: two of them are looked at. More than half of a run's letters are ASCII: -1 is four bytes of 0xFF.
bool
numbers_spell(const std::string &bytes, DcmEVR vr) {
  const size_t shortest = vr == EVR_FL || vr == EVR_FD ? 8 : 4;
  static const char *const others = " ^=.,'-_@";
  static const unsigned char first_of_high_letters = 0xA0;
  size_t n = 0, n_ascii = 0;
  bool spelled = false;
  for (const char c : bytes) {
    if (c == '\0') {
      n = n_ascii = 0;
      continue;
    }
    const bool ascii = g_ascii_isalnum(c);
    if (!ascii && std::strchr(others, c) == nullptr &&
        static_cast<unsigned char>(c) < first_of_high_letters)
      return false;
    n++;
    n_ascii += ascii;
    spelled = spelled || (n >= shortest && 2 * n_ascii > n);
  }
  return spelled;
}

bool
binary_is_plain(DcmElement &element, DcmEVR vr) {
  const unsigned long n = element.getVM();
  if (n > max_numbers)
    return false;
  for (unsigned long i = 0; i < n; i++) {
    Float64 wide = 0;
    Float32 narrow = 0;
    if ((vr == EVR_FD && (element.getFloat64(wide, i).bad() || !demur_deidentify_is_plain(wide))) ||
        (vr == EVR_FL && (element.getFloat32(narrow, i).bad() ||
                          !demur_deidentify_is_plain(static_cast<double>(narrow)))))
      return false;
  }
  return !numbers_spell(bytes_of(element, vr), vr);
}

// Whether anything of an element of a kept tag may stay; what may not of its values is emptied.
bool
keep_by_kind(DcmElement &element, const Cleaning &cleaning, guint32 tag, int depth) {
  const DcmEVR vr = element.ident();
  switch (vr) {
  case EVR_SQ: {
    auto &sequence = static_cast<DcmSequenceOfItems &>(element);
    for (unsigned long i = 0; i < sequence.card(); i++)
      clean(*sequence.getItem(i), cleaning, depth + 1);
    return true;
  }
  case EVR_DS:
  case EVR_IS:
    return put_text(element, demur_deidentify_numbers(text_of(element).c_str()), cleaning, tag);
  case EVR_CS:
    return put_text(element, demur_deidentify_codes(text_of(element).c_str()), cleaning, tag);
  case EVR_US:
  case EVR_SS:
  case EVR_UL:
  case EVR_SL:
  case EVR_AT:
  case EVR_FD:
  case EVR_FL:
    return binary_is_plain(element, vr);
  default: // free text, bytes, times that are nobody's: all that could be a name
    return false;
  }
}

// DA, TM and DT; a date and its time, 0x10 apart in group 0008, move together.
bool
shift(DcmElement &element, const Cleaning &cleaning, guint32 tag,
      const std::map<guint32, std::string> &moments) {
  const auto at = [&](guint32 other) {
    const auto found = moments.find(other);
    return found != moments.end() ? found->second : std::string();
  };
  const auto days = static_cast<guint>(cleaning.person.days_back);
  const auto seconds = static_cast<guint>(cleaning.person.seconds_back);
  const DcmEVR vr = element.ident();
  if (vr == EVR_DT)
    return put_text(element, demur_deidentify_shift_moment(text_of(element).c_str(), days, seconds),
                    cleaning, tag);
  if (vr != EVR_DA && vr != EVR_TM)
    return false;
  const guint32 date = vr == EVR_DA ? tag : tag - 0x10;
  g_autofree char *new_date = nullptr;
  g_autofree char *new_time = nullptr;
  demur_deidentify_shift(at(date).c_str(), at(date + 0x10).c_str(), days, seconds, &new_date,
                         &new_time);
  return put_text(element, g_strdup(vr == EVR_DA ? new_date : new_time), cleaning, tag);
}

bool
may_stay(DcmElement &element, const Cleaning &cleaning, guint32 tag, int depth,
         const std::map<guint32, std::string> &moments, const std::string &manufacturer) {
  const DcmEVR vr = element.ident();
  // Of unknown type, or a name: never on the list for a reason.
  if (vr == EVR_UN || vr == EVR_PN || depth > DEMUR_ELEMENTS_MAX_DEPTH)
    return false;
  const std::string text = vr == EVR_SQ ? std::string() : text_of(element);
  switch (action_of(tag)) {
  case Action::remove:
    return false;
  case Action::uid:
    return vr == EVR_UI && replace_uids(element, cleaning.secret);
  case Action::ct_class:
    return demur_sop_class_find(text.c_str()) == DEMUR_SOP_CT;
  case Action::moment:
    return shift(element, cleaning, tag, moments);
  case Action::vendor:
    return put_text(element, demur_deidentify_vendor(text.c_str()), cleaning, tag);
  case Action::model:
    return put_text(element, demur_deidentify_model(manufacturer.c_str(), text.c_str()), cleaning,
                    tag);
  case Action::kernel:
    return put_text(element, demur_deidentify_kernel(text.c_str()), cleaning, tag);
  case Action::filter:
    return put_text(element, demur_deidentify_filter(text.c_str()), cleaning, tag);
  case Action::codes:
    return put_text(element, demur_deidentify_codes(text.c_str()), cleaning, tag);
  case Action::keep:
    return keep_by_kind(element, cleaning, tag, depth);
  }
  return false;
}

// Depth is bounded: the walk before has refused what is nested deeper than its own limit.
void
clean(DcmItem &item, const Cleaning &cleaning, int depth) {
  std::map<guint32, std::string> moments; // of this item, before any of them moves
  for (unsigned long i = 0; i < item.card(); i++) {
    DcmElement *element = item.getElement(i);
    const DcmEVR vr = element->ident();
    if (vr == EVR_DA || vr == EVR_TM)
      moments[DEMUR_TAG(element->getTag().getGTag(), element->getTag().getETag())] =
          text_of(*element);
  }
  const std::string manufacturer = first_string(item, DCM_Manufacturer);
  for (unsigned long i = item.card(); i-- > 0;) {
    DcmElement *element = item.getElement(i);
    const guint32 tag = DEMUR_TAG(element->getTag().getGTag(), element->getTag().getETag());
    if (may_stay(*element, cleaning, tag, depth, moments, manufacturer))
      continue;
    if (depth == 0 && is_wanted(tag))
      element->clear();
    else
      delete item.remove(i);
    cleaning.report.removed(tag);
  }
}

// The marks that the profile asks for.
void
mark(DcmDataset &dataset, const Person &person) {
  dataset.putAndInsertString(DCM_PatientName, person.name.c_str());
  dataset.putAndInsertString(DCM_PatientID, person.name.c_str());
  for (const DcmTagKey &tag :
       {DCM_PatientBirthDate, DCM_PatientSex, DCM_AccessionNumber, DCM_ReferringPhysicianName,
        DCM_StudyID, DCM_PositionReferenceIndicator})
    dataset.insertEmptyElement(tag, OFTrue);
  dataset.putAndInsertString(DCM_PatientIdentityRemoved, "YES");
  dataset.putAndInsertString(DCM_DeidentificationMethod,
                             "Demur: PS3.15 E basic profile, dates and times modified");
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

// A copy of a map says that it is none in Hounsfield units, in the standard's terms: what told it may
// have been a maker's word, a table or a mapping, which do not go along.
void
keep_unit(DcmDataset &dataset, const DemurHeader &header) {
  gboolean mono_energetic = FALSE;
  const char *term = demur_unit_term(&header, &mono_energetic);
  if (term != nullptr)
    dataset.putAndInsertString(DCM_RescaleType, term);
  if (!mono_energetic)
    return;
  OFString types;
  dataset.findAndGetOFStringArray(DCM_ImageType, types);
  if (("\\" + types + "\\").find("\\VMI\\") == OFString_npos)
    dataset.putAndInsertString(DCM_ImageType, (types + "\\VMI").c_str());
}

// A file name not taken yet, under the new UIDs; "" with error where no folder can be made.
std::string
place_of(DcmDataset &dataset, const char *folder, GError **error) {
  g_autofree char *series =
      g_build_filename(folder, first_string(dataset, DCM_StudyInstanceUID).c_str(),
                       first_string(dataset, DCM_SeriesInstanceUID).c_str(), nullptr);
  if (!demur_folder_make(series, error))
    return "";
  const std::string stem = std::string(series) + "/" + first_string(dataset, DCM_SOPInstanceUID);
  std::string name = stem + ".dcm";
  for (int copy = 2; g_file_test(name.c_str(), G_FILE_TEST_EXISTS); copy++)
    name = stem + "-" + std::to_string(copy) + ".dcm";
  return name;
}

// Why a file isn't copied, in words; "" where nothing speaks against it.
std::string
objection(const DemurFile &file, DcmDataset &dataset) {
  // The meta header's class stands for one that the data set lacks.
  if (demur_sop_class_find(file.header->sop_class_uid) != DEMUR_SOP_CT)
    return "no CT image: only those are copied, others may show names in their pixels";
  g_autofree char *burned =
      g_ascii_strup(first_string(dataset, DCM_BurnedInAnnotation).c_str(), -1);
  if (g_str_has_prefix(g_strstrip(burned), "Y") || demur_image_is_secondary(file.header))
    return "it says that text is burned into its pixels";
  if (file.header->study_uid == nullptr || file.header->series_uid == nullptr ||
      file.header->sop_instance_uid == nullptr)
    return "it lacks a study, series or instance UID";
  if (file.header->pixels != DEMUR_PIXELS_COMPLETE && file.header->pixels != DEMUR_PIXELS_ABSENT)
    return std::string("its pixels can't be cleaned: ") + file.header->pixels_problem;
  return "";
}

Person
person_of(const DemurFile &file, const Secret &secret) {
  const std::string who = file.header->patient_id != nullptr ? file.header->patient_id : "";
  const std::string unique = who.empty() ? std::string("study ") + file.header->study_uid : who;
  g_autofree char *name =
      g_strdup_printf("DEID-%016" G_GINT64_MODIFIER "X", secret.number("patient", unique));
  return Person{name, 1 + static_cast<int>(secret.number("days", unique) % 3650),
                static_cast<int>(secret.number("seconds", unique) % 86400)};
}

// Puts clean pixels in place of the file's; the reason where that can't be done, or "".
std::string
replace_pixels(DcmDataset &dataset, DemurSource *source, const DemurFile &file,
               DemurDeidentified &result) {
  if (file.header->pixels == DEMUR_PIXELS_ABSENT)
    return "";
  g_autoptr(GError) cause = nullptr;
  DemurNativePixels pixels;
  if (!demur_native_pixels(source, file.header, &pixels, &cause))
    return std::string("its pixels can't be cleaned: ") + cause->message;
  const std::string why = demur_put_native_pixels(dataset, *file.header, pixels);
  result.n_outside_bits += pixels.n_outside > 0 ? 1 : 0;
  result.n_behind_pixels += pixels.n_behind_bytes > 0 ? 1 : 0;
  result.n_decompressed += pixels.decompressed ? 1 : 0;
  demur_native_pixels_clear(&pixels);
  return why;
}

// One copy; why not, in words, or "". error: what ends everything, a disk that is full.
std::string
copy_one(const DemurFile &file, const char *folder, const Secret &secret, Report &report,
         DemurDeidentified &result, GError **error) {
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
  const std::string against = objection(file, dataset);
  if (!against.empty())
    return against;
  // checked is the inflated bytes of a deflated data set, which the header counts in.
  const std::string unclean = replace_pixels(dataset, checked, file, result);
  if (!unclean.empty())
    return unclean;
  const Person person = person_of(file, secret);
  if (first_string(dataset, DCM_SOPClassUID).empty())
    dataset.putAndInsertString(DCM_SOPClassUID, file.header->sop_class_uid);
  if (first_string(dataset, DCM_SOPInstanceUID).empty())
    dataset.putAndInsertString(DCM_SOPInstanceUID, file.header->sop_instance_uid);
  std::unique_ptr<DcmElement> pixels(dataset.remove(DCM_PixelData));
  clean(dataset, Cleaning{secret, person, report}, 0);
  if (pixels != nullptr && dataset.insert(pixels.get()).good())
    static_cast<void>(pixels.release());
  mark(dataset, person);
  keep_unit(dataset, *file.header);
  const std::string path = place_of(dataset, folder, error);
  if (path.empty())
    return "";
  // A file of its own: nothing of the old meta header or preamble goes along.
  DcmFileFormat made(&dataset);
  demur_save_file(made, path.c_str(), EXS_LittleEndianExplicit, EGL_withoutGL, DEMUR_FILE_NEW,
                  error);
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
  Report report;
  for (guint i = 0; i < files.images->len; i++) {
    const auto &file = *static_cast<const DemurFile *>(files.images->pdata[i]);
    if (!demur_progress_step(progress, static_cast<double>(i) / files.images->len, "de-identifying",
                             error))
      return FALSE;
    GError *ending = nullptr;
    const std::string why = copy_one(file, folder, secret, report, result, &ending);
    if (ending != nullptr) {
      g_propagate_error(error, ending);
      return FALSE;
    }
    if (why.empty())
      result.n_written++;
    else {
      g_autoptr(GError) skipped = demur_error_new(DEMUR_ERROR_INPUT, "%s", why.c_str());
      g_ptr_array_add(result.skipped, demur_skipped_new(file.path, file.entry, skipped, nullptr));
    }
  }
  result.tags = report.list();
  return TRUE;
}

} // namespace

void
demur_deidentified_tag_free(DemurDeidentifiedTag *tag) {
  if (tag == nullptr)
    return;
  g_free(tag->name);
  g_free(tag);
}

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
    demur_error_set(error, DEMUR_ERROR_USAGE, "a key has at least %d bytes",
                    DEMUR_DEIDENTIFY_MIN_KEY);
    return nullptr;
  }
  if (!is_empty_folder(folder)) {
    demur_error_set(error, DEMUR_ERROR_EXISTS,
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
    g_ptr_array_add(result->skipped, demur_skipped_new(skipped->path, nullptr, skipped->error,
                                                       i > 0 ? static_cast<const DemurSkipped *>(
                                                                   result->skipped->pdata[i - 1])
                                                             : nullptr));
  }
  try {
    if (!copy_all(*files, folder, Secret(key, key_length), progress, *result, error))
      return nullptr;
  } catch (const std::exception &exception) {
    demur_error_set(error, DEMUR_ERROR_INPUT, "copying failed: %s", exception.what());
    return nullptr;
  }
  return static_cast<DemurDeidentified *>(g_steal_pointer(&result));
}

void
demur_deidentified_free(DemurDeidentified *result) {
  if (result == nullptr)
    return;
  g_ptr_array_unref(result->skipped);
  if (result->tags != nullptr)
    g_ptr_array_unref(result->tags);
  g_free(result);
}
