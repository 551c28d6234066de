"""What callers of the Python module do wrong, or at once: each is a DemurError or works; none ends the process, hangs or is made to fit.

Handles copied, pickled, never made, shared by threads and by a forked process; arguments of a wrong kind, size or sign. The module of the
sources is run over the library of the build.

Usage: hostile.py DEMUR SOURCES LIBDEMUR.SO   (77 where numpy is not installed)
"""
import copy
import multiprocessing
import os
import pickle
import sys
import tempfile
import threading

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; packaging/dependencies-long.sh installs it")
    sys.exit(77)
sys.dont_write_bytecode = True
from told import run  # noqa: E402

THREADS = 4


def make_selector(program, folder):
    """The file of a selector that reads the risk alone."""
    file, table = (os.path.join(folder, name) for name in ("s.json", "c.csv"))
    with open(table, "w", encoding="utf-8") as opened:
        opened.write("patient_id,site,split,label,risk\n")
        for i in range(60):
            opened.write(f"p{i},H{i % 4},{('selector_train', 'tune', 'test')[i % 3]},{int(i * 37 % 60 < i)},{.005 + i * .016:.3f}\n")
    command = [program, "--workspace", os.path.join(folder, "w.demur"), "--quiet"]
    run([*command, "cohort", "import", "c", table, "--model", "m"])
    run([*command, "train", "s", "--cohort", "c", "--method", "entropy"])
    run([*command, "selector", "export", "s", file])
    return file


def refused(demur, call, says):
    try:
        call()
    except demur.DemurError as error:
        assert says in str(error), (says, str(error))
    else:
        raise AssertionError(f"taken: {says}")


def handles_are_not_copied(demur, handles):
    for handle in handles:
        for work in (lambda: copy.copy(handle), lambda: copy.deepcopy(handle), lambda: copy.deepcopy([{1: handle}]),
                     *(lambda protocol=protocol: pickle.dumps(handle, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1))):
            refused(demur, work, "can't be copied")
    for work in (lambda: demur.Outlier.__new__(demur.Outlier).score([[.1]]), lambda: demur.Selector.__new__(demur.Selector).score([.1]),
                 lambda: demur.Selector.__new__(demur.Selector).digest):
        refused(demur, work, "never made")


def a_handle_ends_once(demur, file):
    """Freed when the last that has it lets it go: not by a failed reading, not twice by a second one."""
    selector = demur.Selector(file)
    digest, read = selector.digest, selector.score
    refused(demur, lambda: selector.__init__(file + ".none"), "none")
    assert selector.digest == digest
    selector.__init__(file)
    assert selector.digest == digest
    del selector
    assert len(read([.1, .2])[0]) == 2


