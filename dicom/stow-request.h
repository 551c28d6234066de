/* What a request of STOW-RS asks for, and how it is answered (PS3.18 10.5): without a network. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Statuses of HTTP. */
enum {
  DEMUR_HTTP_OK = 200,
  DEMUR_HTTP_ACCEPTED = 202, /* some of it */
  DEMUR_HTTP_BAD_REQUEST = 400,
  DEMUR_HTTP_UNAUTHORIZED = 401,
  DEMUR_HTTP_FORBIDDEN = 403,
  DEMUR_HTTP_NOT_FOUND = 404,
  DEMUR_HTTP_NO_METHOD = 405,
  DEMUR_HTTP_CONFLICT = 409, /* none of it */
  DEMUR_HTTP_TOO_LARGE = 413,
  DEMUR_HTTP_NO_TYPE = 415,
  DEMUR_HTTP_UNAVAILABLE = 503,
};

typedef struct {
  const char *method, *path; /* without a query */
  const char *authorization, *content_type, *content_encoding, *content_length; /* NULL: none */
} DemurStowHead;

/* What is right. */
typedef struct {
  const char *token; /* NULL: anybody may */
  guint64 max_bytes; /* of the body */
} DemurStowTerms;

/* 0 where the body is to be read, else the status that refuses it. *study: whose objects are taken
 * (owned), NULL: any. */
guint demur_stow_head_check(const DemurStowHead *head, const DemurStowTerms *terms, char **study);

typedef enum {
  DEMUR_STOW_WHOLE,
  DEMUR_STOW_BROKEN,    /* no multipart body, or one that ended early */
  DEMUR_STOW_TOO_LARGE, /* an object, the body, or more objects than are answered */
} DemurStowEnd;

#define DEMUR_STOW_MAX_OBJECTS 100000 /* of one request */

typedef struct DemurStowAnswer DemurStowAnswer;

DemurStowAnswer *demur_stow_answer_new(void);
void demur_stow_answer_free(DemurStowAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DemurStowAnswer, demur_stow_answer_free)

/* An object. reason: 0 where it is kept, else why not, as PS3.18 table I.2-2 and C-STORE number it.
 * What is no UID is told as not known. FALSE, with nothing added, behind DEMUR_STOW_MAX_OBJECTS. */
gboolean demur_stow_answer_add(DemurStowAnswer *answer, const char *sop_class_uid,
                               const char *sop_instance_uid, guint reason);

guint demur_stow_answer_status(const DemurStowAnswer *answer, DemurStowEnd end);

/* The document of type application/dicom+json (owned). */
char *demur_stow_answer_text(const DemurStowAnswer *answer);

G_END_DECLS
