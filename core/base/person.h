/* Whether two records are of the same person: the one answer for grouping, priors, SAFETY and
 * matching alike.
 *
 * A PatientID names a person only together with who gave it (issuer), and with witnesses that
 * agree: name, birth date, sex. Two hospitals give the same number, ANON is everybody's, names
 * change and are written in several ways. What can't be told is said so, and is never taken for the
 * same. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As recorded (UTF-8, DICOM's forms: name "FAMILY^GIVEN", date "YYYYMMDD", sex "F"); NULL or "":
 * not recorded. Borrowed. */
typedef struct {
  const char *issuer, *id, *name, *birth_date, *sex;
} DemurPerson;

typedef enum {
  DEMUR_PERSON_SAME,
  DEMUR_PERSON_OTHER,   /* a witness speaks against it */
  DEMUR_PERSON_UNKNOWN, /* can't be told */
} DemurPersonMatch;

/* Texts are compared without regard to case, blanks of any kind, `^` and commas, and how accents
 * are encoded; "0001" and "1" are different IDs. In order: identical in all that is recorded, with
 * an ID that names somebody: the same. Another issuer or ID: other where a witness speaks against
 * it or the issuers are the same (or not recorded), else it can't be told. The same ID: other where
 * birth date or sex differ; the same where the name agrees, or the birth date does and the name is
 * missing or keeps its given name; else it can't be told. An ID that names nobody (blank, ANON,
 * UNKNOWN, 0000 ..): other where a witness differs, else it can't be told. */
DemurPersonMatch demur_person_compare(const DemurPerson *a, const DemurPerson *b);

/* The same of two records of one study or series: what is recorded in the same words is of one
 * person there, even where the ID names nobody. */
DemurPersonMatch demur_person_compare_in_study(const DemurPerson *a, const DemurPerson *b);

/* Whether two PatientIDs are the same text as demur_person_compare takes it; TRUE of two blank ones.
 */
gboolean demur_person_same_id(const char *a, const char *b);

/* What records of the same person have in common, to find them by: the ID as it is compared
 * (owned). Those with another key are never the same; those with one may be. */
char *demur_person_key(const char *id);

/* Which of n records of one study or series are of the same person: classes[i] is 0, 1, .. in the
 * order of their first records. Every two of a class are the same by demur_person_compare_in_study;
 * whoever can't be told stands apart. The order of the records plays no part but for the numbers.
 * Returns how many there are. Cost O(n) and, for each ID, the square of its different spellings. */
guint demur_person_classes(const DemurPerson *persons, size_t n, guint *classes);

/* SHA-256 of what is compared, in hexadecimal (owned): another one is another or a corrected
 * person.
 */
char *demur_person_digest(const DemurPerson *person);

/* A date as DICOM or ISO 8601 writes it, as days that can be compared; FALSE where it is no date.
 */
gboolean demur_person_date(const char *text, gint64 *days) G_GNUC_WARN_UNUSED_RESULT;
/* The same as "2026-01-31" (owned), so that texts of dates are in the order of their days; NULL where it
 * is no date. */
char *demur_person_date_text(const char *text) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
