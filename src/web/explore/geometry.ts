// From two vectors to a rotation, its eigenvalues, and its mixture with a reflection: four parts about one mixer of the
// plane. Conventions are those of src/mixers/cayley_hybrid.hpp.

import { Chart, legend } from '../page/chart';
import { fill, h } from '../page/dom';
import { show } from '../page/format';
import { heat } from '../page/heat';
import { apply, cayley, combine, defect, determinant, householder, multiply, skew, type Matrix, type Vector } from './maths';
import { dial, facts, part, type Generator } from './story';
import { Plane } from './svg';
import type { Settings } from './wasm';

const degrees = (radians: number) => `${show(radians * 180 / Math.PI, 4)}°`;

/// The largest distance from a property, as a reader wants it: rounding is named.
const distance = (value: number) => value > 0 && value < 1e-12 ? `${show(value, 1)} (rounding)` : show(value, 3);

const circle: Vector[] = Array.from({ length: 73 }, (_, k) => [Math.cos(k * Math.PI / 36), Math.sin(k * Math.PI / 36)]);

export function skewPart(state: Generator): HTMLElement {
    const plane = new Plane('Two vectors, u and v, that you can move', 2, 'group');
    const u = plane.handle('Vector u', 'k0', (to) => state.change({ u: to })), v = plane.handle('Vector v', 'k1', (to) => state.change({ v: to }));
    const matrix = h('div'), numbers = facts('What A is', ['u₁v₂ − u₂v₁, the area', 'largest entry of Aᵀ + A']);
    state.watch(() => {
        u.place(state.u);
        v.place(state.v);
        const sum: Vector = [state.u[0] + state.v[0], state.u[1] + state.v[1]], a = skew(state.u, state.v);
        // Handles stay in the document, so that they keep the pointer and the focus.
        for (const child of Array.from(plane.element.children)) if (child !== u.element && child !== v.element) child.remove();
        plane.element.prepend(...plane.frame(1), plane.shape([[0, 0], state.u, sum, state.v], 'area'),
            plane.line([0, 0], state.u, 'arrow k0'), plane.line([0, 0], state.v, 'arrow k1'), plane.text(state.u, 'u'), plane.text(state.v, 'v'));
        if (!u.element.isConnected || u.element.parentNode !== plane.element) plane.element.append(u.element, v.element);
        fill(matrix, heat('A = uvᵀ − vuᵀ', a));
        numbers.update([show(state.area(), 4), show(Math.max(...[0, 1].flatMap((i) => [0, 1].map((j) => Math.abs(a[i][j] + a[j][i])))), 2)]);
    });
    return part('A generator that cannot go wrong', [
        'Take any two vectors u and v and form A = uvᵀ − vuᵀ: transposing it swaps the two products, so Aᵀ = −A, whatever the vectors are and however a network computes them from its input.',
        'In the plane such a matrix is a single number, the area of the parallelogram that u and v span; it is zero where they are parallel, and it changes its sign when they change places.',
        'In more dimensions A still has rank 2: one pair of vectors acts in one plane, while n streams have n(n − 1)/2 of them.',
    ], 'Move the two points, by pointer or arrow keys: the next part turns their A into a rotation.', h('div', { class: 'beside' }, plane.element as unknown as HTMLElement, h('div', {}, matrix, numbers.element)));
}

