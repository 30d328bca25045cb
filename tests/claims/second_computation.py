#!/usr/bin/env python3
"""Ten claims of the ledger, drawn at random, computed a second time by code that shares nothing with the library.

    tests/claims/second_computation.py [FOLDER]      FOLDER: data/claims of a checkout

Needs NumPy alone. The claims are random.Random(1).sample(quick claims, 10), without the claims decided since. Each is compared with the ledger: its
verdict, and its numbers within rounding where nothing is drawn, within the sampling error where draws are our own.
Exit status 1 where one does not agree.
"""

import glob
import json
import os
import random
import sys

try:
    import numpy as np
except ImportError:
    print("not run: NumPy is missing")
    sys.exit(0)

SEED = 1
COUNT = 10
# Quick claims that were open when the ten were drawn.
LATER = {"C32"}


def near(found, stored, tolerance):
    assert abs(found - stored) <= tolerance, f"found {found}, the ledger has {stored}"


def c9(numbers):
    """σ²m² − zm + a = 0, the root that vanishes at infinity; moments of g = m/ω over a circle."""
    a, sigma2 = 0.8, 0.1
    mass = square = 0
    steps = 400
    for k in range(steps):
        omega = 2 * np.exp(2j * np.pi * (k + 0.5) / steps)
        z = omega**2
        roots = np.roots([sigma2, -z, a])
        g = roots[np.argmin(abs(roots))] / omega
        mass += (g * omega).real / steps
        square += (g * omega**3).real / steps
    near(mass, numbers[0], 1e-9)
    near(square, numbers[1], 1e-6)
    return "holds" if abs(mass - 1) < 1e-6 else "refuted"


# The mixers of claim C16: spectra --mixer gaussian --streams 2 --depth 3, seed 1.
MIXERS = np.array([[[-0.6885574766341384, -0.7844475269352928], [0.024694639822073167, -0.2761782309253384]],
                   [[-0.24565142526425024, 0.3667310343349089], [0.1629042257858665, 0.9392007130556932]],
                   [[-0.24140180241970244, 0.6820275671389513], [0.5080003862311391, 0.5800915452345998]]])


def chain(mixers, sigma2, omega):
    """g by the dense Dyson equation of the chain w_0, v_1, w_1, …, v_L, iterated and averaged."""
    depth, n = len(mixers), mixers.shape[1]
    size = 2 * depth * n
    pencil = np.zeros((size, size), complex)
    block = lambda k: slice(k * n, (k + 1) * n)
    pencil[block(0), block(0)] = pencil[block(2 * depth - 1), block(2 * depth - 1)] = omega * np.eye(n)
    for l, a in enumerate(mixers):
        pencil[block(2 * l + 1), block(2 * l)] = -a
        pencil[block(2 * l), block(2 * l + 1)] = -a.T
        if l + 1 < depth:
            pencil[block(2 * l + 2), block(2 * l + 1)] = pencil[block(2 * l + 1), block(2 * l + 2)] = np.eye(n)
    traces = np.full(2 * depth, -1j)
    for _ in range(20000):
        own = pencil.copy()
        for l in range(depth):
            own[block(2 * l), block(2 * l)] -= sigma2 * traces[2 * l + 1] * np.eye(n)
            own[block(2 * l + 1), block(2 * l + 1)] -= sigma2 * traces[2 * l] * np.eye(n)
        m = np.linalg.inv(own)
        new = np.array([np.trace(m[block(k), block(k)]) / n for k in range(2 * depth)])
        if abs(new - traces).max() < 1e-14:
            break
        traces = (traces + new) / 2
    return new[-1]


def inverse_psi(k, sigma2, w):
    """b with Ψ(b) = w of one layer, by Newton in (μ, u)."""
    n = len(k)
    c = lambda x: sigma2 * x[0] * np.eye(n) + k / x[1]

    def defect(x):
        inverse = np.linalg.inv(c(x))
        return np.array([x[1] - 1 + sigma2 * np.trace(w @ inverse) / n,
                         x[0] * x[1] - 1 - np.trace(k @ w @ inverse) / n / x[1]])

    x = np.array([1, 1], complex)
    for _ in range(50):
        d, h = defect(x), 1e-7
        jacobian = np.array([(defect(x + h * e) - d) / h for e in np.eye(2)]).T
        step = np.linalg.solve(jacobian, d)
        x = x - step
        if abs(step).max() < 1e-15:
            break
    return w @ np.linalg.inv(np.eye(n) + w) @ np.linalg.inv(c(x))


