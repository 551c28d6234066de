#include "store/schema.h"

/* The log's table once events seal rows (migrations 13 and later): each new kind of event makes it anew,
 * under another name first. */
#define EVENT_TABLE(name, kinds)                                                                   \
  "CREATE TABLE " name " ("                                                                        \
  "  sequence INTEGER PRIMARY KEY,"                                                                \
  "  kind TEXT NOT NULL CHECK (kind IN (" kinds ")),"                                              \
  "  key TEXT NOT NULL,"                                                                           \
  "  digest TEXT,"                                                                                 \
  "  details TEXT,"                                                                                \
  "  user TEXT,"                                                                                   \
  "  station TEXT,"                                                                                \
  "  program TEXT NOT NULL,"                                                                       \
  "  created TEXT NOT NULL,"                                                                       \
  "  seal TEXT,"                                                                                   \
  "  previous TEXT NOT NULL,"                                                                      \
  "  chain TEXT NOT NULL UNIQUE"                                                                   \
  ") STRICT;"
#define EVENTS_ARE_NEVER_CHANGED                                                                   \
  "CREATE INDEX event_key ON event (key);"                                                         \
  "CREATE TRIGGER event_not_changed BEFORE UPDATE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never changed'); END;"                                \
  "CREATE TRIGGER event_not_removed BEFORE DELETE ON event"                                        \
  "  BEGIN SELECT RAISE (ABORT, 'an event is never removed'); END;"

/* The migrations: a statement a line, fragments among them. */
/* clang-format off */

/* Cohorts are columns, not rows: a scan is never asked for alone, and a million of them must load
 * in a second. cohort_column holds each array of DemurCohort as little endian bytes (texts: each
 * with its NUL), cut into chunks in order. Names in other tables are texts, not references, where
 * the history must outlive what it tells of: a verdict keeps the name and digest of a selector that
 * was removed. */
