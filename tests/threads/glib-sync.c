/* Loaded before GLib in programs built with ThreadSanitizer: tells it what GLib's locks order.
 *
 * GLib is not built with it and its locks are futexes, so that every hand-over by them looks like a
 * race. Each function here is GLib's own, with what it orders told before or behind it. What is
 * built with the sanitizer sees its own atomics by itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FOUND(name)                                                                                \
  static __typeof__(&name) next;                                                                   \
  if (__atomic_load_n(&next, __ATOMIC_RELAXED) == NULL)                                            \
  __atomic_store_n(&next, NEXT(name), __ATOMIC_RELAXED)

/* Locks: whoever has it sees what the one before did. */
#define LOCK(name)                                                                                 \
  void name(void *lock);                                                                           \
  void name(void *lock) {                                                                          \
    FOUND(name);                                                                                   \
    next(lock);                                                                                    \
    __tsan_acquire(lock);                                                                          \
  }
#define TRY(name)                                                                                  \
  int name(void *lock);                                                                            \
  int name(void *lock) {                                                                           \
    FOUND(name);                                                                                   \
    const int got = next(lock);                                                                    \
    if (got)                                                                                       \
      __tsan_acquire(lock);                                                                        \
    return got;                                                                                    \
  }
#define UNLOCK(name)                                                                               \
  void name(void *lock);                                                                           \
  void name(void *lock) {                                                                          \
    FOUND(name);                                                                                   \
    __tsan_release(lock);                                                                          \
    next(lock);                                                                                    \
  }

LOCK(g_mutex_lock)
TRY(g_mutex_trylock)
UNLOCK(g_mutex_unlock)
LOCK(g_rec_mutex_lock)
TRY(g_rec_mutex_trylock)
UNLOCK(g_rec_mutex_unlock)
LOCK(g_rw_lock_reader_lock)
LOCK(g_rw_lock_writer_lock)
UNLOCK(g_rw_lock_reader_unlock)
UNLOCK(g_rw_lock_writer_unlock)

/* Waiting gives the lock away and takes it again. */
void g_cond_wait(void *condition, void *lock);
void
g_cond_wait(void *condition, void *lock) {
  FOUND(g_cond_wait);
  __tsan_release(lock);
  next(condition, lock);
  __tsan_acquire(lock);
}

int g_cond_wait_until(void *condition, void *lock, int64_t until);
int
g_cond_wait_until(void *condition, void *lock, int64_t until) {
  FOUND(g_cond_wait_until);
  __tsan_release(lock);
  const int signalled = next(condition, lock, until);
  __tsan_acquire(lock);
  return signalled;
}

/* What is made once is seen by all: the readers' side is an atomic of theirs. */
void g_once_init_leave(volatile void *location, size_t result);
void
g_once_init_leave(volatile void *location, size_t result) {
  FOUND(g_once_init_leave);
  __tsan_release((void *)location);
  next(location, result);
}

int g_once_init_enter(volatile void *location);
int
g_once_init_enter(volatile void *location) {
  FOUND(g_once_init_enter);
  const int first = next(location);
  if (!first)
    __tsan_acquire((void *)location);
  return first;
}

/* Queues between threads. */
void g_async_queue_push(void *queue, void *item);
void
g_async_queue_push(void *queue, void *item) {
  FOUND(g_async_queue_push);
  __tsan_release(queue);
  next(queue, item);
}

void *g_async_queue_pop(void *queue);
void *
g_async_queue_pop(void *queue) {
  FOUND(g_async_queue_pop);
  void *item = next(queue);
  __tsan_acquire(queue);
  return item;
}
