"""Demur's numbers over numpy arrays: libdemur (core/library/libdemur.h), which says what each of them is.

Arrays of double (embeddings and logits: float32) that lie row by row are read where they are; others are converted first.
Undefined numbers are NaN. What is wrong with an argument is a DemurError; nothing is rounded, cut or left out to make it fit. A Selector
or Outlier may be used by several threads at once and in forked processes; it can't be copied or pickled.

    import demur
    curve = demur.selective_curve(risks, labels, scores)
    auc = demur.coverage_auc(curve["coverage"], curve["sbce2"])
    selector = demur.Selector("selector.json")
    scores, shown = selector.score(risks, embeddings)

For research use, not a cleared device.
"""
import ctypes
import ctypes.util
import numbers
import operator
import os
import weakref

import numpy as np

__all__ = ["DemurError", "Outlier", "Selector", "calibration", "confidence_features", "coverage_auc", "coverage_grid", "loss",
           "selective_curve", "site_error", "threshold", "version"]


class DemurError(ValueError):
    """An argument, or a file, is wrong: the message says where and what to do."""


class _Error(ctypes.Structure):
    _fields_ = [("message", ctypes.c_char * 1024)]


class _Sample(ctypes.Structure):
    _fields_ = [("n", ctypes.c_size_t), ("risks", ctypes.c_void_p), ("labels", ctypes.c_void_p), ("weights", ctypes.c_void_p),
                ("scores", ctypes.c_void_p)]


class _LossSettings(ctypes.Structure):
    _fields_ = [("q", ctypes.c_int), ("kernel_width", ctypes.c_double), ("lambda1", ctypes.c_double), ("lambda2", ctypes.c_double)]


def _load():
    beside = os.path.join(os.path.dirname(__file__), "libdemur.so")
    name = os.environ.get("LIBDEMUR") or (beside if os.path.exists(beside) else ctypes.util.find_library("demur"))
    if name is None:
        raise ImportError("libdemur is not installed: neither beside this module nor where the loader looks (LIBDEMUR names it)")
    library = ctypes.CDLL(name)
    size, pointer, number, text = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_double, ctypes.c_char_p
    error = ctypes.POINTER(_Error)
    for function, result, arguments in (
            ("version", text, []),
            ("threshold", ctypes.c_int, [number, pointer, size, ctypes.POINTER(number), error]),
            ("coverage_grid", None, [size, pointer]),
            ("coverage_auc", number, [pointer, pointer, size]),
            ("selective_curve", ctypes.c_int, [ctypes.POINTER(_Sample), pointer, size, size, pointer, error]),
            ("loss_settings_init", None, [ctypes.POINTER(_LossSettings)]),
            ("loss", ctypes.c_int, [ctypes.POINTER(_LossSettings), pointer, pointer, pointer, size, pointer, ctypes.POINTER(number),
                                    ctypes.POINTER(number), error]),
            ("calibration", ctypes.c_int, [ctypes.POINTER(_Sample), pointer, error]),
            ("site_error", ctypes.c_int, [ctypes.POINTER(_Sample), pointer, pointer, pointer, size, pointer, error]),
            ("confidence_width", size, [size]),
            ("confidence_features", ctypes.c_int, [pointer, size, size, pointer, error]),
            ("outlier_fit", pointer, [pointer, size, size, ctypes.c_uint64, ctypes.c_uint, error]),
            ("outlier_score", ctypes.c_int, [pointer, pointer, size, pointer, pointer, error]),
            ("outlier_width", size, [pointer]),
            ("outlier_free", None, [pointer]),
            ("selector_read", pointer, [text, ctypes.c_uint, error]),
            ("selector_free", None, [pointer]),
            ("selector_digest", text, [pointer]),
            ("selector_model", text, [pointer]),
            ("selector_horizon_years", number, [pointer]),
            ("selector_is_simulated", ctypes.c_int, [pointer]),
            ("selector_n_classes", size, [pointer]),
            ("selector_embedding_width", size, [pointer]),
            ("selector_uses_acquisition", ctypes.c_int, [pointer]),
            ("selector_score", ctypes.c_int, [pointer, pointer, pointer, size, pointer, pointer, error])):
        entry = getattr(library, "libdemur_" + function)
        entry.restype, entry.argtypes = result, arguments
    return library