export function cayleyPart(state: Generator): HTMLElement {
    const plane = new Plane('A square before and after the rotation', 2);
    const numbers = facts('What Q is, computed here', ['angle', 'largest entry of QᵀQ − I', 'det Q']);
    const chart = new Chart({ name: 'Angle of the rotation against β', x: 'β', y: 'angle in degrees', range: [-4, 4], yRange: () => [-190, 190], height: 230 }, []);
    const places = Array.from({ length: 161 }, (_, k) => -4 + k / 20);
    const beta = dial('β', -4, 4, 0.05, state.beta, (value) => state.change({ beta: value }));
    state.watch(() => {
        const q = cayley(skew(state.u, state.v), state.beta), square: Vector[] = [[0.2, 0.2], [1.2, 0.2], [1.2, 1.2], [0.2, 1.2]];
        const angle = Math.atan2(q[1][0], q[0][0]);
        plane.draw(...plane.frame(1), plane.shape(square, 'before'), plane.shape(square.map((point) => apply(q, point)), 'after'));
        chart.change({ marks: [{ x: state.beta, label: degrees(angle) }] }, [
            { label: '2 arctan(β · area / 2)', mark: 'line', colour: 0, x: places, y: places.map((b) => 2 * Math.atan(b * state.area() / 2) * 180 / Math.PI) }]);
        numbers.update([degrees(angle), distance(defect(q)), show(determinant(q), 12)]);
    });
    return part('Cayley’s rotation', [
        'Cayley’s map Q = (I + βA/2)⁻¹(I − βA/2) turns that A into a rotation: QᵀQ = I and det Q = 1 for every β, u and v, because both factors are polynomials in A and commute.',
        'The angle is 2 arctan(βa/2) with a the area: nearly proportional to β while it is small, and never as much as 180°, however large β is.',
        'The guarantee belongs to the exact map and to the mixer alone: the two steps of an iteration that some models use instead keep lengths only while the angle is small, and what a branch adds changes lengths in any case.',
    ], 'The angle stops short of 180°. What that excludes, and what it does not, is next.', h('div', { class: 'settings' }, beta.element),
    h('div', { class: 'beside' }, plane.element as unknown as HTMLElement, h('div', {}, numbers.element)), chart.element);
}

