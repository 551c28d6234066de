/* Numbers among a cohort's attributes that are not what they seem: in another notation (1'234.5, 12,5,
 * 1 234, 30 %), which stay texts, or that look like a code for "not recorded": 999 among ages of
 * 40 to 80, -1 among counts. They are told, never changed. */
#pragma once

#include "cohort/cohort.h"

G_BEGIN_DECLS

/* Adds a DEMUR_TABLE_CODE to warnings (of DemurTableWarning) for each of the attributes
 * [n_attributes], of n_scans scans, and each code. A column
 * counts where nine of ten of its distinct values are numbers; a code is one that
 * demur_table_is_code names and that lies below all others, which are not negative, or above them
 * by more than their range. Among texts every such number is one. And a DEMUR_TABLE_OTHER_NUMBERS for
 * each attribute with such texts, where they and numbers together are nine of ten of its values. */
void demur_attribute_codes_warn(const DemurAttribute *attributes, size_t n_attributes,
                                size_t n_scans, GPtrArray *warnings);

/* The same of a cohort's sites. */
void demur_site_codes_warn(const DemurCohort *cohort, GPtrArray *warnings);

/* The same of a patient's identifier that lies outside the numbers of the others and that several scans
 * have (several persons may be one there) or that is negative. */
void demur_patient_codes_warn(const DemurCohort *cohort, GPtrArray *warnings);

G_END_DECLS
