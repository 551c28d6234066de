/* A part of a training that another process or machine computed: the networks that it trained, each
 * where it ended (selector/checkpoint.h, in base64). Parts that together hold every network once are
 * a checkpoint from which the training goes on to the bytes of one run. */
#pragma once

#include "evaluation/shard-plan.h"
#include "selector/checkpoint.h"

G_BEGIN_DECLS

/* The document, owned. */
char *demur_network_part_write(const DemurShardPlan *plan, const DemurCheckpoint *networks);

/* Puts the networks of the document into whole, which is NULL before the first part; owned. name:
 * what to call it in messages. DEMUR_ERROR_INPUT for a document that is none, was edited, is of
 * another training or was computed from other numbers than the parts before, or holds a network that
 * whole has already; whole is as it was then. */
gboolean demur_network_part_read(const DemurShardPlan *plan, const char *text, gssize length,
                                 const char *name, DemurCheckpoint **whole,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* DEMUR_ERROR_INPUT with the networks that no part held; whole may be NULL. */
gboolean demur_network_part_check_whole(const DemurShardPlan *plan, const DemurCheckpoint *whole,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
