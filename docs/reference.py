"""Writes the pages of the reference, one for each public object, into ``docs/api/``; `conf` calls it."""

import importlib
import inspect
import pkgutil

# Title, what stands below it, and the objects: a module and its names, None for all that are public.
SECTIONS = [
    ("Solve", "Problems in, results with bounds out.", [
        ("gopfast", ["solve", "Result", "MixtureSolution", "Status"]),
        ("gopfast.result", ["SearchResult"]), ("gopfast.profile", ["Profile", "Activity"]), ("gopfast", ["settings"]),
        ("gopfast.starts", ["Starts"]),
        ("gopfast.mixtures.summary", ["Summary"]), ("gopfast.mixtures.information", ["Estimate"]),
    ]),
    ("Long searches and large data", "What survives, spreads and streams.", [
        ("gopfast", ["resume"]), ("gopfast.data", None),
    ]),
    ("Mixtures", "The models.", [
        ("gopfast", [
            "GaussianMixture", "BernoulliMixture", "PoissonMixture", "ExponentialMixture", "CategoricalMixture",
            "MultinomialMixture", "GammaMixture", "LatentClass", "LatentClassFit", "RegressionMixture", "MixedMixture",
        ]),
        ("gopfast.models", ["MixtureProblem", "CountRegressionMixture"]),
    ]),
    ("Around a fit", "Model choice, standard errors, tests, the landscape, certificates.", [
        ("gopfast", ["select", "Selection"]), ("gopfast.inference.candidates", ["Candidate", "SelectionStatus"]),
        ("gopfast", [
            "bootstrap", "Bootstrap", "lrt", "LikelihoodRatio", "optima", "Optima", "LocalOptimum", "certify",
            "certify_all", "Certificate", "Verdict", "check", "Checked", "CheckedBiconvex", "Proof",
        ]),
        ("gopfast.comparison", ["compare", "Comparison"]),
        ("gopfast.mixtures.distal", ["Distal"]), ("gopfast.mixtures.covariates", ["Covariates"]),
    ]),
    ("Estimators", "With scikit-learn's interface.", [
        ("gopfast", [
            "GlobalGaussianMixture", "GlobalBernoulliMixture", "GlobalPoissonMixture", "GlobalExponentialMixture",
            "GlobalGammaMixture", "GlobalMultinomialMixture", "GlobalCategoricalMixture", "GlobalLatentClass",
            "GlobalRegressionMixture", "GlobalMixedMixture", "GlobalKMeans", "GlobalClusterwiseRegression",
        ]),
        ("gopfast.estimators.counts_and_labels", ["GlobalFamilyMixture"]),
        ("gopfast.estimators.base", ["GlobalMixture"]),
    ]),
    ("Clustering and biconvex problems", "The other problems.", [
        ("gopfast", ["KMeans", "Clustering", "ClusteringResult"]),
        ("gopfast", ["ClusterwiseRegression", "ClusterwiseFit", "ClusterwiseResult"]),
        ("gopfast", ["BiconvexProblem", "PolynomialProblem", "BiconvexResult", "BiconvexSolution"]),
        ("gopfast.biconvex.problem", ["QuadraticRow"]),
    ]),
    ("Local methods", "Fast, and without any guarantee.", [
        ("gopfast.local", [
            "em", "anneal", "cavi", "conjugate_gradient", "quasi_newton", "kmeans", "start", "restart_until_certified",
            "LocalResult", "RestartResult",
        ]),
        ("gopfast.local.starts", ["random_responsibilities", "samples", "kmeans_plus_plus", "kmeans"]),
    ]),
    ("Data sets", "They come with the package.", [("gopfast.datasets", None)]),
    ("Figures and progress", "Need matplotlib; tqdm where it is installed.", [
        ("gopfast.plot", [
            "bounds", "density", "pairs", "uncertainty", "entropy", "classes", "local_optima", "selection", "optima",
        ]),
        ("gopfast.report", ["Progress", "ProgressLog", "ProgressBar", "Heartbeat"]),
    ]),
    ("Errors", "Messages name the argument.", [
        ("gopfast", [
            "GopfastError", "InputError", "InputTypeError", "CheckpointError", "ProofError", "NotProvedWarning",
        ]),
    ]),
]  # fmt: skip


def write(folder):
    """
    Write the pages and their index; files that would not change are left as they are.

    Parameters
    ----------
    folder : Path
        That of the documents.
    """
    target = folder / "api"
    target.mkdir(exist_ok=True)
    index, written = ["# Reference", "", "Everything public, one page for each object.", ""], {"index.md"}
    for title, about, groups in SECTIONS:
        index += [f"## {title}", "", about, "", "| | |", "| --- | --- |"]
        pages = []
        for module, names in groups:
            for name in names or importlib.import_module(module).__all__:
                full = f"{module}.{name}"
                obj = pkgutil.resolve_name(full)  # `gopfast.local.starts` is an attribute, not a module
                index.append(f"| [`{full}`]({full}.md) | {first_line(obj)} |")
                pages.append(full)
                _write(target / f"{full}.md", page(full, obj))
                written.add(f"{full}.md")
        index += ["", "```{toctree}", ":hidden:", "", *pages, "```", ""]
    _write(target / "index.md", "\n".join(index))
    for path in target.glob("*.md"):
        if path.name not in written:
            path.unlink()


def page(full, obj):
    """Return the page of an object."""
    kind = "autoclass" if inspect.isclass(obj) else "autofunction"
    lines = [f"# {full.rpartition('.')[2]}", "", "```{eval-rst}", f".. {kind}:: {full}"]
    if kind == "autoclass":
        lines += ["   :members:", "   :inherited-members: tuple, int, Exception, Enum, IntEnum, BaseEstimator, Word"]
    return "\n".join([*lines, "```", ""])


def first_line(obj):
    """Return the first sentence of a docstring, of one line."""
    text = " ".join(inspect.getdoc(obj).split("\n\n")[0].split())
    return text.partition(". ")[0].removesuffix(".").replace("|", "\\|")


def _write(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
