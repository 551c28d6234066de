/* demur dicom echo, send, query, retrieve, receive. */
#pragma once

#include "app/cli/command.h"

G_BEGIN_DECLS

gboolean demur_dicom_echo(DemurContext *context, int argc, char **argv,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_dicom_send(DemurContext *context, int argc, char **argv,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_dicom_query(DemurContext *context, int argc, char **argv,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_dicom_retrieve(DemurContext *context, int argc, char **argv,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;
gboolean demur_dicom_receive(DemurContext *context, int argc, char **argv,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
