/* A verdict as one picture of words, for viewers that show pictures and nothing else. It holds no
 * name and no ID: whose it is stands in the object around it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_VERDICT_PICTURE_WIDTH 1024
#define DEMUR_VERDICT_PICTURE_HEIGHT 768

typedef struct {
  const char *heading; /* the verdict */
  const char *const
      *lines;         /* below it, NULL-terminated; a long one is broken, what finds no room is
                             * said to be missing */
  const char *foot;   /* in small letters at the lower edge */
  gboolean simulated; /* said in large letters */
} DemurVerdictPicture;

/* RGB, row by row: [DEMUR_VERDICT_PICTURE_HEIGHT][DEMUR_VERDICT_PICTURE_WIDTH][3], owned. The same
 * words give the same bytes. */
guint8 *demur_verdict_picture_draw(const DemurVerdictPicture *picture);

G_END_DECLS
