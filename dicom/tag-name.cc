#include "dicom/tag-name.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcdicent.h>
#include <dcmtk/dcmdata/dcdict.h>
#include <dcmtk/dcmdata/dctagkey.h>

char *
demur_tag_name(guint32 tag) {
  const DcmTagKey key(static_cast<Uint16>(tag >> 16), static_cast<Uint16>(tag & 0xFFFF));
  const DcmDictEntry *entry =
      key.isPrivate() ? nullptr : dcmDataDict.rdlock().findEntry(key, nullptr);
  char *name = entry != nullptr ? g_strdup(entry->getTagName())
                                : g_strdup_printf("(%04X,%04X)", key.getGroup(), key.getElement());
  if (!key.isPrivate())
    dcmDataDict.rdunlock();
  return name;
}