_lib = _load()

POINT = ["realised", "sbce1", "sbce2", "sbce_inf", "debiased2", "brier", "accuracy"]
CALIBRATION = ["oe", "intercept", "slope", "slope_intercept", "ici", "e50", "e90", "auroc"]
OUTLIER = ["knn", "kde", "ocsvm", "iforest", "lof"]


def _given(values, name):
    """values as numpy has them, nothing converted yet; never with a mask, which libdemur knows nothing of."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DemurError(f"{name} is a masked array: leave out what is masked, or give it the weight 0")
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise DemurError(f"{name} is no array: {error}") from error


def _array(values, name, dtype=np.float64, ndim=1, n=None):
    """values as a contiguous array, the array itself where it is one."""
    given = _given(values, name)
    texts = given.dtype.kind == "O" and any(isinstance(value, (str, bytes)) for value in given.flat)
    if given.dtype.kind not in "biufO" or texts:
        raise DemurError(f"{name} is not an array of numbers" + ("" if texts else f" but of {given.dtype}"))
    try:
        with np.errstate(over="ignore"):  # infinite in float32: libdemur says which
            array = np.ascontiguousarray(given, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DemurError(f"{name} is not an array of numbers: {error}") from error
    if given.ndim == 0:
        array = array.reshape(())  # ascontiguousarray makes it [1]
    if array.ndim != ndim:
        raise DemurError(f"{name} has {array.ndim} dimensions; it must have {ndim}")
    if n is not None and len(array) != n:
        raise DemurError(f"{name} has {len(array)} rows; risks or scores have {n}")
    return array


def _rows(values, name, n):
    """Whole numbers [n] that stay what they are."""
    given = _array(values, name, n=n)
    rows = _given(values, name)
    if rows.dtype.kind not in "iu":
        rows = given
    whole = rows.astype(np.int64, casting="unsafe") if np.all((rows >= -1) & (rows < 2**53)) else None
    if whole is None or not np.array_equal(whole, rows):
        raise DemurError(f"{name} has values that are no whole numbers from -1")
    return np.ascontiguousarray(whole)


def _codes(names, what, n):
    """Names of any kind as numbers [n], the same for the same name. What names nothing (None, NaN) is refused."""
    given = _given(names, what)
    if given.shape != (n,):
        raise DemurError(f"{what} is of shape {given.shape}; risks or scores have {n} rows")
    codes = {}
    try:
        for i, name in enumerate(given.tolist()):
            if name is None or name != name:
                raise DemurError(f"{what}, value {i + 1} of {n}: {name} names none")
            codes.setdefault(name, len(codes))
        return np.array([codes[name] for name in given.tolist()], np.int64)
    except TypeError as error:
        raise DemurError(f"{what}, value {i + 1} of {n}, is no name: {error}") from error


def _whole(value, name, low, high):
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise DemurError(f"{name} is {value!r}; it must be a whole number from {low} to {high}")
    return number


def _number(value, name):
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise DemurError(f"{name} is a number, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError as error:
        raise DemurError(f"{name}: {error}") from error


def _threads(n):
    return _whole(n, "threads (0: all processors)", 0, 1024)


def _seed(n):
    return _whole(n, "seed", 0, 2**64 - 1)


def _at(array):
    return None if array is None else array.ctypes.data


def _call(function, *arguments):
    error = _Error()
    result = function(*arguments, ctypes.byref(error))
    if result is None or (function.restype is ctypes.c_int and result != 0):
        raise DemurError(error.message.decode("utf-8", "replace"))
    return result


class _Arrays:
    """A sample, with its arrays kept alive."""

    def __init__(self, risks, labels, weights=None, scores=None):
        self.risks = _array(risks, "risks")
        n = len(self.risks)
        self.labels = _array(labels, "labels", n=n)
        self.weights = None if weights is None else _array(weights, "weights", n=n)
        self.scores = None if scores is None else _array(scores, "scores", n=n)
        self.sample = _Sample(n, _at(self.risks), _at(self.labels), _at(self.weights), _at(self.scores))


def version():
    return _lib.libdemur_version().decode()


def coverage_grid(n=50):
    """n coverages from .05 to 1, as in the paper."""
    n = _whole(n, "n, of coverages,", 1, 1_000_000)
    grid = np.empty(n)
    _lib.libdemur_coverage_grid(n, _at(grid))
    return grid


def coverage_auc(coverages, values):
    """The area under values over coverages, divided by their range."""
    coverages = _array(coverages, "coverages")
    values = _array(values, "values", n=len(coverages))
    return _lib.libdemur_coverage_auc(_at(coverages), _at(values), len(coverages))


def threshold(coverage, scores):
    """threshold(coverage, scores): tau; kept are scores >= tau."""
    if not isinstance(coverage, numbers.Real):
        raise DemurError(f"coverage is a number from 0 to 1, not {type(coverage).__name__}: threshold(coverage, scores)")
    coverage, scores, tau = _number(coverage, "coverage"), _array(scores, "scores"), ctypes.c_double()
    _call(_lib.libdemur_threshold, coverage, _at(scores), len(scores), ctypes.byref(tau))
    return tau.value


def selective_curve(risks, labels, scores, coverages=None, weights=None, min_bin_size=25):
    """{"coverage", "realised", "sbce1", "sbce2", "sbce_inf", "debiased2", "brier", "accuracy"}: arrays over the coverages."""
    coverages = coverage_grid() if coverages is None else _array(coverages, "coverages")
    arrays = _Arrays(risks, labels, weights, scores)
    min_bin_size = _whole(min_bin_size, "min_bin_size", 1, 2**32 - 1)
    points = np.empty((len(coverages), len(POINT)))
    _call(_lib.libdemur_selective_curve, ctypes.byref(arrays.sample), _at(coverages), len(coverages), min_bin_size, _at(points))
    return {"coverage": coverages, **{name: points[:, k].copy() for k, name in enumerate(POINT)}}


def loss(risks, labels, logits, q=None, kernel_width=None, lambda1=None, lambda2=None, gradient=True):
    """(S-MMCE_u, regulariser, dL/dlogits or None): Eq. full_loss, the paper's settings where none are given."""
    settings = _LossSettings()
    _lib.libdemur_loss_settings_init(ctypes.byref(settings))
    if q is not None:
        settings.q = _whole(q, "q", 1, 2)
    for name, value in (("kernel_width", kernel_width), ("lambda1", lambda1), ("lambda2", lambda2)):
        if value is not None:
            setattr(settings, name, _number(value, name))
    risks = _array(risks, "risks")
    labels = _array(labels, "labels", n=len(risks))
    logits = _array(logits, "logits", np.float32, n=len(risks))
    slope = np.empty(len(risks), np.float32) if gradient else None
    smmce, regulariser = ctypes.c_double(), ctypes.c_double()
    _call(_lib.libdemur_loss, ctypes.byref(settings), _at(risks), _at(labels), _at(logits), len(risks), _at(slope),
          ctypes.byref(smmce), ctypes.byref(regulariser))
    return smmce.value, regulariser.value, slope


