#include "dicom/dataset-pixels.hh"
#include "dicom/image-kind.h"

std::string
demur_put_native_pixels(DcmDataset &dataset, const DemurHeader &header,
                        const DemurNativePixels &pixels) {
  while (dataset.findAndDeleteElement(DCM_PixelData).good()) {
  }
  gsize size = 0;
  const void *bytes = g_bytes_get_data(pixels.words, &size);
  const OFCondition status =
      pixels.bits_allocated == 8
          ? dataset.putAndInsertUint8Array(DCM_PixelData, static_cast<const Uint8 *>(bytes),
                                           static_cast<unsigned long>(size))
          : dataset.putAndInsertUint16Array(DCM_PixelData, static_cast<const Uint16 *>(bytes),
                                            static_cast<unsigned long>(size / 2));
  dataset.putAndInsertUint16(DCM_BitsAllocated, pixels.bits_allocated);
  dataset.putAndInsertUint16(DCM_BitsStored, pixels.bits_stored);
  dataset.putAndInsertUint16(DCM_HighBit, static_cast<Uint16>(pixels.bits_stored - 1));
  dataset.putAndInsertUint16(DCM_PixelRepresentation, pixels.is_signed ? 1 : 0);
  if (demur_header_is_lossy(&header))
    dataset.putAndInsertString(DCM_LossyImageCompression, "01");
  return status.good() ? "" : status.text();
}
