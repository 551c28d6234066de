/* Received images of studies that were answered long ago are removed where the settings say so. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Removes the objects of a study below folder that came before `before`, and its folders where they
 * are empty then; how many went. A study of which more is arriving is left alone. */
guint demur_serve_prune_images(const char *folder, const char *study, gint64 before);

G_END_DECLS