def calibration(risks, labels, weights=None):
    """{"oe", "intercept", "slope", "slope_intercept", "ici", "e50", "e90", "auroc"}."""
    arrays, values = _Arrays(risks, labels, weights), np.empty(len(CALIBRATION))
    _call(_lib.libdemur_calibration, ctypes.byref(arrays.sample), _at(values))
    return dict(zip(CALIBRATION, values.tolist()))


def site_error(risks, labels, scores, sites, patients, coverages=None):
    """The square of site error at each coverage (may be below 0). sites and patients: anything that names them."""
    coverages = coverage_grid() if coverages is None else _array(coverages, "coverages")
    arrays = _Arrays(risks, labels, None, scores)
    codes = [_codes(names, what, arrays.sample.n) for names, what in ((sites, "sites"), (patients, "patients"))]
    squares = np.empty(len(coverages))
    _call(_lib.libdemur_site_error, ctypes.byref(arrays.sample), _at(codes[0]), _at(codes[1]), _at(coverages), len(coverages),
          _at(squares))
    return squares


def confidence_features(probabilities):
    """[n][K] -> p, one-hot of the largest, largest, entropy."""
    probabilities = _array(probabilities, "probabilities", ndim=2)
    n, k = probabilities.shape
    out = np.empty((n, _lib.libdemur_confidence_width(k)))
    _call(_lib.libdemur_confidence_features, _at(probabilities), n, k, _at(out))
    return out