static const char migration_1[] =
    "CREATE TABLE cohort ("
    "  id INTEGER PRIMARY KEY,"
    "  name TEXT NOT NULL UNIQUE,"
    "  model TEXT NOT NULL,"
    "  source TEXT NOT NULL,"
    "  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),"
    "  digest TEXT NOT NULL,"
    "  n_scans INTEGER NOT NULL CHECK (n_scans > 0),"
    "  n_patients INTEGER NOT NULL CHECK (n_patients > 0),"
    "  n_sites INTEGER NOT NULL CHECK (n_sites > 0),"
    "  n_classes INTEGER NOT NULL CHECK (n_classes >= 2),"
    "  embedding_width INTEGER NOT NULL CHECK (embedding_width >= 0),"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE cohort_split ("
    "  cohort_id INTEGER NOT NULL REFERENCES cohort (id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  n_scans INTEGER NOT NULL,"
    "  n_patients INTEGER NOT NULL,"
    "  PRIMARY KEY (cohort_id, position),"
    "  UNIQUE (cohort_id, name)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE cohort_column ("
    "  id INTEGER PRIMARY KEY,"
    "  cohort_id INTEGER NOT NULL REFERENCES cohort (id) ON DELETE CASCADE,"
    "  name TEXT NOT NULL," /* "label", "embedding", .., "attribute:NAME", "values:NAME" */
    "  chunk INTEGER NOT NULL,"
    "  data BLOB NOT NULL,"
    "  UNIQUE (cohort_id, name, chunk)"
    ") STRICT;"
    "CREATE TABLE cohort_attribute ("
    "  cohort_id INTEGER NOT NULL REFERENCES cohort (id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  n_values INTEGER NOT NULL,"
    "  PRIMARY KEY (cohort_id, position),"
    "  UNIQUE (cohort_id, name)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE selector ("
    "  id INTEGER PRIMARY KEY,"
    "  name TEXT NOT NULL UNIQUE,"
    "  document TEXT NOT NULL,"
    "  document_sha256 TEXT NOT NULL,"
    "  digest TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  cohort_digest TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  history TEXT,"
    "  validation TEXT,"
    "  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE threshold ("
    "  sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  selector_id INTEGER NOT NULL REFERENCES selector (id) ON DELETE CASCADE,"
    "  coverage REAL NOT NULL CHECK (coverage > 0 AND coverage <= 1),"
    "  threshold REAL NOT NULL,"
    "  realised REAL NOT NULL,"
    "  n_scans INTEGER NOT NULL,"
    "  n_patients INTEGER NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  split TEXT NOT NULL,"
    "  cohort_digest TEXT NOT NULL,"
    "  guarantee TEXT,"
    "  created TEXT NOT NULL,"
    "  UNIQUE (selector_id, coverage)"
    ") STRICT;"

    "CREATE TABLE verdict_batch ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  selector TEXT NOT NULL,"
    "  selector_digest TEXT NOT NULL,"
    "  cohort TEXT," /* NULL: DICOM series */
    "  model TEXT NOT NULL,"
    "  coverage REAL,"
    "  threshold REAL,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX verdict_batch_selector ON verdict_batch (selector);"
    "CREATE INDEX verdict_batch_cohort ON verdict_batch (cohort);"
    "CREATE TABLE verdict ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  batch_id INTEGER NOT NULL REFERENCES verdict_batch (id),"
    "  scan_id TEXT NOT NULL,"
    "  patient_id TEXT,"
    "  risk REAL,"
    "  risk_raw REAL,"
    "  score REAL,"
    "  verdict TEXT NOT NULL CHECK (verdict IN"
    "    ('accepted', 'red_flag', 'not_eligible', 'no_score', 'not_tuned', 'failed')),"
    "  reasons TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX verdict_scan ON verdict (scan_id);"
    "CREATE INDEX verdict_of_batch ON verdict (batch_id);"

    "CREATE TABLE series ("
    "  id INTEGER PRIMARY KEY,"
    "  scan_id TEXT NOT NULL UNIQUE,"
    "  series_uid TEXT,"
    "  study_uid TEXT,"
    "  patient_id TEXT,"
    "  patient_name TEXT,"
    "  study_date TEXT,"
    "  modality TEXT,"
    "  type TEXT,"
    "  accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),"
    "  eligible INTEGER NOT NULL CHECK (eligible IN (0, 1)),"
    "  reason TEXT,"
    "  n_slices INTEGER NOT NULL,"
    "  spacing_mm REAL,"
    "  thickness_mm REAL,"
    "  tilt_degrees REAL,"
    "  manufacturer TEXT,"
    "  manufacturer_raw TEXT,"
    "  model_name TEXT,"
    "  kernel TEXT,"
    "  kvp REAL,"
    "  contrast TEXT,"
    "  fov_mm REAL,"
    "  tube_current_ma REAL,"
    "  site TEXT,"
    "  facts TEXT,"
    "  warnings TEXT,"
    "  created TEXT NOT NULL,"
    "  updated TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX series_uid ON series (series_uid);"
    "CREATE TABLE series_file ("
    "  series_id INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL," /* in slice order */
    "  path TEXT NOT NULL,"
    "  frame INTEGER NOT NULL,"
    "  sop_instance_uid TEXT,"
    "  position_mm REAL,"
    "  PRIMARY KEY (series_id, position)"
    ") STRICT, WITHOUT ROWID;"

    "CREATE TABLE score ("
    "  id INTEGER PRIMARY KEY,"
    "  scan_id TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  patient_id TEXT,"
    "  risk REAL NOT NULL CHECK (risk >= 0 AND risk <= 1),"
    "  risk_year_1 REAL, risk_year_2 REAL, risk_year_3 REAL,"
    "  risk_year_4 REAL, risk_year_5 REAL, risk_year_6 REAL,"
    "  embedding BLOB," /* float32, little endian */
    "  source TEXT NOT NULL,"
    "  created TEXT NOT NULL,"
    "  UNIQUE (scan_id, model)"
    ") STRICT;";

/* What people said of verdicts, and why a coverage was chosen. */
static const char migration_2[] =
    "CREATE TABLE review ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  scan_id TEXT NOT NULL,"
    "  cohort TEXT," /* NULL: DICOM series */
    "  verdict_id INTEGER REFERENCES verdict (id),"
    "  kind TEXT NOT NULL CHECK (kind IN ('agree', 'disagree', 'comment', 'reveal')),"
    "  comment TEXT,"
    "  revealed INTEGER NOT NULL CHECK (revealed IN (0, 1)),"
    "  shown TEXT NOT NULL," /* JSON */
    "  user TEXT NOT NULL,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX review_scan ON review (scan_id);"
    "CREATE TABLE decision ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  selector TEXT NOT NULL,"
    "  selector_digest TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  split TEXT NOT NULL,"
    "  coverage REAL NOT NULL CHECK (coverage > 0 AND coverage <= 1),"
    "  threshold REAL NOT NULL,"
    "  reason TEXT NOT NULL,"
    "  user TEXT NOT NULL,"
    "  created TEXT NOT NULL"
    ") STRICT;";

/* A person's choice of series against the rules; what running an external model said. Names are
 * texts: the history outlives what it tells of. */
static const char migration_3[] =
    "CREATE TABLE series_overrule ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  scan_id TEXT NOT NULL,"
    "  reason TEXT NOT NULL CHECK (reason <> ''),"
    "  rules_eligible INTEGER NOT NULL CHECK (rules_eligible IN (0, 1)),"
    "  rules_accepted INTEGER NOT NULL CHECK (rules_accepted IN (0, 1)),"
    "  rules_reason TEXT,"
    "  replaced TEXT,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX series_overrule_scan ON series_overrule (scan_id);"
    "CREATE TABLE score_run ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  scan_id TEXT NOT NULL,"
    "  model TEXT NOT NULL,"
    "  command TEXT NOT NULL,"
    "  exit_status INTEGER NOT NULL,"
    "  outcome TEXT NOT NULL CHECK (outcome IN ('scored', 'failed', 'timed out', 'cancelled')),"
    "  message TEXT,"
    "  stderr_end TEXT,"
    "  seconds REAL NOT NULL,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX score_run_scan ON score_run (scan_id);";

/* Site audits: which scans were asked for, and the intercept that their labels gave. */
static const char migration_4[] =
    "CREATE TABLE site_audit_plan ("
    "  id INTEGER PRIMARY KEY,"
    "  selector_id INTEGER NOT NULL REFERENCES selector (id) ON DELETE CASCADE,"
    "  site TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  n_scans INTEGER NOT NULL CHECK (n_scans > 0),"
    "  seed INTEGER NOT NULL,"
    "  created TEXT NOT NULL,"
    "  UNIQUE (selector_id, site)"
    ") STRICT;"
    "CREATE TABLE site_audit ("
    "  id INTEGER PRIMARY KEY,"
    "  selector_id INTEGER NOT NULL REFERENCES selector (id) ON DELETE CASCADE,"
    "  site TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  intercept REAL NOT NULL,"
    "  low REAL NOT NULL,"
    "  high REAL NOT NULL,"
    "  tau2 REAL NOT NULL CHECK (tau2 > 0),"
    "  n_labels INTEGER NOT NULL CHECK (n_labels > 0),"
    "  created TEXT NOT NULL,"
    "  UNIQUE (selector_id, site)"
    ") STRICT;";

/* Trainings that were interrupted, by the name of the selector to be. */
static const char migration_5[] = "CREATE TABLE checkpoint ("
                                  "  name TEXT PRIMARY KEY,"
                                  "  data BLOB NOT NULL,"
                                  "  n_updates INTEGER NOT NULL CHECK (n_updates >= 0),"
                                  "  created TEXT NOT NULL"
                                  ") STRICT;";

/* What was left out before a cohort was made: recorded 0 for cohorts of before, of which nobody
 * knows; with 1 and no row nothing was. A threshold's digest: NULL for those of before. */
static const char migration_6[] =
    "ALTER TABLE cohort ADD COLUMN exclusions_recorded INTEGER NOT NULL DEFAULT 0"
    "  CHECK (exclusions_recorded IN (0, 1));"
    "CREATE TABLE cohort_exclusion ("
    "  cohort_id INTEGER NOT NULL REFERENCES cohort (id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  reason TEXT NOT NULL CHECK (reason <> ''),"
    "  n INTEGER NOT NULL CHECK (n > 0),"
    "  PRIMARY KEY (cohort_id, position)"
    ") STRICT, WITHOUT ROWID;"
    "ALTER TABLE threshold ADD COLUMN digest TEXT;";

/* What was noticed while a cohort's table was read (cohort/table-warnings.h: kind is its name
 * there), and what a label 1 means, NULL where nobody said. */
static const char migration_7[] =
    "ALTER TABLE cohort ADD COLUMN outcome TEXT;"
    "CREATE TABLE cohort_warning ("
    "  cohort_id INTEGER NOT NULL REFERENCES cohort (id) ON DELETE CASCADE,"
    "  position INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  column_name TEXT,"
    "  first TEXT,"
    "  second TEXT,"
    "  n INTEGER NOT NULL CHECK (n >= 0),"
    "  n_all INTEGER NOT NULL CHECK (n_all >= 0),"
    "  PRIMARY KEY (cohort_id, position)"
    ") STRICT, WITHOUT ROWID;";

/* Reasons are data: their kinds and values as a JSON array of objects. Sentences of an older
 * program stay as they are, and are read as such (selector/reason.h); lead is NULL for them. */
static const char migration_8[] = "ALTER TABLE verdict ADD COLUMN lead TEXT;";

/* What a verdict rests on, as digests (store/bindings.h): NULL in rows of before, whose verdicts
 * are bound by names only and never hold. The person of a series as its witnesses are; conflict:
 * why the series waits for a person's decision. Every change is an event in a chain
 * (store/events.h). */
static const char migration_9[] =
    "ALTER TABLE series ADD COLUMN images_digest TEXT;"
    "ALTER TABLE series ADD COLUMN person_digest TEXT;"
    "ALTER TABLE series ADD COLUMN issuer TEXT;"
    "ALTER TABLE series ADD COLUMN birth_date TEXT;"
    "ALTER TABLE series ADD COLUMN sex TEXT;"
    "ALTER TABLE series ADD COLUMN simulated INTEGER NOT NULL DEFAULT 0"
    "  CHECK (simulated IN (0, 1));"
    "ALTER TABLE series ADD COLUMN conflict TEXT CHECK (conflict IN ('person', 'content'));"
    "UPDATE series SET birth_date = json_extract(facts, '$.patient_birth_date'),"
    "  sex = json_extract(facts, '$.patient_sex') WHERE json_valid(facts);"
    /* Until then the phantom said it in its patient and its maker's model alone. */
    "UPDATE series SET simulated = 1 WHERE patient_id GLOB 'PHANTOM-[0-9]*'"
    "  AND site = 'Simulated hospital';"
    "ALTER TABLE series_file ADD COLUMN digest TEXT;"
    "ALTER TABLE series_file ADD COLUMN size INTEGER;"
    "ALTER TABLE series_file ADD COLUMN modified INTEGER;"
    "CREATE INDEX series_file_sop ON series_file (sop_instance_uid);"
    "ALTER TABLE score ADD COLUMN images_digest TEXT;"
    "ALTER TABLE score ADD COLUMN event INTEGER;"
    "ALTER TABLE score ADD COLUMN digest TEXT;"
    "ALTER TABLE site_audit ADD COLUMN event INTEGER;"
    "ALTER TABLE site_audit ADD COLUMN digest TEXT;"
    "ALTER TABLE series_overrule ADD COLUMN user TEXT;"
    "ALTER TABLE verdict_batch ADD COLUMN threshold_digest TEXT;"
    "ALTER TABLE verdict_batch ADD COLUMN in_use_digest TEXT;"
    "ALTER TABLE verdict_batch ADD COLUMN cohort_digest TEXT;"
    "ALTER TABLE verdict ADD COLUMN site TEXT;"
    "ALTER TABLE verdict ADD COLUMN images_digest TEXT;"
    "ALTER TABLE verdict ADD COLUMN person_digest TEXT;"
    "ALTER TABLE verdict ADD COLUMN score_digest TEXT;"
    "ALTER TABLE verdict ADD COLUMN audit_digest TEXT;"
    "ALTER TABLE verdict ADD COLUMN chosen INTEGER NOT NULL DEFAULT 0 CHECK (chosen IN (0, 1));"
    "ALTER TABLE verdict ADD COLUMN event INTEGER;"
    "ALTER TABLE verdict ADD COLUMN digest TEXT;"
    "CREATE INDEX verdict_event ON verdict (event);"
    "ALTER TABLE review ADD COLUMN verdict_digest TEXT;"
    "ALTER TABLE review ADD COLUMN digest TEXT;"
    "CREATE TABLE event ("
    "  sequence INTEGER PRIMARY KEY,"
    "  kind TEXT NOT NULL CHECK (kind IN ('import', 'choice', 'overrule', 'conflict', 'resolution',"
    "    'correction', 'removal', 'score', 'cohort', 'training', 'threshold', 'decision', 'audit',"
    "    'assessment', 'review', 'reveal', 'export', 'refusal')),"
    "  key TEXT NOT NULL,"
    "  digest TEXT,"
    "  details TEXT,"
    "  user TEXT,"
    "  station TEXT,"
    "  program TEXT NOT NULL,"
    "  created TEXT NOT NULL,"
    "  previous TEXT NOT NULL,"
    "  chain TEXT NOT NULL UNIQUE"
    ") STRICT;"
    EVENTS_ARE_NEVER_CHANGED;

/* Local acceptance tests: plans, fixed by their digests, and answers. */
static const char migration_10[] =
    "CREATE TABLE acceptance_plan ("
    "  id INTEGER PRIMARY KEY,"
    "  selector_id INTEGER NOT NULL REFERENCES selector (id) ON DELETE CASCADE,"
    "  selector_digest TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  site TEXT NOT NULL,"
    "  document TEXT NOT NULL,"
    "  digest TEXT NOT NULL,"
    "  user TEXT,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX acceptance_plan_by_site ON acceptance_plan (selector_id, site);"
    "CREATE TABLE acceptance ("
    "  id INTEGER PRIMARY KEY,"
    "  plan_id INTEGER NOT NULL REFERENCES acceptance_plan (id) ON DELETE CASCADE,"
    "  answer TEXT NOT NULL CHECK (answer IN ('accepted', 'not accepted', 'more')),"
    "  document TEXT NOT NULL,"
    "  labels_digest TEXT NOT NULL,"
    "  n_labels INTEGER NOT NULL CHECK (n_labels >= 0),"
    "  user TEXT,"
    "  created TEXT NOT NULL"
    ") STRICT;";

/* How far a verdict's risk may be off at its hospital: NULL where nobody can say. */
static const char migration_11[] = "ALTER TABLE verdict ADD COLUMN risk_low REAL;"
                                   "ALTER TABLE verdict ADD COLUMN risk_high REAL;";

/* Which scans an audit labelled, and how: a JSON object of scan_id and 0 or 1; NULL in audits of
 * before. */
static const char migration_12[] = "ALTER TABLE site_audit ADD COLUMN labels TEXT;";

/* Years that risks are about (NULL: not recorded): of old cohorts the NLST's sentence tells them, and
 * a risk among yearly ones is the sixth year's. An event seals the rows that it tells of
 * (store/seal.h); NULL in events of before. */
static const char migration_13[] =
    "ALTER TABLE cohort ADD COLUMN horizon_years REAL CHECK (horizon_years > 0);"
    "UPDATE cohort SET horizon_years = CAST(substr(source, instr(source, ', labels at ') + 12)"
    "  AS REAL) WHERE source GLOB 'NLST tables *, labels at [1-6] years';"
    "UPDATE cohort SET horizon_years = 6 WHERE horizon_years IS NULL AND id IN"
    "  (SELECT cohort_id FROM cohort_column WHERE name = 'yearly_risk');"
    "ALTER TABLE selector ADD COLUMN horizon_years REAL CHECK (horizon_years > 0);"
    "UPDATE selector SET horizon_years = (SELECT c.horizon_years FROM cohort c"
    "  WHERE c.name = selector.cohort AND c.model = selector.model"
    "  AND c.created <= selector.created);"
    "ALTER TABLE score ADD COLUMN horizon_years REAL CHECK (horizon_years > 0);"
    "ALTER TABLE verdict_batch ADD COLUMN horizon_years REAL CHECK (horizon_years > 0);"
    EVENT_TABLE("event_with_seal",
                "'import', 'choice', 'overrule', 'conflict', 'resolution',"
                "    'correction', 'removal', 'score', 'run', 'cohort', 'training', 'threshold', 'decision',"
                "    'audit', 'acceptance', 'assessment', 'review', 'reveal', 'export', 'refusal',"
                "    'opening'")
    "INSERT INTO event_with_seal (sequence, kind, key, digest, details, user, station, program,"
    "  created, previous, chain) SELECT sequence, kind, key, digest, details, user, station,"
    "  program, created, previous, chain FROM event;"
    "DROP TABLE event;"
    "ALTER TABLE event_with_seal RENAME TO event;"
    EVENTS_ARE_NEVER_CHANGED;

/* Which version of the model a score is of: NULL where nobody said. */
static const char migration_14[] = "ALTER TABLE score ADD COLUMN model_version TEXT;";

/* What tells a file unchanged that is imported again, and what its pixels were (NULL: it is read). */
static const char migration_15[] =
    "ALTER TABLE series_file ADD COLUMN stamp TEXT;"
    "ALTER TABLE series_file ADD COLUMN pixel_digest TEXT;"
    "ALTER TABLE series_file ADD COLUMN decodes INTEGER CHECK (decodes IN (0, 1));"
    "CREATE INDEX series_file_path ON series_file (path);";

/* Watches over selectors in use (store/watches.h), and how far a scan's embedding lies from those of
 * the reference scans: NULL where nobody measured it. */
static const char migration_16[] =
    "ALTER TABLE verdict ADD COLUMN distance REAL;"
    "CREATE TABLE watch ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  selector TEXT NOT NULL,"
    "  selector_digest TEXT NOT NULL,"
    "  site TEXT,"
    "  cohort TEXT,"
    "  document TEXT NOT NULL,"
    "  digest TEXT NOT NULL,"
    "  user TEXT,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX watch_by_selector ON watch (selector, site);"
    "CREATE TABLE watch_alarm ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  watch_id INTEGER NOT NULL REFERENCES watch (id),"
    "  signal TEXT NOT NULL,"
    "  withholds INTEGER NOT NULL CHECK (withholds IN (0, 1)),"
    "  at INTEGER NOT NULL,"
    "  document TEXT NOT NULL,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX watch_alarm_of_watch ON watch_alarm (watch_id);"
    "CREATE TABLE watch_lift ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  alarm_id INTEGER NOT NULL UNIQUE REFERENCES watch_alarm (id),"
    "  after INTEGER NOT NULL,"
    "  reason TEXT NOT NULL CHECK (reason <> ''),"
    "  user TEXT NOT NULL CHECK (user <> ''),"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE watch_label ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  event INTEGER NOT NULL,"
    "  scan_id TEXT NOT NULL,"
    "  label INTEGER CHECK (label IN (0, 1)),"
    "  user TEXT,"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX watch_label_event ON watch_label (event);"
    EVENT_TABLE("event_with_watch",
                "'import', 'choice', 'overrule', 'conflict', 'resolution',"
                "    'correction', 'removal', 'score', 'run', 'cohort', 'training', 'threshold', 'decision',"
                "    'audit', 'acceptance', 'watch', 'assessment', 'review', 'reveal', 'export', 'refusal',"
                "    'opening'")
    "INSERT INTO event_with_watch SELECT * FROM event;"
    "DROP TABLE event;"
    "ALTER TABLE event_with_watch RENAME TO event;"
    EVENTS_ARE_NEVER_CHANGED;

/* What readers drew on images (store/annotations.h): a removal is a row too, and has no place. */
static const char migration_17[] =
    "CREATE TABLE annotation ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  scan_id TEXT NOT NULL,"
    "  images_digest TEXT NOT NULL,"
    "  kind TEXT NOT NULL CHECK (kind IN ('length', 'angle', 'region', 'key_image', 'removal')),"
    "  removes INTEGER UNIQUE REFERENCES annotation (id),"
    "  plane TEXT CHECK (plane IN ('acquired', 'coronal', 'sagittal')),"
    "  slice INTEGER CHECK (slice >= 0),"
    "  number INTEGER,"
    "  n_slices INTEGER,"
    "  slab_mm REAL CHECK (slab_mm >= 0),"
    "  slab TEXT CHECK (slab IN ('maximum', 'mean', 'minimum')),"
    "  x1 REAL, y1 REAL, x2 REAL, y2 REAL, x3 REAL, y3 REAL,"
    "  value REAL,"
    "  sd REAL,"
    "  area_mm2 REAL,"
    "  n_pixels INTEGER,"
    "  unit TEXT,"
    "  window_width REAL,"
    "  window_level REAL,"
    "  user TEXT NOT NULL CHECK (user <> ''),"
    "  created TEXT NOT NULL,"
    "  CHECK ((kind = 'removal') = (removes IS NOT NULL)),"
    "  CHECK (kind = 'removal' OR (plane IS NOT NULL AND slice IS NOT NULL))"
    ") STRICT;"
    "CREATE INDEX annotation_of_scan ON annotation (scan_id, images_digest);"
    EVENT_TABLE("event_with_annotation",
                "'import', 'choice', 'overrule', 'conflict', 'resolution',"
                "    'correction', 'removal', 'score', 'run', 'cohort', 'training', 'threshold', 'decision',"
                "    'audit', 'acceptance', 'watch', 'assessment', 'review', 'reveal', 'annotation', 'export',"
                "    'refusal', 'opening'")
    "INSERT INTO event_with_annotation SELECT * FROM event;"
    "DROP TABLE event;"
    "ALTER TABLE event_with_annotation RENAME TO event;"
    EVENTS_ARE_NEVER_CHANGED;

/* What arrives is met by its own study only (demur_series_find). */
static const char migration_18[] = "CREATE INDEX series_study ON series (study_uid);";

/* Who opened which patient, where the site wants that kept, and that it does. */
static const char migration_19[] =
    EVENT_TABLE("event_with_opened",
                "'import', 'choice', 'overrule', 'conflict', 'resolution',"
                "    'correction', 'removal', 'score', 'run', 'cohort', 'training', 'threshold', 'decision',"
                "    'audit', 'acceptance', 'watch', 'assessment', 'review', 'reveal', 'annotation', 'export',"
                "    'refusal', 'opening', 'opened', 'setting'")
    "INSERT INTO event_with_opened SELECT * FROM event;"
    "DROP TABLE event;"
    "ALTER TABLE event_with_opened RENAME TO event;"
    EVENTS_ARE_NEVER_CHANGED;

/* Why a series is not assessed, what was noticed in it and what the rules said of one that a person chose are
 * arrays of reasons from here on (selector/reason.h). Rows of before keep their sentences, which their events
 * seal; the number keeps programs away that would show an array as a sentence. */
static const char migration_20[] = "SELECT NULL WHERE 0;";

/* Assessments that were taken back (store/verdict-undo.h). */
static const char migration_21[] =
    "CREATE TABLE verdict_undo ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  batch_id INTEGER NOT NULL UNIQUE REFERENCES verdict_batch (id),"
    "  reason TEXT NOT NULL CHECK (reason <> ''),"
    "  user TEXT NOT NULL CHECK (user <> ''),"
    "  created TEXT NOT NULL"
    ") STRICT;";

/* Hashes of patients and scans are kept under a key of the workspace (store/selector-key.h); document_sha256 is of the
 * document without it. */
static const char migration_22[] =
    "CREATE TABLE selector_key (key TEXT PRIMARY KEY NOT NULL) STRICT, WITHOUT ROWID;"
    "ALTER TABLE selector ADD COLUMN keyed INTEGER CHECK (keyed = 1);";

/* Selectors of several horizons that hold risks back together: the settings' name of them, NULL: none. Families of
 * before stay without, and their selectors by themselves. */
static const char migration_23[] = "ALTER TABLE selector ADD COLUMN family TEXT CHECK (family <> '');";

/* A hash of what was recorded of a series' site and of how it was made when its verdict was given (store/bindings.c);
 * NULL of a cohort's scan, and in verdicts of before. */
static const char migration_24[] = "ALTER TABLE verdict ADD COLUMN making TEXT;";

/* What is listed of selectors lies behind their documents, megabytes each, which were read on the way to it: it is read here
 * instead. */
static const char migration_25[] =
    "CREATE INDEX selector_listed ON selector (name, digest, cohort, cohort_digest, model, history, validation, simulated,"
    "  created, horizon_years, family);";

/* On a server the log is written by triggers from here on (store/postgres-schema.c); the number keeps programs away that
 * would say themselves who they are. A file stays as it is. */
static const char migration_26[] = "SELECT NULL WHERE 0;";

/* On a server rows that name a user are timed and sealed by it from here on, and its indices end with the row's number. A
 * file stays as it is. */
static const char migration_27[] = "SELECT NULL WHERE 0;";

/* What plans of acceptance tests and site audits saw before they ended with their selector (store/site-seen.h). */
static const char migration_28[] =
    "CREATE TABLE site_seen ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  seen_by TEXT NOT NULL CHECK (seen_by IN ('plan', 'audit')),"
    "  plan INTEGER,"
    "  selector TEXT NOT NULL,"
    "  selector_digest TEXT NOT NULL,"
    "  cohort TEXT NOT NULL,"
    "  site TEXT NOT NULL,"
    "  document TEXT NOT NULL,"
    "  digest TEXT,"
    "  made TEXT NOT NULL,"
    "  answer TEXT,"
    "  origin TEXT,"
    "  n_labels INTEGER NOT NULL CHECK (n_labels >= 0),"
    "  created TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX site_seen_of_site ON site_seen (site);";

/* clang-format on */

const char *const demur_store_migrations[] = {
    migration_1,  migration_2,  migration_3,  migration_4,  migration_5,  migration_6,
    migration_7,  migration_8,  migration_9,  migration_10, migration_11, migration_12,
    migration_13, migration_14, migration_15, migration_16, migration_17, migration_18,
    migration_19, migration_20, migration_21, migration_22, migration_23, migration_24,
    migration_25, migration_26, migration_27, migration_28};
const char *const demur_store_row_changes[G_N_ELEMENTS(demur_store_migrations)] = {NULL};
const int demur_store_version = G_N_ELEMENTS(demur_store_migrations);
