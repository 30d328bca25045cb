// Drawings in the plane, with handles that can be dragged and moved by arrow keys.

import type { Vector } from './maths';

type Attributes = Record<string, string | number>;

export function svg(tag: string, attributes: Attributes = {}, ...children: (SVGElement | string)[]): SVGElement {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    element.append(...children);
    return element;
}

/// The plane from −reach to reach, y upwards. `name` is for screen readers.
export class Plane {
    readonly element: SVGElement;
    private readonly size = 280;

    constructor(name: string, readonly reach: number, role: 'img' | 'group' = 'img') {
        this.element = svg('svg', { viewBox: `0 0 ${this.size} ${this.size}`, role, 'aria-label': name, class: 'plane' });
    }

    x(value: number): number {
        return this.size / 2 * (1 + value / this.reach);
    }
    y(value: number): number {
        return this.size / 2 * (1 - value / this.reach);
    }

    /// Axes, and circles of these radii.
    frame(...radii: number[]): SVGElement[] {
        return [
            this.line([-this.reach, 0], [this.reach, 0], 'axis'), this.line([0, -this.reach], [0, this.reach], 'axis'),
            ...radii.map((r) => svg('circle', { cx: this.x(0), cy: this.y(0), r: this.x(r) - this.x(0), class: 'circle' })),
        ];
    }
    line(from: Vector, to: Vector, kind: string): SVGElement {
        return svg('line', { x1: this.x(from[0]), y1: this.y(from[1]), x2: this.x(to[0]), y2: this.y(to[1]), class: kind });
    }
    shape(points: Vector[], kind: string): SVGElement {
        return svg('polygon', { points: points.map(([a, b]) => `${this.x(a)},${this.y(b)}`).join(' '), class: kind });
    }
    dot(at: Vector, kind: string, radius = 6): SVGElement {
        return svg('circle', { cx: this.x(at[0]), cy: this.y(at[1]), r: radius, class: kind });
    }
    text(at: Vector, words: string, kind = 'name'): SVGElement {
        return svg('text', { x: this.x(at[0]) + 9, y: this.y(at[1]) - 9, class: kind }, words);
    }
    draw(...children: SVGElement[]): void {
        this.element.replaceChildren(...children);
    }

    /// A point that readers move; it must stay in the drawing between calls of draw(). `moved` gets its place.
    handle(name: string, kind: string, moved: (to: Vector) => void): { element: SVGElement; place: (at: Vector) => void } {
        let here: Vector = [0, 0];
        const element = svg('circle', { r: 10, class: `handle ${kind}`, tabindex: 0, role: 'slider', 'aria-label': name,
                                        'aria-valuemin': -this.reach, 'aria-valuemax': this.reach, 'aria-valuenow': 0 });
        const clamp = (value: number) => Math.max(-this.reach, Math.min(this.reach, Math.round(value * 20) / 20));
        const place = (at: Vector) => {
            here = at;
            element.setAttribute('cx', String(this.x(at[0])));
            element.setAttribute('cy', String(this.y(at[1])));
            element.setAttribute('aria-valuenow', String(at[0]));
            element.setAttribute('aria-valuetext', `${at[0].toFixed(2)} to the right, ${at[1].toFixed(2)} up`);
        };
        element.addEventListener('pointerdown', (event) => {
            element.setPointerCapture((event as PointerEvent).pointerId);
            event.preventDefault();
            (element as unknown as HTMLElement).focus();
        });
        element.addEventListener('pointermove', (event) => {
            const pointer = event as PointerEvent;
            if (!element.hasPointerCapture(pointer.pointerId)) return;
            const box = this.element.getBoundingClientRect();
            moved([clamp(this.reach * (2 * (pointer.clientX - box.left) / box.width - 1)), clamp(this.reach * (1 - 2 * (pointer.clientY - box.top) / box.height))]);
        });
        element.addEventListener('keydown', (event) => {
            const steps: Record<string, Vector> = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
            const step = steps[(event as KeyboardEvent).key];
            if (!step) return;
            event.preventDefault();
            moved([clamp(here[0] + step[0]), clamp(here[1] + step[1])]);
        });
        return { element, place };
    }
}
