"""What validate() found of a model."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _core
from .figure import Figure
from .law import Agreement, Certificate, Distribution, Metrics, _with_suffix


@dataclass(frozen=True)
class Verdict:
    """Whether all requirements are kept. True in a condition where they are."""

    passed: bool  #: all are kept
    reasons: tuple[str, ...]  #: one line for each that is not

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return "PASS" if self.passed else "FAIL: " + "; ".join(self.reasons)


class Measured(Distribution):
    """The measured law of a model's singular values, all inputs together."""

    _order = 2

    def __init__(self, members: dict[str, Any]) -> None:
        self._spectrum = members["law"]
        self._metrics = Metrics(**members["metrics"])
        self.error: Metrics | None = None if members["error"] is None else Metrics(**members["error"])
        self.log_values: list[np.ndarray] = members["values"]
        self.words: str = members["words"]
        self.note: str = members["note"]

    @property
    def metrics(self) -> Metrics:
        """Metrics of the law; where it was probed, by the probes. ``error`` has their errors, None where exact."""
        return self._metrics

    @property
    def singular_values(self) -> list[np.ndarray]:
        """One array per input, ascending: all singular values, or quantiles of the probed law."""
        return [np.exp(values) for values in self.log_values]

    def __repr__(self) -> str:
        m = self.metrics
        return (f"<Measured: {self.words}; window {m.window:.4g}, collapsed {m.collapsed:.4g}, "
                f"largest {m.largest:.4g}>")


class Prediction(Distribution):
    """The law that theory predicts from the connections."""

    def __init__(self, members: dict[str, Any], agreement: dict[str, Any] | None) -> None:
        self._spectrum = members["law"]
        self._metrics = Metrics(**members["metrics"])
        self.part: str = ("mixers", "isotropic", "full")[members["part"]]
        self.certificate = Certificate._from(members["certificate"])
        self.agreement = None if agreement is None else Agreement(**agreement)

    @property
    def metrics(self) -> Metrics:
        """Metrics of the law."""
        return self._metrics

    def __repr__(self) -> str:
        m = self.metrics
        distance = "" if self.agreement is None else f"; W1 to the measured law {self.agreement.wasserstein1:.4g}"
        return (f"<Prediction ({self.part}): {self.certificate.message}; window {m.window:.4g}, "
                f"collapsed {m.collapsed:.4g}, largest {m.largest:.4g}{distance}>")


class Outlier(NamedTuple):
    """A narrow band above the bulk of an aligned law: singular values that kept triplets make."""

    position: float  #: mean
    spread: float  #: standard deviation
    values: int  #: singular values in it


class AlignedPrediction(Distribution):
    """The law that follows if the largest triplets of every branch keep their vectors and the rest is free."""

    def __init__(self, members: dict[str, Any]) -> None:
        self._spectrum = members["law"]
        self._metrics = Metrics(**members["metrics"])
        self.kept: int = members["rank"]  #: triplets of every branch
        self.distance: float = members["distance"]  #: W1 to the measured law over its root mean square
        self.error: float = members["error"]  #: of the distance, from the draws
        self.draws: int = members["draws"]  #: of the rest, per input; 0: by theory
        self.certificate = Certificate._from(members["certificate"]) if self.draws == 0 else None  #: of a theory
        self.outliers = tuple(Outlier(**one) for one in members["outliers"])  #: of a theory, the largest first

    @property
    def metrics(self) -> Metrics:
        """Metrics of the law."""
        return self._metrics

    def __repr__(self) -> str:
        source = "theory" if self.draws == 0 else f"{self.draws} draws"
        return f"<AlignedPrediction: {self.kept} triplets kept, W1/rms {self.distance:.4f} ± {self.error:.4f}, {source}>"


class LeadingTriplet(NamedTuple):
    """A singular triplet of a branch that the largest singular value of the whole depends on (first input)."""

    connection: int  #: counted from 0
    triplet: int  #: counted from 0, the largest of its branch first
    value: float  #: its singular value t
    elasticity: float  #: ∂ ln s/∂ ln t


