/* Directions and distances of slices in the patient's coordinate system (LPS, mm). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Unit normal (row x column) of the six cosines; FALSE where they are not two perpendicular unit
 * vectors within 1 %. */
gboolean demur_geometry_normal(const double orientation[6],
                               double normal[3]) G_GNUC_WARN_UNUSED_RESULT;

double demur_geometry_dot(const double a[3], const double b[3]);

/* Angle in degrees, in [0, 180], between two vectors that are not zero. */
double demur_geometry_angle(const double a[3], const double b[3]);

/* Anatomical letters at the end of direction: "L", "R", "A", "P", "H", "F", with up to two further
 * ones for an oblique direction ("AL"), the largest share first; shares under sin(5 degrees) are
 * left out. out holds 4 bytes. (DICOM's x grows to the patient's left, y to the back, z to the
 * head.) */
void demur_geometry_letters(const double direction[3], char out[4]);

G_END_DECLS
