#include "app/late/late.h"

#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Those of the program, as its trampolines list them (late_end); the linker names both ends of a section, and where there
 * is none, neither. */
extern const DemurLateRoom *const rooms_begin[] __asm__("__start_demur_late_rooms")
    __attribute__((weak, visibility("hidden")));
extern const DemurLateRoom *const rooms_end[] __asm__("__stop_demur_late_rooms")
    __attribute__((weak, visibility("hidden")));

static void G_GNUC_NORETURN
fail(const DemurLateRoom *room, const char *why) {
  g_printerr(
      "demur: %s, a part of the program, can't be loaded: %s; it belongs beside the program, or "
      "where that was installed: start the program again, or install it again\n",
      room->file, why);
  exit(EXIT_FAILURE);
}

/* The module's name is the same in every build: an upgrade beneath a running program puts another's there. */
static void
check_build(const DemurLateRoom *room, void *module) {
  const char *build = dlsym(module, DEMUR_LATE_BUILD);
  if (build == NULL || strcmp(build, room->build) != 0)
    fail(room, "it is of another build than the program, as behind an upgrade while that ran");
}

void
demur_late_enter(const DemurLateRoom *room) {
  static GMutex lock;
  static GPtrArray *loaded; /* guarded by lock */
  g_mutex_lock(&lock);
  if (loaded == NULL)
    loaded = g_ptr_array_new();
  if (!g_ptr_array_find(loaded, room, NULL)) {
    void *module = dlopen(room->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL)
      fail(room, dlerror());
    check_build(room, module);
    const char *name = room->names;
    for (size_t i = 0; i < room->n; i++, name += strlen(name) + 1) {
      void *function = dlsym(module, name);
      if (function == NULL)
        fail(room, dlerror());
      /* Another thread may be jumping through it. */
      g_atomic_pointer_set(&room->slots[i], function);
    }
    if (mprotect((void *)room->slots, room->n_bytes, PROT_READ) != 0)
      fail(room, g_strerror(errno));
    g_ptr_array_add(loaded, (gpointer)room);
  }
  g_mutex_unlock(&lock);
}

void
demur_late_load_all(void) {
  for (const DemurLateRoom *const *room = rooms_begin; room != rooms_end; room++)
    demur_late_enter(*room);
}