def at_once(work, wanted):
    """work from THREADS threads at a time, several times each: all get what one gets."""
    found, start = [], threading.Barrier(THREADS)

    def body():
        start.wait()
        for _ in range(5):
            found.append(work())
    threads = [threading.Thread(target=body) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5 * THREADS and all(np.array_equal(one, wanted) for one in found)


def threads_and_processes_share(demur, file):
    draw = np.random.default_rng(3)
    embeddings = draw.normal(size=(300, 6)).astype(np.float32)
    risks = draw.uniform(.01, .9, 3000)
    outlier, selector = demur.Outlier(embeddings, threads=3), demur.Selector(file, threads=3)

    def both():
        return np.append(outlier.score(embeddings[:40]), selector.score(risks))
    wanted = both()
    at_once(both, wanted)

    def with_their_own():
        return np.append(demur.Outlier(embeddings, threads=2).score(embeddings[:40]), demur.Selector(file, threads=2).score(risks))
    at_once(with_their_own, wanted)
    # A forked process has the handles and not their threads; it lets them go, too.
    ours, theirs = multiprocessing.Pipe()

    def child():
        nonlocal outlier, selector
        theirs.send(np.array_equal(both(), wanted))
        del outlier, selector
        theirs.send("let go")
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0 and ours.recv() is True and ours.recv() == "let go"


def arguments_are_taken_as_they_are(demur, file):
    risks, labels = np.array([.1, .2, .3, .4]), np.array([0., 1., 0., 1.])
    two = np.array([[0., 1], [1, 0], [2, 2]])
    outlier = demur.Outlier(two, threads=1)
    masked = np.ma.masked_array(risks, mask=[0, 1, 0, 0])

    def curve(**options):
        return demur.selective_curve(risks, labels, risks, **options)

    def loss(**options):
        return demur.loss(risks, labels, np.zeros(4, np.float32), **options)

    def site_error(sites, patients=(1, 2, 3, 4)):
        return demur.site_error(risks, labels, risks, sites, patients)
    for says, *calls in (
            ("min_bin_size is", *(lambda v=v: curve(min_bin_size=v) for v in (-1, 0, 2.5, 2**64 + 25, "25", None, True, np.nan))),
            ("seed is", *(lambda v=v: demur.Outlier(two, seed=v) for v in (-1, 2**64, 1.5, 2.0, np.nan, "1", None))),
            ("threads (0: all processors) is", *(lambda v=v: demur.Outlier(two, threads=v) for v in (-1, 1025, 2**32, .5, None)),
             lambda: demur.Selector(file, threads=-1)),
            ("n, of coverages, is", *(lambda v=v: demur.coverage_grid(v) for v in (0, -1, 10**7, 2.5, "50"))),
            ("q is", *(lambda v=v: loss(q=v) for v in (0, 3, 1.5, 2**32 + 1, "1", True))),
            ("is a number, not", lambda: loss(lambda1="1"), lambda: loss(lambda2=1j), lambda: loss(kernel_width=[.2]),
             lambda: demur.threshold(True, risks)),
            ("kernel_width must be", *(lambda v=v, name=name: loss(**{name: v}) for name in ("kernel_width", "lambda1", "lambda2")
                                       for v in (np.inf, -np.inf, np.nan, -1)), lambda: loss(kernel_width=0)),
            ("exclude", *(lambda v=v: outlier.score(two, exclude=v) for v in
                          ([1.5, 0, 0], [np.nan, 0, 0], [3, 0, 0], [-2, 0, 0], [2**64, 0, 0], ["a", "b", "c"], [0, 0], 0, [None, 0, 0]))),
            ("masked", lambda: demur.calibration(masked, labels), lambda: demur.calibration(risks, np.ma.masked_array(labels, masked.mask)),
             lambda: demur.threshold(.5, masked), lambda: demur.coverage_auc(risks, masked), lambda: site_error(np.ma.masked_array([1, 2, 3, 4], masked.mask)),
             lambda: demur.Outlier(np.ma.masked_array(two, two > 1))),
            ("array of numbers", lambda: demur.threshold(.5, ["a"]), lambda: demur.threshold(.5, [".5"]), lambda: demur.threshold(.5, [.1 + 1j]),
             lambda: demur.threshold(.5, np.array([1, 2], "M8[s]")), lambda: demur.threshold(.5, np.array([1, ".5"], object)),
             lambda: demur.threshold(.5, [object()]), lambda: demur.threshold(.5, [10**400])),
            ("is no array", lambda: demur.threshold(.5, [[1], [1, 2]])),
            ("names none", lambda: site_error(["a", None, "b", "c"]), lambda: site_error([1, np.nan, 2, 3]),
             lambda: site_error([1, 2, 3, 4], [1, None, 2, 3])),
            ("is no name", lambda: site_error(np.array([{}, 1, 2, 3], object))),
            ("is of shape", lambda: site_error([1, 2, 3]), lambda: site_error(3)),
            ("NUL", lambda: demur.Selector(file + "\0.txt"), lambda: demur.Selector(os.fsencode(file) + b"\0")),
            ("path", lambda: demur.Selector(None), lambda: demur.Selector(3), lambda: demur.Selector("\ud800")),
            ("dimensions", lambda: demur.threshold(.5, .5), lambda: demur.coverage_auc(two, two)),
            ("rows", lambda: demur.coverage_auc(risks, risks[:2]))):
        for call in calls:
            refused(demur, call, says)
    # What is right stays so: integers of numpy, names of any kind, whole numbers as floats where rows are meant, an array without a mask.
    assert np.array_equal(curve(min_bin_size=np.int8(2))["sbce1"], curve(min_bin_size=2)["sbce1"], equal_nan=True)
    assert np.array_equal(site_error(["a", "b", "a", "b"]), site_error(np.array([7, -2, 7, -2])), equal_nan=True)
    assert np.array_equal(site_error(["a", 1.5, "a", 1.5]), site_error([0, 1, 0, 1]), equal_nan=True)
    assert np.array_equal(outlier.score(two, exclude=[0., 1., -1.]), outlier.score(two, exclude=np.array([0, 1, -1], np.int16)))
    assert demur.threshold(.5, np.ma.masked_array(risks, mask=False)) == demur.threshold(.5, risks) == .3
    assert np.isnan(demur.coverage_auc([], [])) and np.isnan(demur.coverage_auc([.5], [1]))


def weights_have_no_unit(demur):
    """A common factor of all weights changes nothing: by a power of two not one bit."""
    draw = np.random.default_rng(11)
    n = 400
    risks, scores, weights = draw.uniform(.01, .9, n), draw.normal(size=n), draw.uniform(.5, 3, n)
    labels = (draw.uniform(size=n) < risks).astype(float)
    weights[:20] = 0

    def found(factor):
        curve = demur.selective_curve(risks, labels, scores, weights=factor * weights)
        return np.concatenate([*(curve[name] for name in demur.POINT), list(demur.calibration(risks, labels, factor * weights).values())])
    one = found(1)
    assert np.isfinite(one).all() and one[demur.POINT.index("sbce2") * 50 + 49] > 0
    for factor in (2.0**-1000, 2.0**-7, 2.0**300):
        assert np.array_equal(found(factor), one), factor
    for factor in (1e-300, 1e-20, 3, 1e99):
        assert np.allclose(found(factor), one, rtol=1e-9, atol=1e-12), factor


def main():
    program, sources, library = (os.path.abspath(path) for path in sys.argv[1:4])
    os.environ["LIBDEMUR"] = library
    sys.path.insert(0, os.path.join(sources, "packaging", "python"))
    import demur  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        file = make_selector(program, folder)
        handles_are_not_copied(demur, (demur.Selector(file), demur.Outlier(np.eye(3), threads=2)))
        a_handle_ends_once(demur, file)
        arguments_are_taken_as_they_are(demur, file)
        weights_have_no_unit(demur)
        threads_and_processes_share(demur, file)
    print("wrong arguments are told, handles are shared and not copied")


main()
