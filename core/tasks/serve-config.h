/* The settings of `demur serve`: one file of sections and `key = value` lines.
 *
 * `#` begins a comment line. Every key is in one table (serve-config.c), with its section, its
 * kind, its limits and what to write there; a fault is told with the file, the line and the remedy,
 * and nothing is guessed: an unknown key, a repeated one and a missing one are faults too. */
#pragma once

#include <glib.h>

#include "dicom/stow.h"
#include "dicom/web.h"
#include "selector/verdict.h"

G_BEGIN_DECLS

typedef enum {
  DEMUR_ANSWER_REPORT = 1 << 0, /* DICOM SR */
  DEMUR_ANSWER_PDF = 1 << 1,
  DEMUR_ANSWER_PICTURE = 1 << 2, /* secondary capture */
  DEMUR_N_ANSWER_OBJECTS = 3,
} DemurAnswerObjects;

/* Whom to answer: a section [answer NAME]. */
typedef struct {
  char *name;          /* of the section */
  char *host, *called; /* host: an address of the web too; called: AE title */
  char *login;         /* path of a file; NULL */
  guint port;
  char *calling;         /* NULL: the AE title of [receive] */
  guint timeout_seconds; /* for each of its answers */
  guint verdicts;        /* 1 << DemurVerdict of those that go there */
  guint objects;         /* DemurAnswerObjects */
  gboolean encrypted;    /* by the certificates of [tls] */
  gboolean commit;       /* storage commitment is asked for, and awaited */
  guint commit_seconds;  /* .. so long: then sent and asked again */
} DemurServeDestination;

/* Texts are owned; NULL and 0: not given. */
typedef struct {
  char *path; /* of the file */
  /* [receive] */
  char *folder, *ae, *watched; /* watched: a folder that others fill */
  guint port, timeout_seconds, settle_seconds, max_associations;
  guint reserve_mb; /* of the disk that is never filled */
  char **callers, **hosts;
  char **commit_to;   /* AE=HOST:PORT */
  guint metrics_port; /* of the loopback; 0: none */
  /* [tls] */
  char *certificate, *key, *authorities;
  gboolean any_caller;
  gboolean encrypted; /* [receive] tls */
  /* [stow] */
  char *stow_address, *stow_certificate, *stow_key, *stow_authorities;
  char *stow_token; /* path of a file */
  guint stow_port;  /* 0: no objects over HTTP */
  guint stow_connections, stow_of_peer, stow_timeout_seconds, stow_object_mb, stow_request_mb;
  /* [complete] */
  gboolean archive_encrypted;
  char *archive_login;                 /* path of a file, for an address of the web; NULL */
  char *archive_host, *archive_called; /* who says how many objects a study has */
  guint archive_port;
  guint wait_seconds;          /* for what is missing */
  gboolean assess_part;        /* then: assessed all the same, and said */
  gboolean count_acquisitions; /* images that say how many their acquisition has are waited for */
  /* [model] */
  char *model, *model_version, *command;
  guint time_limit_seconds, tries, pause_seconds;
  /* [assess] */
  char *selector, *coverage, *rules, *sites;
  /* [keep] */
  guint history_days, give_up_hours;
  guint image_days;        /* that received images of answered studies stay; 0: for ever */
  GPtrArray *destinations; /* DemurServeDestination, in the file's order */
} DemurServeConfig;

/* DEMUR_ERROR_INPUT "FILE, line N: what is wrong; what to write". */
DemurServeConfig *demur_serve_config_read(const char *path,
                                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void demur_serve_config_free(DemurServeConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurServeConfig, demur_serve_config_free)

/* NULL where there is none of that name. */
const DemurServeDestination *demur_serve_config_destination(const DemurServeConfig *config,
                                                            const char *name);

/* Whether those under [receive], [tls] and [stow] are the same: a running service can't take others over. */
gboolean demur_serve_config_same_receiver(const DemurServeConfig *one,
                                          const DemurServeConfig *other);

/* The files of [tls], borrowed; NULL where encrypted is not asked for. */
const DemurTls *demur_serve_config_tls(const DemurServeConfig *config, gboolean encrypted,
                                       DemurTls *tls);

/* [stow], borrowed; NULL where it has no port. */
const DemurStow *demur_serve_config_stow(const DemurServeConfig *config, DemurStow *stow);

/* A peer that is an address of the web. *login is owned by the caller; tls is filled. */
DemurWeb demur_serve_config_web(const DemurServeConfig *config, const char *url,
                                const char *login_path, guint timeout_seconds, DemurTls *tls,
                                char **login);

/* The file's form for --help and the manual: every section and key, its default and its meaning, one
 * a line (owned). */
char *demur_serve_config_describe(void);

G_END_DECLS
