/* SHA-256 (FIPS 180-4) of many messages of one block each, side by side: libcrypto has one after the other, and each of its rounds
 * waits for the one before. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define DEMUR_SHA256_LANES 16

/* words [16][lanes] of the blocks as numbers: the message, a one bit, zeros, and the message's number of bits in the last two
 * (5.1.1). digests [8][lanes]: their words as numbers (6.2.2). */
void demur_sha256_of_lanes(const guint32 (*words)[DEMUR_SHA256_LANES],
                           guint32 (*digests)[DEMUR_SHA256_LANES]);

G_END_DECLS
