// A gate under gradient descent: its penalty, the task, and what starts it off.

import { Chart } from '../page/chart';
import { h } from '../page/dom';
import { show } from '../page/format';
import { normals } from './maths';
import { dial, facts, part } from './story';

export interface Setting {
    weight: number;  // λ of the penalty λ·4γ(1 − γ)
    task: number;    // slope of the task's loss by γ
    start: number;   // γ before the first step
    jitter: number;  // standard deviation of the task's slope from step to step
}

const steps = 600, rate = 0.1;

/// γ = σ(θ) after every step of gradient descent on λ·4γ(1 − γ) + task·γ.
export function train({ weight, task, start, jitter }: Setting, seed = 1): number[] {
    const normal = normals(seed), gates = [start];
    let theta = Math.log(start / (1 - start));
    for (let step = 0; step < steps; ++step) {
        const gate = 1 / (1 + Math.exp(-theta));
        theta -= rate * gate * (1 - gate) * (4 * weight * (1 - 2 * gate) + task + (jitter ? jitter * normal() : 0));
        gates.push(1 / (1 + Math.exp(-theta)));
    }
    return gates;
}

/// Where penalty and task balance: ½ + task/(8λ), if that lies between 0 and 1.
export function balance({ weight, task }: Setting): number | null {
    if (weight <= 0) return null;
    const gate = 0.5 + task / (8 * weight);
    return gate > 0 && gate < 1 ? gate : null;
}

export function trapPart(): HTMLElement {
    const setting: Setting = { weight: 0.5, task: 0, start: 0.51, jitter: 0 };
    const chart = new Chart({ name: 'The gate during training', x: 'step', y: 'gate γ', range: [0, steps], yRange: () => [-0.03, 1.03], height: 240 }, []);
    const numbers = facts('The gate, learning rate 0.1', ['step', 'γ', 'smallest singular value of the mixer, |2γ − 1|', 'balance of penalty and task (unstable)']);
    let gates = train(setting), shown = steps, frame = 0;
    const draw = () => {
        const x = Array.from({ length: shown + 1 }, (_, k) => k), middle = balance(setting);
        const line = middle === null ? [] : [{ label: 'balance', mark: 'line' as const, colour: 7, dash: [3, 4], x: [0, steps], y: [middle, middle] }];
        chart.change({}, [{ label: 'γ', mark: 'line', colour: 0, x, y: gates.slice(0, shown + 1) }, ...line]);
        numbers.update([String(shown), show(gates[shown], 4), show(Math.abs(2 * gates[shown] - 1), 3), middle === null ? 'none' : show(middle, 4)]);
    };
    const stop = () => { cancelAnimationFrame(frame); frame = 0; button.textContent = 'Run from the start'; };
    const tick = () => {
        shown = Math.min(steps, shown + 10);
        draw();
        if (shown < steps) frame = requestAnimationFrame(tick);
        else stop();
    };
    const button = h('button', { type: 'button', onclick: () => {
        if (frame) { stop(); return; }
        shown = matchMedia('(prefers-reduced-motion: reduce)').matches ? steps : 0;
        button.textContent = 'Pause';
        tick();
    } }, 'Run from the start');
    const change = (to: Partial<Setting>) => {
        stop();
        Object.assign(setting, to);
        gates = train(setting);
        shown = steps;
        draw();
    };
    draw();
    return part('The trap in the middle', [
        'Training adds λ·4γ(1 − γ) to the loss to push a gate towards 0 or 1; at γ = ½ the slope 4λ(1 − 2γ) of that penalty is zero, and so is the slope of every smooth penalty that treats both ends alike.',
        'It is a trap on a hilltop: the penalty is largest there, a small distance from the middle grows e-fold every 2/(λ · learning rate) steps, and only a gate that starts exactly at ½, with no task and no noise, stays.',
        'A task with slope g moves the balance to ½ + g/(8λ), still unstable, and beyond |g| = 4λ there is none: up to there, the side of the balance on which a gate starts decides where it ends.',
    ], 'That is one mixer, taken apart. What a stack of any mixers does to gradients, theory tells.',
    h('div', { class: 'settings' },
      dial('Penalty λ', 0, 2, 0.05, setting.weight, (weight) => change({ weight })).element,
      dial('Task slope g', -2, 2, 0.02, setting.task, (task) => change({ task })).element,
      dial('Start γ', 0.02, 0.98, 0.01, setting.start, (start) => change({ start })).element,
      dial('Noise of the slope', 0, 2, 0.05, setting.jitter, (jitter) => change({ jitter })).element,
      button),
    chart.element, numbers.element);
}
