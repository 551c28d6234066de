// Writing a DCMTK object as a file, whole or not at all. DCMTK's own saveFile writes in place and
// does not look at what the closing says.
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

#include "base/file-output.h"

// Writes file to path as base/file-output.h does; its errors, or DEMUR_ERROR_OUTPUT where DCMTK
// can't encode the object.
gboolean demur_save_file(DcmFileFormat &file, const char *path, E_TransferSyntax syntax,
                         E_GrpLenEncoding group_length, DemurFileFlags flags, GError **error);
