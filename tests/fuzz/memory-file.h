/* What is read by its path, from memory. */
#pragma once

#include <stdint.h>

#include <glib.h>

G_BEGIN_DECLS

/* The path of a file that holds the bytes (owned); *fd, to be closed, keeps it. */
char *fuzz_memory_file(const uint8_t *data, size_t size, int *fd);

G_END_DECLS
