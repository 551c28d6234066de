/* Manufacturers, models and reconstruction kernels as hospitals spell them, brought to the names
 * that acquisition features and grouping use. What is not known stays unknown (NULL); raw texts are
 * kept by the caller. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "GE", "Siemens", "Philips", "Canon" (Toshiba's scanners included), "Fujifilm" (Hitachi's
 * included), "United Imaging", "Neusoft", "Samsung", "Shimadzu"; NULL for anything else, random
 * text included. */
const char *demur_vendor_normalise(const char *manufacturer);

/* The model's family where it is known ("SOMATOM Emotion", "LightSpeed", "Aquilion"); NULL else. */
const char *demur_vendor_model_family(const char *manufacturer_name, const char *model);

typedef enum {
  DEMUR_KERNEL_UNKNOWN,
  DEMUR_KERNEL_SOFT,
  DEMUR_KERNEL_STANDARD,
  DEMUR_KERNEL_SHARP,
} DemurKernelClass;

/* Sharpness of a kernel (first value of (0018,1210)) by the maker's own naming: Siemens numbers up
 * to 36 are soft, up to 49 standard, above sharp; GE, Philips and Canon by name. */
DemurKernelClass demur_vendor_kernel_class(const char *manufacturer_name, const char *kernel);
const char *demur_vendor_kernel_class_name(DemurKernelClass sharpness); /* NULL for unknown */

/* What stands before the number ("Br" of "Br40f\3", "FC" of "FC51"), or the name itself
 * ("STANDARD"); owned, NULL where kernel is NULL. */
char *demur_vendor_kernel_family(const char *kernel);

G_END_DECLS