export function eigenvaluePart(state: Generator): HTMLElement {
    const plane = new Plane('Eigenvalues in the complex plane, with the unit circle', 1.5);
    const numbers = facts('Eigenvalues', ['Cayley', 'its distance from −1', 'Householder', 'its distance from −1', 'Householder: largest entry of HᵀH − I']);
    const places = Array.from({ length: 81 }, (_, k) => k / 20);
    const chart = new Chart({ name: 'Distance of an eigenvalue from minus one against β', x: 'β', y: 'distance from −1', range: [0, 4], yRange: () => [0, 2.1], height: 230 }, [
        { label: 'Cayley', mark: 'line', colour: 0, x: places, y: places }, { label: 'Householder', mark: 'line', colour: 1, dash: [8, 5], x: places, y: places }]);
    const names = legend(chart);
    let own = 2;
    const draw = () => {
        const away = (b: number) => 2 / Math.sqrt(1 + Math.pow(b * state.area() / 2, 2));
        const angle = 2 * Math.atan(own * state.area() / 2), real = 1 - own;
        plane.draw(...plane.frame(1), plane.dot([-1, 0], 'target', 9), plane.text([-1, 0], '−1'),
            plane.dot([Math.cos(angle), Math.sin(angle)], 'dot k0'), plane.dot([Math.cos(angle), -Math.sin(angle)], 'dot k0'),
            ...(Math.abs(real) <= 1.5 ? [plane.dot([real, 0], 'dot k1')] : []), plane.dot([1, 0], 'dot k1', 4));
        chart.change({ marks: [{ x: own, label: `β = ${show(own, 3)}` }] }, [
            { label: 'Cayley', mark: 'line', colour: 0, x: places, y: places.map(away), hidden: chart.series[0].hidden },
            { label: 'Householder', mark: 'line', colour: 1, dash: [8, 5], x: places, y: places.map((b) => Math.abs(2 - b)), hidden: chart.series[1].hidden }]);
        numbers.update([`${show(Math.cos(angle), 4)} ± ${show(Math.abs(Math.sin(angle)), 4)}i`, show(away(own), 4), `1 and ${show(real, 4)}`,
                        show(Math.abs(2 - own), 4), distance(defect(householder(0, own)))]);
    };
    const beta = dial('β of both', 0, 4, 0.05, own, (value) => { own = value; draw(); });
    state.watch(draw);
    return part('The eigenvalue −1', [
        'Cayley’s eigenvalues run along the unit circle and never reach −1, but they come as near as you like: the distance is 2/√(1 + (βa/2)²), so a rotation by 179.9° needs only a large β.',
        'Householder’s matrix I − βkkᵀ does not jump there: its eigenvalue 1 − β moves along the real line, erases the direction k at β = 1 and reaches −1 at β = 2, and the matrix is orthogonal at β = 0 and β = 2 alone.',
        'So Cayley’s map lacks reflections, since its determinant is always 1, but not the negative of a vector: in the published negation test the map is cut off after two steps, whose best mean square lies at a right angle to the target, and the exact map has no such limit.',
    ], 'A gate that mixes both maps promises the best of each. The next part shows its price.', h('div', { class: 'settings' }, beta.element),
    h('div', { class: 'beside' }, plane.element as unknown as HTMLElement, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: eigenvalues' }, numbers.element)), chart.element, names);
}

/// γQ + (1 − γ)H₂.
export function hybrid(q: Matrix, angle: number, gate: number): Matrix {
    return combine(gate, q, 1 - gate, householder(angle, 2));
}

/// Singular values of a 2×2 matrix, largest first, from its square and its determinant.
export function stretches(a: Matrix): Vector {
    const square = a.flat().reduce((sum, x) => sum + x * x, 0), d = Math.abs(determinant(a));
    const plus = Math.sqrt(square + 2 * d), minus = Math.sqrt(Math.max(0, square - 2 * d));
    return [(plus + minus) / 2, (plus - minus) / 2];
}

function power(a: Matrix, count: number): Matrix {
    let out = a;
    for (let k = 1; k < count; ++k) out = multiply(a, out);
    return out;
}

export function gatePart(state: Generator, explore: (change: Partial<Settings>) => void): HTMLElement {
    const plane = new Plane('What the mixer makes of the unit circle', 1.5);
    const numbers = facts('The mixer γQ + (1 − γ)H₂, computed here', ['singular values', 'largest entry of AᵀA − I', 'determinant', 'singular values of ten equal layers']);
    const places = Array.from({ length: 101 }, (_, k) => k / 100);
    let gate = 0.95, direction = 0.6;
    const chart = new Chart({ name: 'Singular values against the gate', x: 'gate γ', y: 'singular value', range: [0, 1], yRange: () => [0, 1.1], height: 230 }, [
        { label: 'largest', mark: 'line', colour: 0, x: places, y: places }, { label: 'smallest', mark: 'line', colour: 1, dash: [8, 5], x: places, y: places }]);
    const names = legend(chart);
    const draw = () => {
        const q = cayley(skew(state.u, state.v), state.beta), a = hybrid(q, direction, gate), values = stretches(a);
        const curve = (k: 0 | 1) => places.map((g) => stretches(hybrid(q, direction, g))[k]);
        plane.draw(...plane.frame(1), plane.shape(circle.map((point) => apply(a, point)), 'after'), plane.line([0, 0], apply(a, [1, 0]), 'arrow k1'));
        chart.change({ marks: [{ x: gate, label: `γ = ${show(gate, 3)}` }] }, [
            { label: 'largest', mark: 'line', colour: 0, x: places, y: curve(0), hidden: chart.series[0].hidden },
            { label: 'smallest', mark: 'line', colour: 1, dash: [8, 5], x: places, y: curve(1), hidden: chart.series[1].hidden }]);
        numbers.update([values.map((v) => show(v, 4)).join(' and '), distance(defect(a)), show(determinant(a), 4), stretches(power(a, 10)).map((v) => show(v, 3)).join(' and ')]);
    };
    state.watch(draw);
    return part('The gate between rotation and reflection', [
        'At γ = 1 the mixer is the rotation Q, at γ = 0 the reflection H₂ = I − 2kkᵀ: both are orthogonal, with determinants 1 and −1.',
        'In between it is not: QᵀH₂ is orthogonal with determinant −1, so it has an eigenvalue −1, and one singular value of the mixer is exactly |2γ − 1|, whatever u, v, β and k are; at γ = ½ a direction is erased.',
        'A gate of 0.95 looks closed, and still one direction shrinks to 0.9 in every layer.',
    ], 'So it matters where training leaves the gate: the next part runs it.', h('div', { class: 'settings' },
      dial('Gate γ', 0, 1, 0.01, gate, (value) => { gate = value; draw(); }).element,
      dial('Direction of k', 0, 180, 1, 34, (value) => { direction = value * Math.PI / 180; draw(); }, (value) => `${value}°`).element,
      h('button', { type: 'button', onclick: () => explore({ mixer: 'cayley-hybrid', gate, depth: 10, streams: 4 }) }, 'See the law of ten such layers')),
    h('div', { class: 'beside' }, plane.element as unknown as HTMLElement, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table: the mixer' }, numbers.element)), chart.element, names);
}
