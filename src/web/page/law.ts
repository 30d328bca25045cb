// Laws of singular values: F and its inverse, for a density on a grid and for values. Places are x = ln s.

import type { Sample, Theory } from './data';

export interface Law {
    id: string;
    label: string;
    sample: boolean;
    /// Mass of {ln s ≤ x}.
    cdf(x: number): number;
    /// Smallest x with F(x) ≥ u; −∞ where that is at s = 0 or below what is known.
    quantile(u: number): number;
    /// dF/dx of the continuous part at a place; of a sample NaN.
    density(x: number): number;
    /// Points of the curve that is drawn.
    x: number[];
    y: number[];
    atoms: { x: number; mass: number }[];
}

/// The first index with values[k] > x.
function above(values: number[], x: number): number {
    let low = 0, high = values.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] > x) high = middle;
        else low = middle + 1;
    }
    return low;
}

/// The curve with the ends of the bands, where it is zero.
function withEdges(theory: Theory): { log_s: number[]; density_log: number[] } {
    const edges = theory.support.flat().filter((edge): edge is number => edge !== null).sort((a, b) => a - b);
    // Rounded points may come to lie beyond an edge.
    const atEdge = (x: number) => {
        const k = above(edges, x), near = 4e-6 * Math.max(1, Math.abs(x));
        return edges[k] - x < near || x - edges[k - 1] < near;
    };
    const points = theory.log_s.map((x, k): [number, number] => [x, theory.density_log[k]]).filter(([x]) => !atEdge(x));
    for (const edge of edges) points.push([edge, 0]);
    points.sort((a, b) => a[0] - b[0]);
    return { log_s: points.map((p) => p[0]), density_log: points.map((p) => p[1]) };
}

/// F between grid points is the cubic with the density as its slope.
export function densityLaw(id: string, theory: Theory): Law {
    const { log_s: x, density_log: d, cumulative } = theory;
    const atoms = theory.atoms.map(([place, mass]) => ({ x: place ?? -Infinity, mass }));
    const steps = (at: number) => atoms.reduce((sum, atom) => sum + (atom.x <= at ? atom.mass : 0), 0);
    const smooth = cumulative.map((f, k) => f - steps(x[k]));
    const tail = typeof theory.attributes.tail_exponent === 'number' ? theory.attributes.tail_exponent : 0;
    const below = smooth.length ? smooth[0] : 0;
    const count = x.length;
    const continuous = (at: number): number => {
        if (!count) return 0;
        if (at < x[0]) return tail > 0 ? below * Math.exp(tail * (at - x[0])) : 0;
        if (at >= x[count - 1]) return smooth[count - 1];
        const k = above(x, at) - 1, width = x[k + 1] - x[k], t = (at - x[k]) / width;
        const rise = smooth[k + 1] - smooth[k];
        const value = smooth[k] + rise * t * t * (3 - 2 * t) +
            width * t * (1 - t) * (d[k] * (1 - t) - d[k + 1] * t);
        return Math.min(Math.max(value, smooth[k]), smooth[k + 1]);
    };
    const cdf = (at: number) => continuous(at) + steps(at);
    const quantile = (u: number): number => {
        if (steps(-Infinity) + below >= u) return -Infinity;
        const places = atoms.map((atom) => atom.x).filter(Number.isFinite).concat(count ? [x[0], x[count - 1]] : []);
        let low = Math.min(...places), high = Math.max(...places);
        if (cdf(low) >= u) return low;
        for (let k = 0; k < 70 && high - low > 1e-12 * Math.max(1, Math.abs(low)); ++k) {
            const middle = (low + high) / 2;
            if (cdf(middle) >= u) high = middle;
            else low = middle;
        }
        return high;
    };
    const density = (at: number): number => {
        if (!count || at < x[0] || at > x[count - 1]) return 0;
        const k = Math.min(above(x, at), count - 1), t = (at - x[k - 1]) / (x[k] - x[k - 1] || 1);
        return k === 0 ? d[0] : d[k - 1] * (1 - t) + d[k] * t;
    };
    const curve = theory.curve ?? withEdges(theory);
    return { id, label: theory.name, sample: false, cdf, quantile, density, x: curve.log_s, y: curve.density_log, atoms };
}

export function sampleLaw(id: string, label: string, sample: Sample): Law {
    const values = sample.log_values, zeros = sample.zeros, total = values.length + zeros;
    return {
        id, label, sample: true,
        cdf: (x) => total ? (zeros + above(values, x)) / total : 0,
        quantile: (u) => {
            const k = Math.ceil(u * total - 1e-9) - 1 - zeros;
            return k < 0 && zeros ? -Infinity : values[Math.min(Math.max(k, 0), values.length - 1)] ?? -Infinity;
        },
        density: () => NaN,
        x: [], y: [],
        atoms: zeros ? [{ x: -Infinity, mass: zeros / total }] : [],
    };
}

/// Mean heights of a law between edges, per unit of s or of ln s; edges are in that unit.
export function heights(law: Law, edges: number[], logarithmic: boolean): number[] {
    const place = (edge: number) => logarithmic ? edge : edge > 0 ? Math.log(edge) : -Infinity;
    // What lies at s = 0 exactly belongs to the atom, not to the first bar.
    const start = logarithmic ? 0 : law.atoms.reduce((sum, atom) => sum + (atom.x === -Infinity ? atom.mass : 0), 0);
    const f = edges.map((edge) => place(edge) === -Infinity ? start : law.cdf(place(edge)));
    return edges.slice(1).map((edge, k) => (f[k + 1] - f[k]) / (edge - edges[k]));
}

/// The smallest and largest ln s that matter, of several laws: all but a thousandth of the mass on the left.
export function extent(laws: Law[]): [number, number] {
    let low = Infinity, high = -Infinity;
    for (const law of laws) {
        const zero = law.cdf(-700);
        const first = law.quantile(zero + 0.001 * (1 - zero)), last = law.quantile(1 - 1e-9);
        if (Number.isFinite(first)) low = Math.min(low, first);
        if (Number.isFinite(last)) high = Math.max(high, last);
    }
    if (!Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
    return high - low < 0.02 ? [low - 0.1, high + 0.1] : [low, high];
}