class _Owned:
    """What libdemur made, as ctypes passes it: freed once, when nobody has it any more, a call that is under way among them."""

    def __init__(self, pointer, free):
        self._as_parameter_ = pointer
        weakref.finalize(self, free, pointer).atexit = False  # the process's end frees it


class _Handle:
    __slots__ = ("_owned", "__weakref__")

    @property
    def _handle(self):
        owned = getattr(self, "_owned", None)
        if owned is None:
            raise DemurError(f"this {type(self).__name__} was never made: {type(self).__name__}(..) makes one")
        return owned

    def _refuse_copy(self, *_):
        raise DemurError(f"a {type(self).__name__} can't be copied or pickled: share it (threads and forked processes may), or make it again there")

    __copy__ = __deepcopy__ = __reduce_ex__ = __reduce__ = __getstate__ = _refuse_copy


class Outlier(_Handle):
    """The five outlier models (OUTLIER) fitted on reference embeddings [n][d]."""
    __slots__ = ()

    def __init__(self, embeddings, seed=1, threads=0):
        embeddings = _array(embeddings, "embeddings", np.float32, 2)
        self._owned = _Owned(_call(_lib.libdemur_outlier_fit, _at(embeddings), *embeddings.shape, _seed(seed), _threads(threads)),
                             _lib.libdemur_outlier_free)

    def score(self, embeddings, exclude=None):
        """[m][d] -> [m][5]. exclude [m]: the reference row that a scan is itself, -1: none."""
        embeddings = _array(embeddings, "embeddings", np.float32, 2)
        width = _lib.libdemur_outlier_width(self._handle)
        if embeddings.shape[1] != width:
            raise DemurError(f"embeddings have {embeddings.shape[1]} columns; the reference has {width}")
        exclude = None if exclude is None else _rows(exclude, "exclude", len(embeddings))
        out = np.empty((len(embeddings), len(OUTLIER)))
        _call(_lib.libdemur_outlier_score, self._handle, _at(embeddings), len(embeddings), _at(exclude), _at(out))
        return out


class Selector(_Handle):
    """A trained selector, from the file of `demur selector export`."""
    __slots__ = ()

    def __init__(self, path, threads=0):
        try:
            name = os.fsencode(path)
        except (TypeError, ValueError) as error:
            raise DemurError(f"path: {error}") from error
        if b"\0" in name:
            raise DemurError(f"path {path!r} has a NUL in it: no file is called so")
        self._owned = _Owned(_call(_lib.libdemur_selector_read, name, _threads(threads)), _lib.libdemur_selector_free)

    @property
    def digest(self):
        return _lib.libdemur_selector_digest(self._handle).decode()

    @property
    def model(self):
        """Whose risks it reads."""
        return _lib.libdemur_selector_model(self._handle).decode()

    @property
    def horizon_years(self):
        """Of those risks; None: not recorded."""
        return _lib.libdemur_selector_horizon_years(self._handle) or None

    @property
    def simulated(self):
        return bool(_lib.libdemur_selector_is_simulated(self._handle))

    @property
    def embedding_width(self):
        return _lib.libdemur_selector_embedding_width(self._handle)

    def score(self, risks, embeddings=None):
        """(scores, shown): what thresholds are compared with, and the risks as the selector shows them."""
        risks = _array(risks, "risks")
        width = self.embedding_width
        if width > 0 and embeddings is not None:
            embeddings = _array(embeddings, "embeddings", np.float32, 2, n=len(risks))
            if embeddings.shape[1] != width:
                raise DemurError(f"embeddings have {embeddings.shape[1]} columns; the selector reads {width}")
        else:
            embeddings = None
        scores, shown = np.empty(len(risks)), np.empty(len(risks))
        _call(_lib.libdemur_selector_score, self._handle, _at(risks), _at(embeddings), len(risks), _at(scores), _at(shown))
        return scores, shown
