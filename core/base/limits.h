/* Limits that several rooms must share: what is withheld, from how many on something is said, and
 * how much is read of a file from outside.
 * One table, so that print, JSON, window and prompt never differ. */
#pragma once

#include <glib.h>

/* Counts of people (or scans) below this are withheld, and whatever they could be had from. */
#define DEMUR_SMALL_CELL 10

/* Below this many sites nothing is said about other hospitals (method.md, "Go / no-go"). */
#define DEMUR_FEW_SITES 20

/* From this many sites on intervals come from resampling sites; below it they are of these patients
 * and say nothing of other hospitals (method.md, "Measures"). */
#define DEMUR_SITES_TO_RESAMPLE 5

/* A label that is refused this many times as often as scans in general is warned of. */
#define DEMUR_REFUSED_MUCH_MORE 1.5
#define DEMUR_REFUSED_FEWEST 5u /* of that label, for a sentence about it */

/* A calibration error in units of its noise floor, from which on risks are not well calibrated. */
#define DEMUR_FAR_ABOVE_CHANCE 2.0

/* Most bytes of a file that is read whole (base/file-input.h), well above what each kind needs: a
 * selector keeps at most 20,000 scans; a scanner's rules, a key and settings are a page. */
#define DEMUR_LIMIT_SELECTOR_BYTES ((gsize)512 << 20)
#define DEMUR_LIMIT_PART_BYTES ((gsize)1 << 30)
#define DEMUR_LIMIT_REPORT_BYTES ((gsize)256 << 20)
#define DEMUR_LIMIT_SCORES_JSON_BYTES ((gsize)512 << 20)
#define DEMUR_LIMIT_SETTINGS_BYTES ((gsize)1 << 20)

/* Most bytes of a DICOM object: the length of its pixel data is written in 32 bits, and the rest is
 * small. What is longer is padded or no image. */
#define DEMUR_LIMIT_OBJECT_BYTES (G_GUINT64_CONSTANT(4097) << 20)

/* Tables are read row by row: of a row, and of all rows together (a stream may have no end). */
#define DEMUR_LIMIT_ROW_BYTES ((gsize)256 << 20)
#define DEMUR_LIMIT_TABLE_BYTES (G_GUINT64_CONSTANT(64) << 30)

/* A compressed table unpacks freely to so many bytes, and beyond to so many times its own. Numbers
 * pack three to one, columns of few words thirty to one; DEFLATE goes to 1,032. */
#define DEMUR_LIMIT_UNPACKED_FREELY (G_GUINT64_CONSTANT(64) << 20)
#define DEMUR_LIMIT_UNPACKED_TIMES 100
