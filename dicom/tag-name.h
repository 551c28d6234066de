/* What an element is called, for people. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Its keyword (PS3.6, DCMTK's dictionary), "StudyDescription"; of a private or unknown one the tag,
 * "(0019,1010)". Owned. */
char *demur_tag_name(guint32 tag);

G_END_DECLS
