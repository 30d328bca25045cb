// The C++ solver as WebAssembly (src/web/solver/solver.cpp): settings in, a law out. Runs in a worker, and in Node for
// its tests.

import type { Metrics, Num, Theory } from '../page/data';

/// A network with isotropic branches, as the command line describes it.
export interface Settings {
    mixer: string;
    streams: number;
    depth: number;
    noise: number;
    seed: number;
    shared: boolean;
    gate: number;
    beta: number;
    logitScale: number;
}

export type Method = 'ov' | 'scalar';

/// How finely: points and tolerance of the program's own default, or enough for a first look.
export interface Detail {
    points: number;
    tolerance: number;
}
export const fine: Detail = { points: 400, tolerance: 1e-8 };
export const coarse: Detail = { points: 60, tolerance: 1e-3 };

export interface Solved {
    theory: Theory;
    metrics: Metrics;
    certified: boolean;
    message: string;
    seconds: number;
    mixers: number[];  // layer by layer, row by row
}

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    spectra_settings(): number;
    spectra_solve(method: number, points: number, tolerance: number, seconds: number, follows: number): number;
    spectra_message(): number;
    spectra_part(part: number): number;
    spectra_size(part: number): number;
    spectra_family(number: number): number;
    spectra_metric(number: number): number;
}

// The order of enum Part.
const parts = ['summary', 'metrics', 'log_s', 'density_log', 'cumulative', 'support', 'atoms', 'mixers'] as const;
const methods: Method[] = ['ov', 'scalar'];
const names: Record<Method, string> = { ov: 'operator-valued theory', scalar: 'scalar theory' };

/// What the solver asks of the system: the time, and no environment.
function system(memory: () => WebAssembly.Memory): WebAssembly.Imports {
    return {
        env: { emscripten_notify_memory_growth: () => {} },
        wasi_snapshot_preview1: {
            clock_time_get: (_clock: number, _precision: bigint, place: number) => {
                new DataView(memory().buffer).setBigUint64(place, BigInt(Math.round(performance.now() * 1e6)), true);
                return 0;
            },
            environ_sizes_get: (count: number, size: number) => {
                const view = new DataView(memory().buffer);
                view.setUint32(count, 0, true);
                view.setUint32(size, 0, true);
                return 0;
            },
            environ_get: () => 0,
            proc_exit: (status: number) => { throw new Error(`the solver ended with status ${status}`); },
        },
    };
}

/// Pairs of consecutive numbers; those that are not finite become null, as in a page's data.
function pairs(values: number[]): [Num, Num][] {
    const finite = (x: number): Num => Number.isFinite(x) ? x : null;
    return Array.from({ length: values.length / 2 }, (_, k) => [finite(values[2 * k]), finite(values[2 * k + 1])]);
}

export class Solver {
    readonly families: string[];
    private readonly metrics: string[];
    private readonly exports: Exports;

    constructor(module: WebAssembly.Module) {
        const instance = new WebAssembly.Instance(module, system(() => this.exports.memory));
        this.exports = instance.exports as unknown as Exports;
        this.exports._initialize();
        this.families = this.list(this.exports.spectra_family);
        this.metrics = this.list(this.exports.spectra_metric);
    }

    /// Null where it takes more than so many seconds (0: however long it takes). Throws an Error with the program's own
    /// message where it would refuse the settings. One that follows starts from the last one that did, where the settings
    /// moved little: it takes fewer steps.
    solve(settings: Settings, method: Method, detail: Detail, seconds = 0, follows = false): Solved | null {
        const { mixer, streams, depth, noise, seed, shared, gate, beta, logitScale } = settings;
        const numbers = [this.families.indexOf(mixer), streams, depth, noise, seed, Number(shared), gate, beta, logitScale];
        new Float64Array(this.exports.memory.buffer, this.exports.spectra_settings(), numbers.length).set(numbers);
        const solved = this.exports.spectra_solve(methods.indexOf(method), detail.points, detail.tolerance, seconds, Number(follows));
        if (solved === 2) return null;
        const message = this.text(this.exports.spectra_message());
        if (!solved) throw new Error(message);
        return this.result(method, message);
    }

    private result(method: Method, message: string): Solved {
        const read = (name: typeof parts[number]) => this.numbers(parts.indexOf(name));
        const [certified, points, newton_steps, mass, mean_square_exact, log_mean_exact, seconds, mass_below, tail_exponent] = read('summary');
        const values = read('metrics');
        const theory: Theory = {
            name: names[method], certificate: message,
            attributes: { certified, message, points, newton_steps, mass, mean_square_exact, log_mean_exact, seconds, tail_exponent },
            log_s: read('log_s'), density_log: read('density_log'), cumulative: read('cumulative'),
            support: pairs(read('support')), atoms: pairs(read('atoms')) as [Num, number][], mass_below,
        };
        return {
            theory, message, certified: certified === 1, seconds, mixers: read('mixers'),
            metrics: Object.fromEntries(this.metrics.map((name, k) => [name, Number.isFinite(values[k]) ? values[k] : null])),
        };
    }

    private numbers(part: number): number[] {
        return Array.from(new Float64Array(this.exports.memory.buffer, this.exports.spectra_part(part), this.exports.spectra_size(part)));
    }

    private text(place: number): string {
        const bytes = new Uint8Array(this.exports.memory.buffer);
        return new TextDecoder().decode(bytes.slice(place, bytes.indexOf(0, place)));
    }

    private list(name: (number: number) => number): string[] {
        const all: string[] = [];
        for (let place = name(0); place; place = name(all.length)) all.push(this.text(place));
        return all;
    }
}

/// The module from the text that pages and the bundle hold: gzip, then base64.
export async function compile(base64: string): Promise<WebAssembly.Module> {
    const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(plain).arrayBuffer());
}
