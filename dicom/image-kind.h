/* What a header says that its object is: by SOP class, modality, ImageType (0008,0008). */
#pragma once

#include "dicom/header.h"

G_BEGIN_DECLS

/* Of a (0008,0060) as recorded; NULL: not recorded, FALSE. */
gboolean demur_modality_is_ct(const char *modality);

/* Of a (0028,0004) as recorded: MONOCHROME1 or 2; NULL: not recorded, taken for grey. */
gboolean demur_photometric_is_grey(const char *photometric);

gboolean demur_image_is_localizer(const DemurHeader *header);
gboolean demur_image_is_derived(const DemurHeader *header);
gboolean demur_image_is_secondary(const DemurHeader *header); /* a capture of a screen */

/* NULL where the object is an image; else what it is, in words ("structured report (SR)"). */
GError *demur_header_not_an_image(const DemurHeader *header);

/* Whether it calls itself an image, but has neither pixels nor size: a file cut between elements.
 */
gboolean demur_header_lacks_its_image(const DemurHeader *header);

/* Of a header that is no image: whether it may be the beginning of one, cut off between two elements
 * before it names its series. */
gboolean demur_header_may_be_cut(const DemurHeader *header);

/* Whether the pixels have ever been compressed with loss, by transfer syntax or (0028,2110). */
gboolean demur_header_is_lossy(const DemurHeader *header);

G_END_DECLS