class Alignment:
    """How many triplets of every branch explain what was measured: what the layers know of each other."""

    def __init__(self, members: dict[str, Any]) -> None:
        self.rank: int | None = members["rank"]  #: the smallest that explains; None: not even all that were tried
        self.width: int = members["width"]  #: rows of a branch: with that many everything is kept
        self.explain: float = members["explain"]  #: the distance that counts as explained
        self.by_rank = tuple(AlignedPrediction(one) for one in members["by_rank"])  #: by draws, from 0 kept on
        theory = members["theory"]
        self.theory = None if theory is None else AlignedPrediction(theory)  #: at the last of them, where it is quick
        self.overlaps: np.ndarray = members["overlaps"]  #: (l, k): share of what branch k writes that branch l reads
        self.common: np.ndarray = members["common"]  #: what each branch multiplies all channels by, part of the mixer here
        self.leading = tuple(LeadingTriplet(**one) for one in members["leading"])  #: what the largest value depends on most

    def __repr__(self) -> str:
        curve = ", ".join(f"{one.kept}: {one.distance:.4f}" for one in self.by_rank)
        return f"<Alignment: rank {self.rank} of {self.width}; W1/rms by triplets kept {curve}>"


@dataclass(frozen=True)
class Connection:
    """One block of the model at the first input: Y = A ⊗ I + X."""

    name: str  #: of the module
    mixer: np.ndarray  #: A, (n, n)
    variance: float  #: σ² = ‖X‖²/N
    by_stream: np.ndarray  #: (i, j): ‖block (i, j) of X‖²/p
    branch_values: np.ndarray  #: singular values of X, at most 256 that represent them
    values: np.ndarray  #: singular values of Y
    wasserstein1: float | None  #: distance of these to their own prediction; None without one

    def __repr__(self) -> str:
        distance = "" if self.wasserstein1 is None else f", W1 {self.wasserstein1:.3g}"
        return (f"<Connection {self.name}: {len(self.mixer)} streams, σ² = {self.variance:.4g}, "
                f"s from {self.values.min():.4g} to {self.values.max():.4g}{distance}>")


class Report:
    """What was measured of a model, what theory predicts, and the verdict. ``validate`` makes it."""

    def __init__(self, validation: _core.Validation, connections: Sequence[dict[str, Any]], why_no_prediction: str,
                 seed: int, seconds: float) -> None:
        self._validation = validation
        self._connections = list(connections)
        self._seed = seed
        self.why_no_prediction = why_no_prediction  #: empty where there is one
        self.seconds = seconds  #: that measuring and predicting took
        self._cache: dict[str, Any] | None = None

    def _members(self) -> dict[str, Any]:
        if self._cache is None:
            self._cache = self._validation.members()
        return self._cache

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": None}

    @property
    def name(self) -> str:
        """The class of the model, or the name that was given."""
        return self._members()["file"]

    @property
    def measured(self) -> Measured:
        """The measured law."""
        return Measured(self._members()["measured"])

    @property
    def predictions(self) -> dict[str, Prediction]:
        """The predictions by what they use: "mixers" alone, "isotropic" branches, and "full"."""
        members = self._members()
        pairs = zip(members["predictions"], members["agreement"])
        found = [Prediction(prediction, agreement) for prediction, agreement in pairs]
        return {prediction.part: prediction for prediction in found}

    @property
    def predicted(self) -> Prediction | None:
        """The prediction that uses all that was measured of the connections. None where there can be none:
        ``why_no_prediction`` gives the reason."""
        return self.predictions.get("full")

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The blocks, at the first input."""
        distances = [layer["wasserstein1"] for layer in self._members()["layers"]]
        distances += [None] * (len(self._connections) - len(distances))
        return tuple(Connection(c["name"], c["mixer"], c["variance"], c["by_stream"], c["core_values"], c["values"], d)
                     for c, d in zip(self._connections, distances))

    @property
    def alignment(self) -> Alignment | None:
        """What the layers know of each other. None where it was not looked for."""
        members = self._members()["alignment"]
        return None if members is None else Alignment(members)

    @property
    def verdict(self) -> Verdict:
        """Whether the requirements are kept."""
        verdict = self._members()["verdict"]
        return Verdict(verdict["pass"], tuple(verdict["reasons"]))

    @property
    def certified(self) -> bool:
        """Whether every prediction is certified."""
        return self._validation.certified

    def page(self, columns: int = 100) -> str:
        """The page that ``spectra validate`` prints."""
        return self._validation.page(columns)

    def json(self) -> dict[str, Any]:
        """What ``spectra validate --json`` prints, as a dictionary."""
        return json.loads(self._validation.json())

    def plot(self) -> Figure:
        """The figure that ``spectra validate`` draws. In a notebook it shows itself."""
        return Figure(f"validation of {self.name}", self._validation.draw)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> str:
        """Writes a result file (HDF5, docs/result-file.md). ``force`` replaces other files; returns the path."""
        path = _with_suffix(path)
        self._validation.write(path, force, self._seed)
        return path

    def __str__(self) -> str:
        return self.page()

    def __repr__(self) -> str:
        return f"<Report on {self.name}: {self.verdict}; {self.measured!r}>"