def nested(mixers, sigma2, omega, transposed):
    n = mixers.shape[1]
    one = np.eye(n)
    ks = [a @ a.T if t else a.T @ a for a, t in zip(mixers, transposed)]
    s_of = lambda k, w: (one + w) @ np.linalg.inv(w) @ inverse_psi(k, sigma2, w)

    def total(w):
        s = s_of(ks[0], w)
        for k in ks[1:]:
            s = s @ s_of(k, np.linalg.inv(s) @ w @ s)
        return s

    def solve(z, w):
        for _ in range(40):
            defect = lambda v: (v @ np.linalg.inv(one + v) @ total(v) * z - one).ravel()
            d, h = defect(w), 1e-7 * abs(w).max()
            jacobian = np.array([(defect(w + h * e.reshape(n, n)) - d) / h for e in np.eye(n * n)]).T
            step = np.linalg.solve(jacobian, d).reshape(n, n)
            w = w - step
            if abs(step).max() < 1e-12 * abs(w).max():
                return w
        raise ArithmeticError("no convergence")

    w = one.astype(complex)
    for k in ks:
        w = w @ (k + sigma2 * one)
    height = 30.0
    w = solve((omega.real + 1j * height) ** 2, w / (omega.real + 1j * height) ** 2)
    while height > omega.imag:
        before, height = height, max(omega.imag, 0.85 * height)
        ratio = ((omega.real + 1j * before) / (omega.real + 1j * height)) ** 2
        w = solve((omega.real + 1j * height) ** 2, w * ratio)
    return (1 + np.trace(w) / n) / omega


def c16(numbers):
    omega = 0.5 + 0.4j
    two = chain(MIXERS[:2], 0.05, omega)
    exact = abs(nested(MIXERS[:2], 0.05, omega, (True, False)) - two) / abs(two)
    three = chain(MIXERS, 0.1 / 3, omega)
    errors = [abs(nested(MIXERS, 0.1 / 3, omega, [bool(c & 1), bool(c & 2), bool(c & 4)]) - three) / abs(three)
              for c in range(8)]
    near(exact, numbers[0], 1e-6)
    near(min(errors), numbers[1], 1e-4 * numbers[1])
    return "holds" if min(errors) < 1e-3 else "refuted"


def c18(numbers):
    """Multiplications of one elimination pass of 2L blocks: an inverse and four products of n×n blocks each."""
    cost = lambda n, depth: 2 * depth * (n**3 + 4 * n**3) + 2 * depth * n
    streams = np.log(cost(32, 10) / cost(8, 10)) / np.log(4)
    depth = np.log(cost(4, 200) / cost(4, 50)) / np.log(4)
    near(streams, numbers[0], 1)  # counted, not timed
    near(depth, numbers[1], 0.5)
    return "holds" if streams > 5.5 else "refuted"


def c34(numbers, rng):
    medians = []
    for scale in (0.1, 0.5, 1, 2):
        defects = []
        for _ in range(4000):
            h = scale * rng.standard_normal((4, 4))
            w = 0.1 * (h - h.T)
            y = np.eye(4) + w
            for _ in range(2):
                y = np.eye(4) + w @ (np.eye(4) + y) / 2
            defects.append(abs(y.T @ y - np.eye(4)).max())
        medians.append(np.median(defects))
    for found, stored in zip(medians, numbers):
        near(found, stored, 0.15 * stored)  # the ledger's median is of 1000 draws
    return "holds" if max(medians) < 1e-3 else "holds in part" if medians[1] < 1e-3 else "refuted"


def c67(numbers, rng):
    g = rng.standard_normal((5, 5))
    matrix = g + g.T
    start = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    turn = np.linalg.qr(rng.standard_normal((2, 2)))[0]
    apart = 0
    states = [[start, np.zeros((5, 2))], [start @ turn, np.zeros((5, 2))]]
    for _ in range(50):
        for state in states:
            u, m = state
            gradient = -2 * matrix @ u
            m = 0.9 * (m - u @ (u.T @ m)) + 0.1 * (gradient - u @ (u.T @ gradient))
            w = u @ m.T - m @ u.T
            state[0] = np.linalg.solve(np.eye(5) - 0.005 * w, (np.eye(5) + 0.005 * w) @ u)
            state[1] = m
        apart = max(apart, abs(states[0][0] @ states[0][0].T - states[1][0] @ states[1][0].T).max())
    near(apart, numbers[0], 1e-9)
    return "holds" if apart < 1e-9 else "refuted"


