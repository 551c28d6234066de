// Native pixels in a DCMTK data set.
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include <string>

#include "dicom/native-pixels.h"

// Puts pixels in place of what the data set holds, and the attributes that tell how they are
// stored; LossyImageCompression where header says that they ever were. Why not, or "".
std::string demur_put_native_pixels(DcmDataset &dataset, const DemurHeader &header,
                                    const DemurNativePixels &pixels);
