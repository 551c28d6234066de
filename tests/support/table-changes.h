/* Changes to the text of a table as they come about: in editors, spreadsheets and transfers. Digits are
 * never touched, so that what a reader takes can be compared with what stood there. */
#pragma once

#include <glib.h>

#include "base/random.h"

G_BEGIN_DECLS

/* One change at random: something between, what held cells together gone or another, cut off, a row
 * gone, twice or elsewhere. text is not empty. */
void demur_test_change_text(GString *text, DemurRandom *random);

/* The whole in another encoding, with a letter that encodings differ in or without. */
void demur_test_change_encoding(GString *text, DemurRandom *random);

/* The number in a text, marks and blanks that were put in left out; -1: there is none. */
int demur_test_number_in(const char *text);

G_END_DECLS
