// One compressed frame through DCMTK's codecs, from a data set built here: pixel attributes and one
// fragment.
#include "dicom/pixels.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdatset.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/dcmdata/dcxfer.h>

#include <cstring>
#include <exception>
#include <memory>

#include "base/error.h"

namespace {

gboolean
fail(GError **error, const char *what) {
  demur_error_set(error, DEMUR_ERROR_INPUT, "the compressed image can't be decoded: %s", what);
  return FALSE;
}

// The fragment goes in as one item behind an empty offset table.
OFCondition
insert_pixels(DcmDataset &dataset, E_TransferSyntax syntax, const guint8 *bytes, Uint32 length) {
  auto sequence = std::make_unique<DcmPixelSequence>(DcmTag(DCM_PixelData, EVR_OB));
  auto table = std::make_unique<DcmPixelItem>(DcmTag(DCM_PixelItemTag));
  if (sequence->insert(table.get()).bad())
    return EC_IllegalCall;
  static_cast<void>(table.release());
  auto item = std::make_unique<DcmPixelItem>(DcmTag(DCM_PixelItemTag));
  // Items have an even length (PS3.5 A.4).
  const Uint32 even = length + (length & 1u);
  Uint8 *room = nullptr;
  OFCondition status = item->createUint8Array(even, room);
  if (status.bad())
    return status;
  std::memcpy(room, bytes, length);
  if (even != length)
    room[length] = 0;
  status = sequence->insert(item.get());
  if (status.bad())
    return status;
  static_cast<void>(item.release());
  auto pixels = std::make_unique<DcmPixelData>(DcmTag(DCM_PixelData, EVR_OW));
  pixels->putOriginalRepresentation(syntax, nullptr, sequence.release());
  status = dataset.insert(pixels.get(), OFTrue);
  if (status.good())
    static_cast<void>(pixels.release());
  return status;
}

gboolean
decode(GBytes *image, const DemurHeader *header, guint16 *words, DemurDecodedLayout *layout,
       GError **error) {
  gsize size = 0;
  const auto *bytes = static_cast<const guint8 *>(g_bytes_get_data(image, &size));
  const E_TransferSyntax syntax = DcmXfer(header->transfer_syntax_uid).getXfer();
  if (syntax == EXS_Unknown || size > 0xFFFFFFF0u)
    return fail(error, N_("its transfer syntax is not DCMTK's"));
  DcmDataset dataset;
  dataset.putAndInsertUint16(DCM_SamplesPerPixel, 1);
  dataset.putAndInsertString(DCM_PhotometricInterpretation, "MONOCHROME2");
  dataset.putAndInsertUint16(DCM_Rows, header->rows);
  dataset.putAndInsertUint16(DCM_Columns, header->columns);
  dataset.putAndInsertUint16(DCM_BitsAllocated, header->bits_allocated);
  dataset.putAndInsertUint16(DCM_BitsStored, header->bits_stored);
  dataset.putAndInsertUint16(DCM_HighBit, static_cast<Uint16>(header->bits_stored - 1));
  dataset.putAndInsertUint16(DCM_PixelRepresentation, header->is_signed ? 1 : 0);
  dataset.putAndInsertString(DCM_NumberOfFrames, "1");
  // Some codecs ask for a class and an instance when they mark what they made.
  dataset.putAndInsertString(DCM_SOPClassUID, UID_CTImageStorage);
  dataset.putAndInsertString(DCM_SOPInstanceUID, "1.2.3");
  OFCondition status = insert_pixels(dataset, syntax, bytes, static_cast<Uint32>(size));
  if (status.good())
    status = dataset.chooseRepresentation(EXS_LittleEndianExplicit, nullptr);
  if (status.bad())
    return fail(error, status.text());

  Uint16 allocated = 0, stored = 0, is_signed = 0;
  dataset.findAndGetUint16(DCM_BitsAllocated, allocated);
  dataset.findAndGetUint16(DCM_BitsStored, stored);
  dataset.findAndGetUint16(DCM_PixelRepresentation, is_signed);
  const size_t n = static_cast<size_t>(header->rows) * header->columns;
  DcmElement *element = nullptr;
  if (dataset.findAndGetElement(DCM_PixelData, element).bad() || element == nullptr)
    return fail(error, N_("no pixels came out"));
  const size_t width = (allocated + 7u) / 8u;
  if ((width != 1 && width != 2) || stored == 0 || stored > allocated ||
      element->getLength() < n * width)
    return fail(error, N_("fewer pixels came out than the image has"));
  // 8-bit pixels stand two to a word in OW, low byte first, and byte by byte in OB.
  Uint16 *decoded16 = nullptr;
  Uint8 *decoded8 = nullptr;
  if (width == 2) {
    if (element->getUint16Array(decoded16).bad() || decoded16 == nullptr)
      return fail(error, N_("no pixels came out"));
    std::memcpy(words, decoded16, n * sizeof *words);
  } else if (element->getUint8Array(decoded8).good() && decoded8 != nullptr) {
    for (size_t i = 0; i < n; i++)
      words[i] = decoded8[i];
  } else if (element->getUint16Array(decoded16).good() && decoded16 != nullptr) {
    for (size_t i = 0; i < n; i++)
      words[i] = static_cast<guint16>((decoded16[i / 2] >> (8 * (i & 1u))) & 0xFFu);
  } else {
    return fail(error, N_("no pixels came out"));
  }
  layout->bits_allocated = allocated;
  layout->bits_stored = stored;
  layout->is_signed = is_signed != 0;
  return TRUE;
}

} // namespace

gboolean
demur_dcmtk_decode(GBytes *image, const DemurHeader *header, guint16 *words,
                   DemurDecodedLayout *layout, GError **error) {
  try {
    return decode(image, header, words, layout, error);
  } catch (const std::exception &exception) {
    return fail(error, exception.what());
  }
}
