// Small matrices and vectors, and random numbers that are the same on every page.

export type Vector = [number, number];
export type Matrix = [Vector, Vector];  // by rows

export const identity: Matrix = [[1, 0], [0, 1]];

export function multiply(a: Matrix, b: Matrix): Matrix {
    const entry = (i: 0 | 1, j: 0 | 1) => a[i][0] * b[0][j] + a[i][1] * b[1][j];
    return [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]];
}

export function transpose(a: Matrix): Matrix {
    return [[a[0][0], a[1][0]], [a[0][1], a[1][1]]];
}

export function determinant(a: Matrix): number {
    return a[0][0] * a[1][1] - a[0][1] * a[1][0];
}

export function apply(a: Matrix, x: Vector): Vector {
    return [a[0][0] * x[0] + a[0][1] * x[1], a[1][0] * x[0] + a[1][1] * x[1]];
}

export function combine(x: number, a: Matrix, y: number, b: Matrix): Matrix {
    const entry = (i: 0 | 1, j: 0 | 1) => x * a[i][j] + y * b[i][j];
    return [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]];
}

export function inverse(a: Matrix): Matrix {
    const d = determinant(a);
    return [[a[1][1] / d, -a[0][1] / d], [-a[1][0] / d, a[0][0] / d]];
}

/// uvᵀ − vuᵀ.
export function skew(u: Vector, v: Vector): Matrix {
    const area = u[0] * v[1] - u[1] * v[0];
    return [[0, area], [-area, 0]];
}

/// Cayley's map (I + βA/2)⁻¹(I − βA/2).
export function cayley(a: Matrix, beta: number): Matrix {
    return multiply(inverse(combine(1, identity, beta / 2, a)), combine(1, identity, -beta / 2, a));
}

/// I − βkkᵀ of the unit vector at an angle.
export function householder(angle: number, beta: number): Matrix {
    const k: Vector = [Math.cos(angle), Math.sin(angle)];
    return [[1 - beta * k[0] * k[0], -beta * k[0] * k[1]], [-beta * k[0] * k[1], 1 - beta * k[1] * k[1]]];
}

/// Largest entry of |AᵀA − I|.
export function defect(a: Matrix): number {
    const square = combine(1, multiply(transpose(a), a), -1, identity);
    return Math.max(...square.flat().map(Math.abs));
}

/// Uniform numbers from a seed (mulberry32).
export function uniforms(seed: number): () => number {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

/// Standard normal numbers.
export function normals(seed: number): () => number {
    const uniform = uniforms(seed);
    return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/// An n×n orthogonal matrix, uniformly drawn: Gram and Schmidt's method on normal columns.
export function randomOrthogonal(n: number, normal: () => number): number[][] {
    const rows: number[][] = [];
    while (rows.length < n) {
        const next = Array.from({ length: n }, normal);
        for (const row of rows) {
            const along = row.reduce((sum, x, k) => sum + x * next[k], 0);
            row.forEach((x, k) => { next[k] -= along * x; });
        }
        const length = Math.hypot(...next);
        if (length > 1e-6) rows.push(next.map((x) => x / length));
    }
    return rows;
}

/// An n×n bistochastic matrix: Sinkhorn's sweeps on exponentials of normal numbers.
export function randomBistochastic(n: number, normal: () => number): number[][] {
    const a = Array.from({ length: n }, () => Array.from({ length: n }, () => Math.exp(normal())));
    for (let sweep = 0; sweep < 60; ++sweep) {
        for (const row of a) {
            const sum = row.reduce((total, x) => total + x, 0);
            row.forEach((x, j) => { row[j] = x / sum; });
        }
        for (let j = 0; j < n; ++j) {
            const sum = a.reduce((total, row) => total + row[j], 0);
            for (const row of a) row[j] /= sum;
        }
    }
    return a;
}
