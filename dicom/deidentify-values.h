/* What may stay of a value in a de-identified object: numbers that are numbers, codes that are
 * words of DICOM or of scanners, kernels, filters and makers that are known. Everything else could
 * be anybody's name and goes. And moments moved by one shift a patient. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Each returns what may stay of text (several values parted by backslashes), owned: text itself, or
 * with the values that may not stay emptied, or "". */

/* DS or IS: decimal numbers of at most 16 characters and 10^7, at most 8 of them. */
char *demur_deidentify_numbers(const char *text);
/* CS, and RescaleType: words of the vocabulary, single or joined by blanks. */
char *demur_deidentify_codes(const char *text);
/* ConvolutionKernel: up to two letters, up to three digits, two letters; or a known name. */
char *demur_deidentify_kernel(const char *text);
/* FilterType: known names and small numbers. */
char *demur_deidentify_filter(const char *text);
/* Manufacturer: the known one it is. */
char *demur_deidentify_vendor(const char *text);
/* ManufacturerModelName: the known family it is of. */
char *demur_deidentify_model(const char *manufacturer, const char *model);

/* Whether a binary number is plain: finite, 0 or between 10^-6 and 10^7. */
gboolean demur_deidentify_is_plain(double value);

/* A moment, in parts as DICOM writes them: date YYYYMMDD, time HHMMSS.FFFFFF, either NULL or empty.
 * Both go back by days and seconds together, a date alone by the days, a time alone by the seconds,
 * over midnight where need be; fractions stay. What is no date or time becomes "". Owned. */
void demur_deidentify_shift(const char *date, const char *time, guint days, guint seconds,
                            char **new_date, char **new_time);

/* A DT: as both parts; its offset from UTC goes. */
char *demur_deidentify_shift_moment(const char *moment, guint days, guint seconds);

G_END_DECLS
