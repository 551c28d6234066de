#define _GNU_SOURCE /* memfd_create */
#include "memory-file.h"

#include <sys/mman.h>
#include <unistd.h>

char *
fuzz_memory_file(const uint8_t *data, size_t size, int *fd) {
  *fd = memfd_create("input", MFD_CLOEXEC);
  g_assert_cmpint(*fd, >=, 0);
  g_assert_cmpint(write(*fd, data, size), ==, (ssize_t)size);
  return g_strdup_printf("/proc/self/fd/%d", *fd);
}