def c70(numbers, rng):
    size, draws = 60, 600
    m22, m21 = (np.eye(size) + 0.1 * rng.standard_normal((size, size)) for _ in range(2))
    diagonal = off = 0
    for _ in range(draws):
        x = rng.standard_normal((size, size)) / np.sqrt(size)
        diagonal += np.trace(x @ m22 @ x.T) / size / draws
        off += np.trace(x @ m21 @ x) / size / draws
    near(off, numbers[0], 0.05)
    near(diagonal / (np.trace(m22) / size), numbers[1] / numbers[2], 0.02)
    return "holds" if abs(off - np.trace(m21) / size) < 0.1 else "refuted"


def c73(numbers, rng):
    worst = 0
    for beta in (0.1, 1, 10, 1000):
        for _ in range(50):
            u, v = rng.standard_normal((2, 4))
            m = beta / 2 * (np.outer(u, v) - np.outer(v, u))
            q = np.linalg.solve(np.eye(4) + m, np.eye(4) - m)
            worst = max(worst, abs(q.T @ q - np.eye(4)).max())
    near(worst, numbers[0], 1e-9)
    return "holds" if worst < 1e-9 else "refuted"


def c82(numbers):
    f = np.polynomial.Polynomial([0, 4, -4])
    values = max(abs(f(0)), abs(f(1)), abs(f(0.5) - 1))
    slopes = max(abs(f.deriv()(x) - 4 * (1 - 2 * x)) for x in (0.1, 0.25, 0.5, 0.75))
    curvature = f.deriv(2)(0.5)
    near(values, numbers[0], 1e-9)
    near(slopes, numbers[1], 1e-6)
    near(curvature, numbers[2], 1e-6)
    return "holds" if values < 1e-12 and slopes < 1e-6 and curvature == -8 else "refuted"


def c136(numbers, rng):
    worst = 0
    for beta in (0.3, 1, 1.7):
        k = rng.standard_normal((8, 1))
        k /= np.linalg.norm(k)
        x, v = rng.standard_normal((8, 5)), rng.standard_normal((1, 5))
        worst = max(worst, abs((np.eye(8) - beta * k @ k.T) @ x + beta * k @ v - x - beta * k @ (v - k.T @ x)).max())
    near(worst, numbers[0], 1e-9)
    return "holds" if worst < 1e-12 else "refuted"


def c148(numbers, rng):
    factors = []
    for _ in range(20):
        x = rng.standard_normal((32, 32))
        logs = []
        for _ in range(6):
            q, k, v = (x @ rng.standard_normal((32, 32)) / np.sqrt(32) for _ in range(3))
            scores = q @ k.T / np.sqrt(32)
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            x = shares / shares.sum(axis=1, keepdims=True) @ v
            x *= 32 / np.linalg.norm(x)
            logs.append(np.log(max(1e-15, np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x))))
        factors += [b / a for a, b in zip(logs, logs[1:]) if a < -1 and b > -30]
    assert min(factors) < numbers[4] < max(factors), f"{numbers[4]} is not within {min(factors)} … {max(factors)}"
    return "holds" if min(factors) > 1.5 else "refuted"


def main():
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "data", "claims")
    ledger = {}
    for path in sorted(glob.glob(os.path.join(folder, "C*.json"))):
        with open(path, encoding="utf-8") as file:
            claim = json.load(file)
        trained = any(words in claim["command"] for words in ("--gpu", "spectra train"))
        if claim["quick"] and not trained and claim["id"] not in LATER:
            ledger[claim["id"]] = claim
    drawn = random.Random(SEED).sample(list(ledger), COUNT)
    failed = 0
    for claim in drawn:
        numbers = [number["value"] for number in ledger[claim]["numbers"]]
        compute = globals().get(claim.lower())
        if compute is None:
            print(f"{claim}: FAILS, drawn and not computed here; the ledger has other quick claims than it had")
            failed += 1
            continue
        try:
            arguments = [numbers, np.random.default_rng(2026)][: compute.__code__.co_argcount]
            verdict = compute(*arguments)
            assert verdict == ledger[claim]["verdict"], f"{verdict}, the ledger has {ledger[claim]['verdict']}"
            print(f"{claim}: {verdict}, as in the ledger")
        except (AssertionError, ArithmeticError, np.linalg.LinAlgError) as error:
            print(f"{claim}: FAILS, {error}")
            failed += 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
