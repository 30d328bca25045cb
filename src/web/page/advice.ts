// What to change in a trained model, from its numbers alone.

import { block, matrix, num, text, type Num, type Trained } from './data';
import { percent, show } from './format';
import { singularValues } from './heat';

export interface Advice {
    title: string;
    words: string;
    connection?: number;  // from 0
}

function values(trained: Trained, name: string): number[] {
    return (block(trained[name])?.data ?? []).map((x: Num) => x ?? NaN);
}

function largest(list: number[]): number {
    return list.reduce((best, x, k) => x > (list[best] ?? -Infinity) ? k : best, 0);
}

const sum = (list: number[]) => list.reduce((total, x) => total + (Number.isFinite(x) ? x : 0), 0);

/// The connection at which the smallest singular value of the running product falls most, and by which factor.
export function worstMixer(trained: Trained): { connection: number; factor: number; own: number; left: number; n: number } | null {
    const mixers = block(trained.mixers), products = block(trained.composite_products);
    if (!mixers || mixers.shape.length !== 3 || !mixers.shape[0]) return null;
    let connection = 0, factor = 1, previous = 1;
    const n = mixers.shape[1];
    if (products) {
        for (let k = 0; k < products.shape[0]; ++k) {
            const lowest = Math.max(singularValues(matrix(products, k))[n - 1], 1e-12);
            if (lowest / previous < factor) { factor = lowest / previous; connection = k; }
            previous = lowest;
        }
    }
    const whole = products ? singularValues(matrix(products, products.shape[0] - 1)) : [];
    return { connection, factor, own: singularValues(matrix(mixers, connection))[n - 1], left: whole.filter((s) => s >= 0.1).length, n };
}

export function advise(trained: Trained, metrics: Record<string, Num> | undefined, inLogs: Num = null): Advice[] {
    const out: Advice[] = [];
    const a = trained.attributes, failed = text(a, 'verdict') !== 'PASS', reasons = text(a, 'reasons');
    const violates = (name: string) => failed && new RegExp(`(^|\\n)${name}\\b`).test(reasons);
    const variance = values(trained, 'branch_variance'), total = sum(variance);
    const mixer = worstMixer(trained);
    const alone = trained.predictions.mixers;

    if (violates('collapsed') || violates('window') || violates('effective_rank') || violates('smallest')) {
        const lost = num(alone, 'collapsed') ?? (mixer && mixer.n ? 1 - mixer.left / mixer.n : null);
        if (mixer && lost !== null && lost > 0.01) {
            out.push({ title: 'The mixers lose directions', connection: mixer.connection,
                words: `Without any branch, the product of all mixers already puts ${percent(lost)} of the singular values below 0.1: ${mixer.left} of ${mixer.n} stream directions are left. ` +
                    `The largest single loss is at connection ${mixer.connection + 1}: it multiplies the smallest singular value of the product by ${show(mixer.factor, 2)} (the smallest singular value of its own mixer is ${show(mixer.own, 3)}). ` +
                    `Start with this mixer: keep it closer to the identity, or use a family that preserves lengths (cayley, orthogonal, rotation) there.` });
        } else if (mixer && lost !== null) {
            out.push({ title: 'The mixers are not the cause', words: `The product of the mixers alone keeps every stream direction above 0.1 (its smallest singular value is the one shown under Mixers). What spreads the singular values is in the branches.` });
        }
    }
    if (variance.length && total > 0 && (violates('window') || violates('largest') || violates('mean_square') || violates('collapsed'))) {
        const worst = largest(variance), share = variance[worst] / total;
        out.push({ title: 'Where the branch variance is', connection: worst,
            words: `The branches have a total variance Σσ² of ${show(total, 4)}; connection ${worst + 1} brings ${percent(share)} of it (σ² = ${show(variance[worst], 3)}). ` +
                (share > 2 / variance.length ? `That is ${show(share * variance.length, 2)} times its share if all were equal: scale down the output of this branch first. Half the scale is a quarter of its σ².`
                    : `It is spread evenly over the connections, so no single branch is to blame: scale all branches down, or use fewer layers. Half the scale is a quarter of σ².`) });
        const own = values(trained, 'branch_mixer_share');
        const through = sum(own.map((s, k) => s * variance[k])) / total;
        if (through > 0.3) out.push({ title: 'Mixers that depend on the input', words: `${percent(through)} of the branch variance comes from the derivative of the mixers themselves. Static mixers, or a smaller projection in front of them, remove it.` });
    }
    const norms = values(trained, 'spectral_norms');
    if (norms.length && (violates('largest') || violates('norm') || violates('spectral_norm_max'))) {
        const worst = largest(norms);
        if (norms[worst] > 1.01) out.push({ title: 'A mixer amplifies', connection: worst, words: `The mixer of connection ${worst + 1} has spectral norm ${show(norms[worst])}, the largest of all: it lengthens a gradient even without its branch. Normalise it, or choose a family of norm 1.` });
    }
    const full = trained.predictions.full, single = values(trained, 'layer_wasserstein1').map((x) => Number.isFinite(x) ? x : -Infinity);
    const distance = num(full, 'wasserstein1');
    if (distance !== null && metrics) {
        const rms = Math.sqrt(metrics.mean_square ?? 1), relative = distance / rms;
        const worst = single.length ? largest(single) : -1;
        const alone1 = worst >= 0 && Number.isFinite(single[worst]) ? single[worst] : null;
        if (relative > 0.03 && alone1 !== null && alone1 < distance / 2)
            out.push({ title: 'Layers have come to depend on each other', connection: worst, words: `The prediction is off by W1 = ${show(distance, 3)} (${percent(relative)} of the rms singular value), but every connection by itself is predicted to ${show(alone1, 2)} or better (the worst is connection ${worst + 1}). So the parts are right and their independence is not: layers undo or amplify each other. Look at consecutive branches, not at single ones.` });
        else if (relative > 0.03 && alone1 !== null)
            out.push({ title: 'One connection is not explained', connection: worst, words: `Connection ${worst + 1} differs from its own prediction by W1 = ${show(alone1, 3)}, the prediction of the whole model by ${show(distance, 3)}. Inspect this connection first.` });
        else if (relative <= 0.03)
            out.push({ title: inLogs !== null && inLogs > 0.3 ? 'Theory explains the values that matter' : 'Theory explains this model', words: (inLogs !== null && inLogs > 0.3 ? `Over ln s the laws differ (${show(inLogs, 3)} in the mean), but only among collapsed values, which are zero for every purpose. ` : '') + `Measured and predicted laws are W1 = ${show(distance, 3)} apart, ${percent(relative)} of the rms singular value. What the prediction says of a changed mixer or branch can be trusted to that accuracy.` });
    }
    if (full && num(full, 'certified') === 0)
        out.push({ title: 'The prediction is not certified', words: `${text(full, 'doubt') || 'No reason is stored.'} The verdict rests on the measurement alone.` });
    return out;
}
