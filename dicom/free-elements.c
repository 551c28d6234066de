#include "dicom/free-elements.h"

#include <string.h>

typedef struct {
  guint32 tag, mask; /* those whose bits under the mask are the tag's */
  DemurPrivateCreator creator;
  const char *reason;
} Row;

#define ONE_ELEMENT 0xFFFFFFFFu
#define ANY_BLOCK 0xFFFF00FFu /* a private block may lie anywhere in its group */
#define STANDARD DEMUR_CREATOR_UNKNOWN

static const Row table[] = {
    {DEMUR_TAG(0x0000, 0x0000), 0x0000FFFFu, STANDARD, "length of a group as it is written"},
    {DEMUR_TAG(0x0008, 0x0001), ONE_ELEMENT, STANDARD, "length of the data set as it is written"},
    {DEMUR_TAG(0x0008, 0x0005), ONE_ELEMENT, STANDARD, "how the texts of this object are written"},
    {DEMUR_TAG(0x0008, 0x0015), ONE_ELEMENT, STANDARD, "when an archive changed the object"},
    {DEMUR_TAG(0x0008, 0x0018), ONE_ELEMENT, STANDARD, "names the image"},
    {DEMUR_TAG(0x0008, 0x0054), ONE_ELEMENT, STANDARD, "where the object is kept"},
    {DEMUR_TAG(0x0008, 0x0055), ONE_ELEMENT, STANDARD, "where the object is kept"},
    {DEMUR_TAG(0x0008, 0x0056), ONE_ELEMENT, STANDARD, "where the object is kept"},
    {DEMUR_TAG(0x0008, 0x2218), ONE_ELEMENT, STANDARD, "a scan goes from one region to the next"},
    {DEMUR_TAG(0x0008, 0x2228), ONE_ELEMENT, STANDARD, "a scan goes from one organ to the next"},
    {DEMUR_TAG(0x0010, 0x0010), ONE_ELEMENT, STANDARD, "who it is of is judged by itself"},
    {DEMUR_TAG(0x0010, 0x0020), ONE_ELEMENT, STANDARD, "who it is of is judged by itself"},
    {DEMUR_TAG(0x0010, 0x0021), ONE_ELEMENT, STANDARD, "who it is of is judged by itself"},
    {DEMUR_TAG(0x0010, 0x0030), ONE_ELEMENT, STANDARD, "who it is of is judged by itself"},
    {DEMUR_TAG(0x0010, 0x0040), ONE_ELEMENT, STANDARD, "who it is of is judged by itself"},
    {DEMUR_TAG(0x0018, 0x1271), ONE_ELEMENT, STANDARD, "the body's diameter in this slice"},
    {DEMUR_TAG(0x0018, 0x9313), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0018, 0x9318), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0018, 0x9324), ONE_ELEMENT, STANDARD, "exposure follows the body"},
    {DEMUR_TAG(0x0018, 0x9327), ONE_ELEMENT, STANDARD, "position of the table"},
    {DEMUR_TAG(0x0018, 0xA001), ONE_ELEMENT, STANDARD, "who handled the object on its way"},
    {DEMUR_TAG(0x0020, 0x000E), ONE_ELEMENT, STANDARD, "what the images are grouped by"},
    {DEMUR_TAG(0x0020, 0x0013), ONE_ELEMENT, STANDARD, "number of the image"},
    {DEMUR_TAG(0x0020, 0x0030), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0020, 0x0032), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0020, 0x0035), ONE_ELEMENT, STANDARD, "looked at with the geometry"},
    {DEMUR_TAG(0x0020, 0x0037), ONE_ELEMENT, STANDARD, "looked at with the geometry"},
    {DEMUR_TAG(0x0020, 0x0050), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0020, 0x1002), ONE_ELEMENT, STANDARD,
     "the last step of a scan may have fewer images"},
    {DEMUR_TAG(0x0020, 0x1041), ONE_ELEMENT, STANDARD, "position of the slice"},
    {DEMUR_TAG(0x0020, 0x9057), ONE_ELEMENT, STANDARD, "number of the image"},
    {DEMUR_TAG(0x0020, 0x9161), ONE_ELEMENT, STANDARD, "in which objects frames are kept"},
    {DEMUR_TAG(0x0020, 0x9162), ONE_ELEMENT, STANDARD, "in which objects frames are kept"},
    {DEMUR_TAG(0x0020, 0x9167), ONE_ELEMENT, STANDARD, "in which objects frames are kept"},
    {DEMUR_TAG(0x0020, 0x9221), ONE_ELEMENT, STANDARD, "how frames are numbered in this object"},
    {DEMUR_TAG(0x0020, 0x9222), ONE_ELEMENT, STANDARD, "how frames are numbered in this object"},
    {DEMUR_TAG(0x0020, 0x9228), ONE_ELEMENT, STANDARD, "in which objects frames are kept"},
    {DEMUR_TAG(0x0028, 0x0008), ONE_ELEMENT, STANDARD, "in which objects frames are kept"},
    {DEMUR_TAG(0x0028, 0x0030), ONE_ELEMENT, STANDARD, "looked at with the geometry"},
    {DEMUR_TAG(0x0028, 0x0106), ONE_ELEMENT, STANDARD, "statistics of the pixels"},
    {DEMUR_TAG(0x0028, 0x0107), ONE_ELEMENT, STANDARD, "statistics of the pixels"},
    {DEMUR_TAG(0x0028, 0x0110), ONE_ELEMENT, STANDARD, "statistics of the pixels"},
    {DEMUR_TAG(0x0028, 0x0111), ONE_ELEMENT, STANDARD, "statistics of the pixels"},
    {DEMUR_TAG(0x0028, 0x1055), ONE_ELEMENT, STANDARD, "how the image is to be shown"},
    {DEMUR_TAG(0x0028, 0x2112), ONE_ELEMENT, STANDARD, "how well the pixels could be packed"},
    {DEMUR_TAG(0x0028, 0x3010), ONE_ELEMENT, STANDARD, "how the image is to be shown"},
    {DEMUR_TAG(0x0088, 0x0140), ONE_ELEMENT, STANDARD, "on which medium the object is kept"},
    {DEMUR_TAG(0x0088, 0x0200), ONE_ELEMENT, STANDARD, "a small copy of the pixels"},
    {DEMUR_TAG(0x0400, 0x0561), ONE_ELEMENT, STANDARD, "what an archive changed"},
    {DEMUR_TAG(0x5000, 0x0000), 0xFF000000u, STANDARD, "a curve drawn over the image"},
    {DEMUR_TAG(0x5200, 0x9229), ONE_ELEMENT, STANDARD, "looked at frame by frame"},
    {DEMUR_TAG(0x5200, 0x9230), ONE_ELEMENT, STANDARD, "looked at frame by frame"},
    {DEMUR_TAG(0x6000, 0x0000), 0xFF000000u, STANDARD, "an overlay drawn over the image"},
    {DEMUR_TAG(0xFFFA, 0x0000), 0xFFFF0000u, STANDARD, "signature of this object"},
    {DEMUR_TAG(0xFFFC, 0x0000), 0xFFFF0000u, STANDARD, "fills the file up"},
    /* Of scanners: names from DCMTK's private.dic. What follows the body, the gantry or the
     * detector from slice to slice; a letter for the sign of the position. */
    {DEMUR_TAG(0x0019, 0x0024), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "time of the slice"},
    {DEMUR_TAG(0x0019, 0x0025), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "time of the slice"},
    {DEMUR_TAG(0x0019, 0x0026), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "angle of the gantry"},
    {DEMUR_TAG(0x0019, 0x0027), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION,
     "measured period of the gantry"},
    {DEMUR_TAG(0x0019, 0x002A), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "position of the table"},
    {DEMUR_TAG(0x0019, 0x002B), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "position of the table"},
    {DEMUR_TAG(0x0019, 0x002C), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "views of the slice"},
    {DEMUR_TAG(0x0019, 0x002E), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "angle of the gantry"},
    {DEMUR_TAG(0x0019, 0x0042), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION,
     "number of the slice's segment"},
    {DEMUR_TAG(0x0019, 0x0060), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "views of the slice"},
    {DEMUR_TAG(0x0019, 0x0061), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "views of the slice"},
    {DEMUR_TAG(0x0019, 0x006A), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "views of the slice"},
    {DEMUR_TAG(0x0019, 0x0072), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x0073), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x0074), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x0075), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x0076), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x00DA), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0019, 0x00DD), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION,
     "correction where rays overran"},
    {DEMUR_TAG(0x0019, 0x00DE), ANY_BLOCK, DEMUR_CREATOR_GE_ACQUISITION, "reading of the detector"},
    {DEMUR_TAG(0x0027, 0x001C), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "exposure follows the body"},
    {DEMUR_TAG(0x0027, 0x001D), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "exposure follows the body"},
    {DEMUR_TAG(0x0027, 0x001E), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "exposure follows the body"},
    {DEMUR_TAG(0x0027, 0x001F), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "exposure follows the body"},
    {DEMUR_TAG(0x0027, 0x0006), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "where the object is kept"},
    {DEMUR_TAG(0x0027, 0x0040), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE,
     "I below and S above the origin"},
    {DEMUR_TAG(0x0027, 0x0041), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "position of the slice"},
    {DEMUR_TAG(0x0027, 0x0044), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "position of the slice"},
    {DEMUR_TAG(0x0027, 0x004A), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "position of the slice"},
    {DEMUR_TAG(0x0027, 0x004D), ANY_BLOCK, DEMUR_CREATOR_GE_IMAGE, "position of the slice"},
    {DEMUR_TAG(0x0043, 0x0010), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS,
     "how the image is to be shown"},
    {DEMUR_TAG(0x0043, 0x0011), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "views of the slice"},
    {DEMUR_TAG(0x0043, 0x0015), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "views of the slice"},
    {DEMUR_TAG(0x0043, 0x0016), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "rays that overran"},
    {DEMUR_TAG(0x0043, 0x001D), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS,
     "how the image is to be shown"},
    {DEMUR_TAG(0x0043, 0x001E), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "time of the slice"},
    {DEMUR_TAG(0x0043, 0x001F), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "rays that overran"},
    {DEMUR_TAG(0x0043, 0x0020), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "rays that overran"},
    {DEMUR_TAG(0x0043, 0x0026), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "views of the slice"},
    {DEMUR_TAG(0x0043, 0x0028), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "names the image"},
    {DEMUR_TAG(0x0043, 0x0029), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "statistics of the pixels"},
    {DEMUR_TAG(0x0043, 0x0040), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "position of the table"},
    {DEMUR_TAG(0x0043, 0x0041), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "angle of the gantry"},
    {DEMUR_TAG(0x0043, 0x004D), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "time of the slice"},
    {DEMUR_TAG(0x0043, 0x004E), ANY_BLOCK, DEMUR_CREATOR_GE_PARAMETERS, "time of the slice"},
    {DEMUR_TAG(0x0601, 0x0020), ANY_BLOCK, DEMUR_CREATOR_ELSCINT, "position of the table"},
    {DEMUR_TAG(0x0601, 0x0021), ANY_BLOCK, DEMUR_CREATOR_ELSCINT, "position of the table"},
    {DEMUR_TAG(0x0601, 0x0072), ANY_BLOCK, DEMUR_CREATOR_ELSCINT, "number of the image"},
    {DEMUR_TAG(0x0019, 0x0020), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT, "exposure follows the body"},
    {DEMUR_TAG(0x0019, 0x0021), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT, "exposure follows the body"},
    {DEMUR_TAG(0x0019, 0x0025), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT, "exposure follows the body"},
    {DEMUR_TAG(0x0019, 0x0026), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT,
     "measured voltage of the slice"},
    {DEMUR_TAG(0x0021, 0x0010), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT, "angle of the gantry"},
    {DEMUR_TAG(0x0021, 0x0011), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_CT, "angle of the gantry"},
    {DEMUR_TAG(0x0019, 0x0066), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_COAD, "phase of the focal spot"},
    {DEMUR_TAG(0x0009, 0x0030), ANY_BLOCK, DEMUR_CREATOR_SIEMENS,
     "place of bytes as they are written"},
    {DEMUR_TAG(0x0009, 0x0031), ANY_BLOCK, DEMUR_CREATOR_SIEMENS,
     "place of bytes as they are written"},
    {DEMUR_TAG(0x0009, 0x0040), ANY_BLOCK, DEMUR_CREATOR_SIEMENS,
     "place of bytes as they are written"},
    {DEMUR_TAG(0x0009, 0x0041), ANY_BLOCK, DEMUR_CREATOR_SIEMENS,
     "place of bytes as they are written"},
    {DEMUR_TAG(0x0021, 0x0012), ANY_BLOCK, DEMUR_CREATOR_SIEMENS, "angle of the gantry"},
    {DEMUR_TAG(0x0029, 0x0050), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
    {DEMUR_TAG(0x0029, 0x0051), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
    {DEMUR_TAG(0x0029, 0x0052), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
    {DEMUR_TAG(0x0029, 0x0053), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
    {DEMUR_TAG(0x0029, 0x0054), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
    {DEMUR_TAG(0x0029, 0x0055), ANY_BLOCK, DEMUR_CREATOR_SIEMENS_MEDCOM,
     "where the object is kept"},
};

static const Row turns[] = {
    {DEMUR_TAG(0x0028, 0x1052), ONE_ELEMENT, STANDARD,
     "how the pixels of this slice are written; each slice's own is applied"},
    {DEMUR_TAG(0x0028, 0x1053), ONE_ELEMENT, STANDARD,
     "how the pixels of this slice are written; each slice's own is applied"},
};

DemurPrivateCreator
demur_private_creator_find(const guint8 *text, size_t length) {
  static const char *const names[DEMUR_N_CREATORS] = {
      [DEMUR_CREATOR_GE_ACQUISITION] = "GEMS_ACQU_01",
      [DEMUR_CREATOR_GE_IMAGE] = "GEMS_IMAG_01",
      [DEMUR_CREATOR_GE_PARAMETERS] = "GEMS_PARM_01",
      [DEMUR_CREATOR_ELSCINT] = "ELSCINT1",
      [DEMUR_CREATOR_SIEMENS_CT] = "SIEMENS CT VA0  GEN",
      [DEMUR_CREATOR_SIEMENS_COAD] = "SIEMENS CT VA0  COAD",
      [DEMUR_CREATOR_SIEMENS] = "SIEMENS MED",
      [DEMUR_CREATOR_SIEMENS_MEDCOM] = "SIEMENS MEDCOM HEADER",
  };
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\0'))
    length--;
  for (guint i = DEMUR_CREATOR_UNKNOWN + 1; i < DEMUR_N_CREATORS; i++)
    if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0)
      return (DemurPrivateCreator)i;
  return DEMUR_CREATOR_UNKNOWN;
}

static gboolean
stands_in(const Row *rows, size_t n, guint32 tag, DemurPrivateCreator creator) {
  for (size_t i = 0; i < n; i++)
    if ((tag & rows[i].mask) == rows[i].tag && rows[i].creator == creator)
      return TRUE;
  return FALSE;
}

DemurElementFreedom
demur_element_freedom(guint32 tag, DemurPrivateCreator creator) {
  /* A private block of a creator that the table does not know has no rows. */
  if (((tag >> 16) & 1u) != 0 && creator == DEMUR_CREATOR_UNKNOWN && (tag & 0xFFFFu) != 0)
    return DEMUR_ELEMENT_COMPARED;
  if (stands_in(table, G_N_ELEMENTS(table), tag, creator))
    return DEMUR_ELEMENT_FREE;
  return stands_in(turns, G_N_ELEMENTS(turns), tag, creator) ? DEMUR_ELEMENT_TURNS
                                                             : DEMUR_ELEMENT_COMPARED;
}

size_t
demur_free_elements_n(void) {
  return G_N_ELEMENTS(table) + G_N_ELEMENTS(turns);
}

const char *
demur_free_element_reason(size_t i) {
  g_return_val_if_fail(i < demur_free_elements_n(), NULL);
  return i < G_N_ELEMENTS(table) ? table[i].reason : turns[i - G_N_ELEMENTS(table)].reason;
}
