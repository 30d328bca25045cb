// What the page is given: the JSON that src/report/html_data.cpp writes. null stands for a number that is not finite.

export type Num = number | null;
export type Attributes = Record<string, string | number | null>;

/// A dataset, or its first rows: `of` is how many the file has.
export interface Block {
    of: number;
    shape: number[];
    data: Num[];
}

export interface Theory {
    name: string;
    certificate: string;
    attributes: Attributes;
    log_s: number[];
    density_log: number[];
    cumulative: number[];
    curve?: { log_s: number[]; density_log: number[] };
    support: [Num, Num][];
    atoms: [Num, number][];
    mass_below: Num;
}

export interface Sample {
    exact: boolean;
    zeros: number;
    log_values: number[];
    log_floor: Num;
    attributes?: Attributes;
}

export interface Expected {
    mean: Num;
    std: Num;
}

export interface Agreement {
    wasserstein1: Num;
    wasserstein1_log?: Num;
    kolmogorov_smirnov?: Num;
    left_out?: number;
    words?: string;
    closeness?: 'agree' | 'close' | 'differ';
    expected?: Record<string, Expected>;
}

export type Metrics = Record<string, Num>;

export interface Network {
    attributes: Attributes;
    sigma2?: Block;
    mixers?: Block;
    sigma_w2?: Block;
    preactivation_variance?: Block;
    pre?: Block;
    post?: Block;
    weights?: Block;
}

export interface Run {
    name: string;
    network: Network;
    seed?: string;
    theory?: Record<string, Theory>;
    simulation?: Sample;
    metrics?: Record<string, Metrics>;
    agreement?: Record<string, Agreement>;
    answer?: string;
    doubts: string[];
    noise: Num;
    sensitivity?: Record<string, { attributes: Attributes; sigma2?: Block; mixers?: Block }>;
    largest_by_triplet?: { attributes: Attributes; layer?: Block; triplet?: Block; value?: Block; elasticity?: Block };
    average?: { attributes: Attributes; mean: Attributes; std: Attributes } & Record<string, unknown>;
}

/// Predictions that keep the largest triplets of every branch, one entry per number kept.
export interface Alignment {
    attributes: Attributes;
    ranks?: Block;
    draws?: Block;
    distances?: Block;
    distance_errors?: Block;
    largest?: Block;
    overlaps?: Block;
    leading_connection?: Block;
    leading_triplet?: Block;
    leading_value?: Block;
    leading_elasticity?: Block;
}

export interface Trained {
    attributes: Attributes;
    alignment?: Alignment;
    predictions: Record<string, Attributes>;
    measured?: Sample;
    layer_quantiles?: Num[][];
    [block: string]: unknown;
}

export interface Training {
    attributes: Attributes;
    baselines: { name: string; words: string; value: Num }[];
    diagnostics: Record<string, Block>;
    step?: Block;
    loss?: Block;
    val_loss?: Block;
    learning_rate?: Block;
    gradient_norm?: Block;
}

export interface Panel {
    attributes: Attributes;
    series: { attributes: Attributes; x?: Block; y?: Block; lower?: Block; value?: Block }[];
}

export interface ResultFile {
    name: string;
    kind: 'analysis' | 'runs' | 'validation' | 'training' | 'depth-limit' | 'figure';
    provenance: Record<string, string>;
    networks?: number;
    run?: Run;
    runs?: Run[];
    trained?: Trained;
    training?: Training;
    depth_limit?: { attributes: Attributes; depth?: Block; share?: Block; certified?: Block; draws?: Block };
    figure?: { attributes: Attributes; panels: Panel[] };
    green?: { omega?: Block; g?: Block; certified?: Block; residual?: Block };
}

export interface PageData {
    metrics: { name: string; label: string; brief: string }[];
    files: ResultFile[];
}

export function block(value: unknown): Block | undefined {
    const candidate = value as Block | undefined;
    return candidate && Array.isArray(candidate.data) ? candidate : undefined;
}

export function text(attributes: Attributes | undefined, name: string): string {
    const value = attributes?.[name];
    return value === undefined || value === null ? '' : String(value);
}

export function num(attributes: Attributes | undefined, name: string): Num {
    const value = attributes?.[name];
    return typeof value === 'number' ? value : null;
}

/// Matrix k of a block (K, n, n), by rows.
export function matrix(source: Block, k: number): number[][] {
    const [, rows, columns] = source.shape;
    const out: number[][] = [];
    for (let i = 0; i < rows; ++i) {
        const begin = (k * rows + i) * columns;
        out.push(source.data.slice(begin, begin + columns).map((x) => x ?? NaN));
    }
    return out;
}

/// Row k of a block (K, n).
export function row(source: Block, k: number): Num[] {
    const width = source.shape[1] ?? 1;
    return source.data.slice(k * width, (k + 1) * width);
}
