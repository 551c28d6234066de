#include "store/network-disk.h"

#include <sys/vfs.h>

#include "base/error.h"

static const struct {
  guint32 type;
  const char *name;
} network_disks[] = {
    {0x00006969, "NFS"},  {0x0000517b, "SMB"},   {0xfe534d42, "SMB"},    {0xff534d42, "SMB"},
    {0x65735546, "FUSE"}, {0x0000564c, "NCP"},   {0x5346414f, "AFS"},    {0x6b414653, "AFS"},
    {0x73757245, "Coda"}, {0x00c36400, "Ceph"},  {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
    {0x01161970, "GFS2"}, {0x7461636f, "OCFS2"},
};

static DemurFileSystemLook look;
static gint is_allowed; /* atomic */

void
demur_network_disk_set_look(DemurFileSystemLook other) {
  look = other;
}

void
demur_network_disk_allow(void) {
  g_atomic_int_set(&is_allowed, 1);
}

const char *
demur_network_disk_name(guint32 type) {
  for (size_t i = 0; i < G_N_ELEMENTS(network_disks); i++)
    if (network_disks[i].type == type)
      return network_disks[i].name;
  return NULL;
}

/* The nearest above that is there has it. */
static guint32
look_by_statfs(const char *path) {
  g_autofree char *at = g_canonicalize_filename(path, NULL);
  for (;;) {
    struct statfs found;
    if (statfs(at, &found) == 0)
      return (guint32)found.f_type;
    g_autofree char *above = g_path_get_dirname(at);
    if (g_str_equal(above, at))
      return 0;
    g_free(at);
    at = g_steal_pointer(&above);
  }
}

gboolean
demur_network_disk_check(const char *path, GError **error) {
  const char *name = g_atomic_int_get(&is_allowed)
                         ? NULL
                         : demur_network_disk_name((look != NULL ? look : look_by_statfs)(path));
  if (name == NULL)
    return TRUE;
  demur_error_set(error, DEMUR_ERROR_STORE,
                  "workspace %s is on a network's disk (%s), where several machines can't write to "
                  "a file safely: use a server (--workspace postgresql://HOST/DATABASE) or a disk "
                  "of this machine; where this machine alone ever opens it, say --network-disk",
                  path, name);
  return FALSE;
}
